#include "dedup_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

#include "dedup_window.hpp"
#include "sizes.hpp"

namespace weir::cli {
namespace {

constexpr double patience =
    10;  // seconds of own work, far more than all but the slowest models take

double worked() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The number of keys whose stream has that share of first ones.
double universe_of(std::uint64_t records, double distinct, double low, double high) {
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (distinct_share({.records = records, .universe = middle}) < distinct ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

// Of the repeats, the share let through, if keys came uniformly at random: the number of
// different keys is the one under which the filter would have called as many records repeats as it
// did. Nothing where no such number exists, as on a stream without repeats, or where it is not
// found in time: some filters need long to predict. The search begins at the number that would be
// right if the filter had not erred.
std::optional<double> expected_fnr(const Structure& structure) {
  const auto* const filter = dynamic_cast<const Filter*>(&structure);
  const Health health = structure.health();
  if (filter == nullptr || health.records == 0) return std::nullopt;
  if (!structure.info().forgets) return 0.0;
  if (health.seen == 0 || health.records < 2 * structure.shards()) return std::nullopt;
  const double until = worked() + patience;
  const double wanted = static_cast<double>(health.seen) / static_cast<double>(health.records);
  Prediction predicted;
  const auto excess = [&](double universe) {  // falls as the keys become more
    predicted = filter->predict({.records = health.records, .universe = universe});
    const double distinct = distinct_share({.records = health.records, .universe = universe});
    return distinct * predicted.fpr + (1 - distinct) * (1 - predicted.fnr) - wanted;
  };
  const double least = structure.shards(), most = 1e4 * static_cast<double>(health.records);
  if (least >= most) return std::nullopt;
  const double near = std::min(1e-4, 0.01 * wanted);
  double at = universe_of(health.records, 1 - wanted, least, most), here = excess(at);
  double other = at, there = here;
  for (double factor = 1.2; (there > 0) == (here > 0) && std::fabs(there) > near;
       factor *= factor) {
    if (worked() > until || other == (here > 0 ? most : least)) return std::nullopt;
    at = other, here = there;
    other = std::clamp(here > 0 ? at * factor : at / factor, least, most);
    there = excess(other);
  }
  if (std::fabs(there) <= near) return predicted.fnr;
  // The chord's zero, in the logarithm; an end that stays counts half the next time.
  for (double found = there; std::fabs(found) > near && std::fabs(std::log(at / other)) > 1e-3;) {
    if (worked() > until) return std::nullopt;
    const double middle = at * std::pow(other / at, here / (here - there));
    found = excess(middle);
    if ((found > 0) == (there > 0)) {
      here /= 2;
    } else {
      at = other, here = there;
    }
    other = middle, there = found;
  }
  return predicted.fnr;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ')
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string show_rate(double bytes, double seconds) {
  return show_bytes(static_cast<std::uint64_t>(bytes / std::max(seconds, 1e-9))) + "/s";
}

}  // namespace

void print_stats(const Structure& structure, const DedupStats& stats, bool json) {
  const Health health = structure.health();
  const double seconds = std::max(stats.seconds, 1e-9);
  const double records = static_cast<double>(stats.records);
  const auto fnr = stats.window ? std::nullopt : expected_fnr(structure);
  if (json) {
    fmt::print(stderr,
               "{{\"structure\":{},\"parameters\":{},\"shards\":{},\"memory\":{},\"records\":{},"
               "\"bytes\":{},\"first\":{},\"repeats\":{},\"bad\":{},\"output_bytes\":{},"
               "\"seconds\":{:.6f},\"records_per_second\":{:.0f},\"bytes_per_second\":{:.0f},"
               "\"fill\":{:.6g},\"live_fpr\":{:.6g},\"expected_fnr\":{},\"saves\":{}{}}}\n",
               json_string(structure.info().name), json_string(structure.parameters()),
               structure.shards(), structure.memory(), stats.records, stats.bytes, stats.first,
               stats.repeats, stats.bad, stats.output_bytes, stats.seconds, records / seconds,
               static_cast<double>(stats.bytes) / seconds, health.fill, health.fpr,
               fnr ? fmt::format("{:.6g}", *fnr) : "null", stats.saves,
               stats.window ? fmt::format(",\"window\":{},\"late\":{},\"doubted\":{}",
                                          json_string(show_window(*stats.window)),
                                          stats.window->late, stats.window->doubted)
                            : "");
    return;
  }
  fmt::print(stderr,
             "structure    {}:{}\n"
             "memory       {}\n"
             "records      {} ({})\n"
             "first        {}\n"
             "repeats      {}\n"
             "bad          {}{}{}\n"
             "fill         {}\n"
             "live FPR     {} of new records are taken for repeats now\n",
             structure.info().name, structure.parameters(), show_bytes(structure.memory()),
             show_count(stats.records), show_bytes(stats.bytes), show_count(stats.first),
             show_count(stats.repeats), show_count(stats.bad), stats.bad > 0 ? ", first: " : "",
             stats.first_bad, show_percent(health.fill), show_percent(health.fpr));
  if (fnr)
    fmt::print(stderr, "expected FNR {} of repeats are let through, if keys come at random\n",
               show_percent(*fnr));
  if (stats.window) {
    fmt::print(stderr, "window       {}; {}\n", show_window(*stats.window),
               show_reach(*stats.window, structure));
    if (stats.window->clock == Window::Clock::Event)
      fmt::print(stderr, "late         {} behind the clock, {} too far from it to be believed\n",
                 show_count(stats.window->late), show_count(stats.window->doubted));
  }
  if (stats.saves > 0) fmt::print(stderr, "saved        {} times\n", show_count(stats.saves));
  fmt::print(stderr, "time         {:.2f} s, {:.1f} million records/s, {}\n", stats.seconds,
             records / seconds / 1e6, show_rate(static_cast<double>(stats.bytes), seconds));
}

void ProgressLine::show(const DedupStats& stats) {
  const double seconds = std::max(stats.seconds, 1e-9);
  std::string line =
      fmt::format("{} records, {} repeats, {}", show_count(stats.records),
                  show_count(stats.repeats), show_rate(static_cast<double>(stats.bytes), seconds));
  if (stats.input_total > 0) {
    const double share = std::min(
        1.0, static_cast<double>(stats.input_taken) / static_cast<double>(stats.input_total));
    line = fmt::format("{:3.0f} %  {}", share * 100, line);
    if (share > 0.001) {
      const auto left = static_cast<std::uint64_t>(seconds * (1 - share) / share);
      line += fmt::format(", {}:{:02}:{:02} left", left / 3600, left / 60 % 60, left % 60);
    }
  }
  fmt::print(stderr, "\r{:.79}\x1b[K", line);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
}

}  // namespace weir::cli

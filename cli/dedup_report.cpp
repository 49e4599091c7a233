#include "dedup_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

#include "dedup_window.hpp"
#include "plan/expected_fnr.hpp"
#include "sizes.hpp"

namespace weir::cli {
namespace {

constexpr double patience =
    10;  // seconds of own work, far more than all but the slowest models take

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
  const auto fnr = stats.window ? std::nullopt : expected_fnr(structure, patience);
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

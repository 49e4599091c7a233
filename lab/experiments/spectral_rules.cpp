// The spectral Bloom filter's three rules against exact counts, on a Zipf stream: how many keys get
// a wrong count, and by how much. The slides' theorem: under minimum selection an estimate is wrong
// as often as a Bloom filter of that size calls a new key Seen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/bits.hpp"
#include "experiment.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

constexpr double full_keys = 20'000, records_a_key = 20;
constexpr int k = 5;
constexpr double loads[] = {0.2, 0.35, 0.5, 0.7, 1.0, 1.4};  // k n / m

struct Rule {
  const char *name, *rule;
  double counters;  // of those that minimum selection has
};
// Recurring minimum has a second filter of m/2; the last row gives both together the m of the
// others.
constexpr Rule rules[] = {
    {"minimum selection", "minimum-selection", 1},
    {"minimal increase", "minimal-increase", 1},
    {"recurring minimum", "recurring-minimum", 1},
    {"recurring minimum, same bytes", "recurring-minimum", 2.0 / 3},
};

std::string row_of(double load) { return fmt::format("kn/m = {}", load); }

// How often each of the keys comes, and in which order, by Zipf's law with exponent 1.
struct ZipfCounts {
  std::vector<Digest> stream;
  std::vector<Digest> keys;
  std::vector<std::uint64_t> counts;

  ZipfCounts(std::size_t universe, std::uint64_t seed) : keys(universe), counts(universe) {
    std::vector<double> up_to(universe);
    double sum = 0;
    for (std::size_t i = 0; i < universe; ++i) {
      up_to[i] = sum += 1 / static_cast<double>(i + 1);
      keys[i] = mix(i, mix(seed, 12));
    }
    Draws draws(mix(seed, 13));
    stream.resize(static_cast<std::size_t>(records_a_key * static_cast<double>(universe)));
    for (Digest& record : stream) {
      const auto at = std::upper_bound(up_to.begin(), up_to.end(), draws.unit() * sum);
      const auto i = std::min(static_cast<std::size_t>(at - up_to.begin()), universe - 1);
      ++counts[i];
      record = keys[i];
    }
  }
};

std::vector<Measurement> run(double load, double scale, std::uint64_t seed) {
  const auto universe = static_cast<std::size_t>(full_keys * scale);
  const ZipfCounts zipf(universe, seed);
  double distinct = 0;
  for (const std::uint64_t count : zipf.counts) distinct += count > 0 ? 1 : 0;
  const double m = std::round(k * static_cast<double>(universe) / load);
  std::vector<Measurement> all;
  for (const Rule& rule : rules) {
    const auto counters = static_cast<std::uint64_t>(m * rule.counters);
    const SketchPtr sketch = make_sketch(
        fmt::format("spectral:rule={},m={},k={}", rule.rule, counters, k), {.seed = seed});
    sketch->add(zipf.stream, {});
    double wrong = 0, low = 0, relative = 0;
    for (std::size_t i = 0; i < universe; ++i) {
      if (zipf.counts[i] == 0) continue;
      const auto truth = static_cast<double>(zipf.counts[i]);
      const auto estimate = static_cast<double>(sketch->estimate(zipf.keys[i]));
      wrong += estimate != truth ? 1 : 0;
      low += estimate < truth ? 1 : 0;
      relative += std::abs(estimate - truth) / truth;
    }
    const auto keep = [&](const char* what, double value) {
      all.push_back(
          {row_of(load), rule.name, sketch->parameters(), seed, 0, what, value / distinct});
    };
    keep("wrong", wrong), keep("too small", low), keep("relative error", relative);
  }
  // The other keys of the stream, each with k counters.
  all.push_back({row_of(load), "predicted", "", seed, 0, "wrong",
                 std::pow(-std::expm1(k * (distinct - 1) * std::log1p(-1 / m)), k)});
  return all;
}

std::vector<Part> parts(const Setting& setting) {
  if (setting.scale < 0.05)
    throw Error(ErrorCode::Config,
                fmt::format("--scale {} is too small to mean anything: a thousand keys must be "
                            "counted; the least is 0.05",
                            setting.scale));
  std::vector<Part> parts;
  for (const double load : loads)
    for (unsigned seed = 1; seed <= setting.repeat; ++seed)
      parts.push_back({fmt::format("{} {}", row_of(load), seed), 0.15 * setting.scale, 16 << 20,
                       [load, seed, scale = setting.scale] { return run(load, scale, seed); }});
  return parts;
}

Chart chart_of(const Results& results, const std::string& name, const std::string& what,
               const std::string& label) {
  Chart chart{name, label + " by load, Zipf stream", "load, k n / m", label + " (%)", {}};
  chart.log_y = true;
  const auto add = [&](const std::string& series, Line::Style style) {
    Line line{series, {}, style};
    for (const double load : loads) {
      const Mean mean = results.mean(row_of(load), series, what);
      if (mean.value > 0) line.points.push_back({load, 100 * mean.value, 100 * mean.error});
    }
    chart.lines.push_back(line);
  };
  for (const Rule& rule : rules) add(rule.name, Line::Style::Line);
  if (what == "wrong") add("predicted", Line::Style::Dashed);
  return chart;
}

Section present(const Setting& setting, const Results& results) {
  Section section{"The slides: counts by a spectral Bloom filter, three rules", {}, {}, {}};
  section.text = {
      fmt::format("{:.0f} records by Zipf's law with exponent 1 over {:.0f} keys, k = 5; the share "
                  "of the keys whose count is wrong at the end, and by how much.",
                  full_keys * records_a_key * setting.scale, full_keys * setting.scale),
      "Minimum selection is wrong as often as a Bloom filter of that size (the slides' theorem). "
      "Minimal increase is wrong a third as often at usual loads and never too small, but takes "
      "nothing back. Recurring minimum gains too, yet its second filter costs half as much again: "
      "with the same bytes for both, minimum selection is better. It is the only rule that can be "
      "too small."};
  Table table{
      "spectral",
      {"load", "rule", "wrong keys %", "predicted %", "too small %", "mean relative error %"},
      {}};
  for (const double load : loads)
    for (const Rule& rule : rules) {
      const auto shown = [&](const char* what) {
        const Mean mean = results.mean(row_of(load), rule.name, what);
        return number(100 * mean.value) +
               (mean.seeds > 1 ? " ± " + number(100 * mean.error, 1) : "");
      };
      table.add({row_of(load), rule.name, shown("wrong"),
                 &rule == &rules[0]
                     ? number(100 * results.mean(row_of(load), "predicted", "wrong").value)
                     : "-",
                 shown("too small"), shown("relative error")});
    }
  section.tables = {table};
  section.charts = {chart_of(results, "spectral-wrong", "wrong", "wrong keys"),
                    chart_of(results, "spectral-error", "relative error", "mean relative error")};
  return section;
}

}  // namespace

std::vector<Experiment> spectral_rules() {
  return {{"spectral", "errors of the spectral Bloom filter's three rules on a Zipf stream", parts,
           present}};
}

}  // namespace weir::lab

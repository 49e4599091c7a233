// Figure 18 of the IBF paper: the share of cells that are zero along the stream, beside the Markov
// chain of one cell. On the stream for which the paper derives the chain: all keys and all
// importances equally likely.
#include <algorithm>
#include <cmath>

#include "follow.hpp"
#include "ibf_runs.hpp"
#include "weir/catalog.hpp"

namespace weir::lab {
namespace {

constexpr int moments = 20;
constexpr const char* row = "zeros";
constexpr double repeats = 0.3;

double moment(const Setting& setting, int i) {
  return std::round(ibf_records * setting.scale * i / moments / 1000) * 1000;
}
std::uint64_t universe(const Setting& setting) {
  return universe_for(Favour::None, repeats, static_cast<std::uint64_t>(moment(setting, moments)));
}

std::vector<Measurement> run(const IbfFilter& which, const Setting& setting, std::uint64_t seed) {
  std::vector<Measurement> all;
  const FilterPtr filter = make_filter(which.spec, {.seed = seed});
  const auto stream = importance_stream(Favour::None, universe(setting), seed);
  const auto oracle = numbered_oracle(stream->universe());
  const auto records = static_cast<std::uint64_t>(moment(setting, moments));
  int next = 1;
  follow(*filter, *stream, *oracle, records, seed, [&](const Batch& batch) {
    const auto now = static_cast<double>(batch.at + batch.keys.size());
    if (now < moment(setting, next)) return;
    all.push_back(
        {row, which.name, filter->parameters(), seed, now, "zeros", 1 - filter->health().fill});
    ++next;
  });
  return all;
}

std::vector<Measurement> chain(const IbfFilter& which, const Setting& setting) {
  std::vector<Measurement> all;
  const FilterPtr filter = make_filter(which.spec, {.seed = 1});
  StreamModel model{.universe = static_cast<double>(universe(setting))};
  model.importance.assign(most_important, 1.0 / most_important);
  const auto keep = [&](double x, const char* what) {
    all.push_back(
        {row, which.name, filter->parameters(), 0, x, what, 1 - filter->predict(model).fill});
  };
  for (int i = 1; i <= moments; ++i) {
    model.records = static_cast<std::uint64_t>(moment(setting, i));
    keep(moment(setting, i), "by the chain");
  }
  model.records = 100 * static_cast<std::uint64_t>(moment(setting, moments));
  model.universe = 1e12;  // no cell has more traffic than another: the paper's chain
  keep(0, "for ever");
  return all;
}

// Zero cells of IBF-2C by the formulas as they stand in the proof of Theorem III.1, with
// probabilities p' of losing 1 and k of being set. A + B is 1, so that no cell would ever stand at
// M/2; with 1 - A + B, and powers for the states below, the equations of the proof hold.
double theorem_of_2c(double p, double k, bool as_printed) {
  constexpr int top = 7, half = 3;
  const double fall = p / (p + k / 2), fall_below = p / (p + k);
  double above = 0;  // A
  for (int i = half + 1; i <= top; ++i) above += std::pow(fall, top - i) * (k / 2) / (p + k / 2);
  const double b = std::pow(fall, top - half);
  const double at_half = (k / 2) / (p + k) * (1 - above + (as_printed ? -b : b));
  double below = 0;
  for (int i = 1; i < half; ++i)
    below += at_half * (as_printed ? fall_below : std::pow(fall_below, half - i));
  return 1 - above - at_half - below;
}

std::vector<Part> parts(const Setting& setting) {
  ibf_parts({}, setting);  // refuses a scale that is too small
  std::vector<Part> parts;
  for (const IbfFilter& filter : ibf_filters({}, setting.scale)) {
    if (filter.name == sbf_like_mc) continue;
    for (unsigned seed = 1; seed <= setting.repeat; ++seed)
      parts.push_back({filter.name + " " + std::to_string(seed),
                       (filter.name == "IBF-H" ? 0.2 : 0.03) * setting.scale, 8 << 20,
                       [=] { return run(filter, setting, seed); }});
    parts.push_back({filter.name + " chain", 1, 8 << 20, [=] { return chain(filter, setting); }});
  }
  return parts;
}

Section present(const Setting& setting, const Results& results) {
  Section section{"IBF paper, Fig. 18: cells that are zero, along the stream", {}, {}, {}};
  Chart chart{"ibf-fig-18",
              "Share of zero cells, run (lines) and chain (dashed)",
              "records",
              "cells that are zero (%)",
              {}};
  Table table{"ibf-fig-18",
              {"filter", "zero at the end %", "by the chain %", "apart, % of it",
               "largest gap on the way, points", "chain for ever %"},
              {}};
  const double end = moment(setting, moments);
  for (const std::string& filter : results.series(row)) {
    Line ran{filter, {}}, predicted{filter + ", chain", {}, Line::Style::Dashed};
    double gap = 0;
    for (const double x : results.xs(row, filter, "zeros")) {
      const Mean mean = results.mean(row, filter, "zeros", x);
      const double by_chain = results.mean(row, filter, "by the chain", x).value;
      ran.points.push_back({x, 100 * mean.value, 100 * mean.error});
      predicted.points.push_back({x, 100 * by_chain});
      gap = std::max(gap, std::abs(mean.value - by_chain));
    }
    chart.lines.push_back(ran), chart.lines.push_back(predicted);
    const Mean last = results.mean(row, filter, "zeros", end);
    const double by_chain = results.mean(row, filter, "by the chain", end).value;
    table.add({filter, percent_with_error(last, 3), percent(by_chain, 3),
               by_chain > 1e-4 ? number(100 * (last.value / by_chain - 1), 2) : "-",
               percent(gap, 2), percent(results.mean(row, filter, "for ever").value, 3)});
  }
  const double p = 10 / ibf_cells * (1 - 5 / ibf_cells), k = 5 / ibf_cells;
  section.text = {
      whole(end) +
          " records of equally likely keys with equally many of each importance, 30 % repeats, one "
          "run a seed. The chain is solved for this very stream, from its first record on. BF runs "
          "full, the others settle, as the paper found.",
      "`For ever` is the paper's own chain: a stream without end in which no key comes again soon. "
      "A stream with repeats leaves some more cells at zero, since a repeat sets cells that are "
      "set already. The formulas in the proof for IBF-2C do not give it: as printed, with half of "
      "the records important, " +
          percent(theorem_of_2c(p, k, true), 2) +
          " % of the cells would be zero, and none ever at M/2, for A + B is 1. With 1 - A + B, "
          "and powers of p'/(p' + k) for the states below M/2, the same equations give " +
          percent(theorem_of_2c(p, k, false), 2) +
          " %. Here 58 % of the importances are important, those from 22 on, so the table's figure "
          "is lower."};
  section.tables = {table};
  section.charts = {chart};
  return section;
}

}  // namespace

Experiment ibf_zero_cells() {
  return {"ibf-fig-18", "zero cells along the stream, beside the Markov chain of one cell", parts,
          present};
}

}  // namespace weir::lab

// Table II of the IBF paper: FP, FN, wFP and wFN of five filters. The paper's video requests are
// not to be had any more; a trace takes their place where one is given, and the three synthetic
// streams are run in any case.
#include <fmt/format.h>

#include <cmath>

#include "ibf_runs.hpp"
#include "weir/catalog.hpp"

namespace weir::lab {
namespace {

// As printed, in percent.
struct Printed {
  const char* filter;
  double fp[2], fn[2], wfp[2], wfn[2];  // dataset 1: importance by length; 2: by percentile
};
const Printed printed[] = {
    {"BF", {34.81, 34.81}, {0, 0}, {35.29, 34.17}, {0, 0}},
    {"SBF", {25.83, 26}, {0.84, 0.9}, {26.23, 25.55}, {0.87, 0.81}},
    {"IBF-2C", {16.14, 10.16}, {2.49, 3.97}, {16.34, 9.95}, {1.99, 2.91}},
    {"IBF-MC", {5.19, 0.84}, {8.91, 14.01}, {5.23, 0.87}, {4.76, 7.52}},
    {"IBF-H", {9.08, 0.12}, {13.25, 16.07}, {9.39, 0.07}, {10.43, 10.34}},
};

std::vector<IbfStream> streams(const Setting& setting) {
  std::vector<IbfStream> all = trace_streams(setting, Ranking::Proportion);
  const auto append = [&](const std::vector<IbfStream>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  append(trace_streams(setting, Ranking::Percentile));
  append(synthetic_streams(Favour::None));
  append(synthetic_streams(Favour::Important));
  append(synthetic_streams(Favour::Unimportant));
  return all;
}

Table measured(const Results& results) {
  Table table{
      "ibf-table-2", {"stream", "filter", "FP %", "FN %", "wFP %", "wFN %", "FPR %", "FNR %"}, {}};
  for (const std::string& row : results.rows())
    for (const std::string& filter : results.series(row)) {
      std::vector<std::string> cells = {row, filter};
      for (const char* what : {"FP", "FN", "wFP", "wFN", "FPR", "FNR"})
        cells.push_back(percent_with_error(results.mean(row, filter, what)));
      table.add(cells);
    }
  return table;
}

Table claims(const Results& results) {
  Claims claims;
  for (const std::string& row : results.rows()) {
    const auto mean = [&](const char* filter, const char* what) {
      return results.mean(row, filter, what);
    };
    const auto along = [&](const char* what) {
      return std::vector<Mean>{mean("BF", what), mean("SBF", what), mean("IBF-2C", what),
                               mean("IBF-MC", what)};
    };
    claims.falls("FP falls: BF, SBF, 2C, MC", row, along("FP"));
    claims.falls("FP falls: BF with all 16 KB, SBF", row,
                 {mean("BF 16 KB", "FP"), mean("SBF", "FP")});
    claims.rises("FN rises: BF, SBF, 2C, MC", row, along("FN"));
    for (const char* filter : {"IBF-2C", "IBF-MC"})
      claims.falls(std::string("wFN is below FN: ") + filter, row,
                   {mean(filter, "FN"), mean(filter, "wFN")});
    Mean quarter = mean("SBF", "wFP");
    quarter.value /= 4, quarter.error /= 4;
    claims.falls("wFP of MC is below a quarter of SBF's", row, {quarter, mean("IBF-MC", "wFP")});
    claims.rises("FN of H is above MC's", row, {mean("IBF-MC", "FN"), mean("IBF-H", "FN")});
    claims.falls("ours: wFN of MC is below that of an SBF of equal FP", row,
                 {mean(sbf_like_mc, "wFN"), mean("IBF-MC", "wFN")});
  }
  return claims.table("ibf-table-2-claims");
}

Table as_printed() {
  Table table{"ibf-table-2-printed",
              {"filter", "1: FP", "FN", "wFP", "wFN", "2: FP", "FN", "wFP", "wFN",
               "1: FP in % of BF's", "2: FP in % of BF's", "FPR by the chain %"},
              {}};
  // Equal classes, keys that hardly come again, a long stream: the paper's own chain.
  StreamModel model{.records = 1'000'000, .universe = 1e9};
  model.importance.assign(most_important, 1.0 / most_important);
  const std::vector<IbfFilter> filters = ibf_filters({}, 1);
  for (const Printed& p : printed) {
    std::vector<std::string> cells = {p.filter};
    for (const int set : {0, 1})
      for (const double value : {p.fp[set], p.fn[set], p.wfp[set], p.wfn[set]})
        cells.push_back(number(value));
    for (const int set : {0, 1}) cells.push_back(percent(p.fp[set] / printed[0].fp[set], 1));
    for (const IbfFilter& filter : filters)
      if (filter.name == p.filter) {
        const double fill = make_filter(filter.spec, {.seed = 1})->predict(model).fill;
        cells.push_back(percent(std::pow(fill, 5), 1));
      }
    table.add(cells);
  }
  return table;
}

Section present(const Setting& setting, const Results& results) {
  Section section{"IBF paper, Table II: errors by number and by weight", {}, {}, {}};
  const bool traced = !trace_streams(setting, Ranking::Proportion).empty();
  const std::string stand_in =
      traced ? "the trace takes their place, with the paper's sizes and its keys in the order as "
               "they came; every seed hashes them anew. "
             : "only the synthetic streams were run; --trace FILE (key, tab, weight) adds a real "
               "one. ";
  section.text = {
      fmt::format(
          "BF, SBF and the importance-aware filters in {} cells, K = 5, P = 10, M = 7; BF in as "
          "many bits, and once more in three times as many, the same memory; and, to compare at "
          "equal FP, SBF with P raised until it has as many FP as MC. FP and FN are shares of all "
          "records, wFP and wFN the same with every record counting as much as its importance, as "
          "the paper has it; FPR and FNR are shares of the first occurrences and of the repeats. "
          "The paper's video requests are not public any more: {}How long the synthetic streams "
          "were the paper does not say; here they have {} records.",
          whole(ibf_cells * setting.scale), stand_in, whole(ibf_records * setting.scale)),
      "Where BF has as many bits as the others have cells, the order is the paper's everywhere. "
      "With the same memory it is three times as large, and the order between it and SBF is a "
      "matter of the stream's length: BF fills up, SBF does not. Where important keys are likelier "
      "wFN is not below FN: more of the important records are repeats then, so more of them can be "
      "missed; of the repeats alone fewer are, as ibf-fig-17 shows. At equal FP MC weighs its "
      "misses better than SBF, though it may have more of them; only where nearly all repeats are "
      "of unimportant keys does it lose on these what it gains on the others. H takes P from the "
      "filter with every record, and only from cells that hold something: where records set little "
      "it is empty, has no FP, and forgets all.",
      "What the printed figures tell by themselves: divided by BF's FP, which on a long stream is "
      "the share of first occurrences, SBF's give just the steady FPR of the chain (last column, "
      "for equally many records of each importance). Those of the importance-aware filters do not, "
      "and dataset 2 with its equal classes lies further off than dataset 1. A skewed importance "
      "means fewer FP and more FN than equal classes do, as a trace shows; printed it is the other "
      "way round, as if the two datasets stood in each other's column."};
  section.tables = {measured(results)};
  if (setting.filters.empty()) {  // of others the paper says nothing
    section.tables.push_back(claims(results));
    section.tables.push_back(as_printed());
  }
  return section;
}

}  // namespace

std::vector<Experiment> ibf_tables() {
  return {{"ibf-table-2", "BF, SBF and IBF: errors by number and by weight",
           [](const Setting& setting) { return ibf_parts(streams(setting), setting); }, present}};
}

}  // namespace weir::lab

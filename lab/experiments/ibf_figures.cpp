// Figures 3 to 17 of the IBF paper: five streams, and of each how its records spread over the
// importances, the false positives by importance and the false negatives by importance.
#include <fmt/format.h>

#include "ibf_runs.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

enum class Data { TraceByWeight, TraceByPercentile, Equal, Inverse, Direct };
enum class Measure { Spread, FalsePositives, FalseNegatives };

struct Figure {
  int number;
  Data data;
  Measure measure;
  [[nodiscard]] std::string name() const { return "ibf-fig-" + std::to_string(number); }
};
// The data in the order of the paper's figures, three figures each.
std::vector<Figure> figures() {
  std::vector<Figure> all;
  int number = 3;
  for (const Data data :
       {Data::TraceByWeight, Data::TraceByPercentile, Data::Equal, Data::Inverse, Data::Direct})
    for (const Measure measure :
         {Measure::Spread, Measure::FalsePositives, Measure::FalseNegatives})
      all.push_back({number++, data, measure});
  return all;
}

bool of_trace(Data data) { return data == Data::TraceByWeight || data == Data::TraceByPercentile; }

std::string described(Data data) {
  switch (data) {
    case Data::TraceByWeight:
      return "a trace, importance by weight";
    case Data::TraceByPercentile:
      return "a trace, importance by percentile";
    case Data::Equal:
      return "all keys equally likely";
    case Data::Inverse:
      return "important keys less likely";
    default:
      return "important keys likelier";
  }
}
std::string described(Measure measure) {
  return measure == Measure::Spread           ? "records by importance"
         : measure == Measure::FalsePositives ? "false positives by importance"
                                              : "false negatives by importance";
}

std::vector<IbfStream> streams(const Figure& figure, const Setting& setting) {
  if (!of_trace(figure.data))
    return synthetic_streams(figure.data == Data::Equal     ? Favour::None
                             : figure.data == Data::Inverse ? Favour::Unimportant
                                                            : Favour::Important);
  const auto traces = trace_streams(
      setting, figure.data == Data::TraceByWeight ? Ranking::Proportion : Ranking::Percentile);
  if (traces.empty())
    throw Error(ErrorCode::Config, figure.name() +
                                       " needs a stream of keys and weights, separated by a tab: "
                                       "give a file with --trace");
  return traces;
}

std::vector<Part> parts(const Figure& figure, const Setting& setting) {
  return ibf_parts(streams(figure, setting), setting,
                   figure.measure == Measure::Spread ? IbfSeries::StreamOnly : IbfSeries::Filters);
}

std::vector<Chart> charts(const Figure& figure, const Results& results) {
  const bool spread = figure.measure == Measure::Spread;
  const char* what = spread ? "records" : figure.measure == Measure::FalsePositives ? "fp" : "fn";
  const char* label = spread ? "share of the records (%)"
                      : figure.measure == Measure::FalsePositives
                          ? "false positives (% of records)"
                          : "false negatives (% of records)";
  std::vector<Chart> charts;
  for (const std::string& row : results.rows()) {
    Chart chart{
        fmt::format("{}-{}", figure.name(), charts.size() + 1), row, "importance", label, {}};
    for (const std::string& filter : results.series(row)) {
      Line line{filter, {}, spread ? Line::Style::Steps : Line::Style::Line};
      for (const double x : results.xs(row, filter, what)) {
        const Mean mean = results.mean(row, filter, what, x);
        line.points.push_back({x, 100 * mean.value, 100 * mean.error});
      }
      chart.lines.push_back(line);
    }
    charts.push_back(chart);
  }
  return charts;
}

// One row a stream, filter and measure; a column for each fifth of the scale of importance.
Table by_fifths(const Figure& figure, const Results& results) {
  std::vector<std::string> measures = {"records", "first", "repeats"};
  if (figure.measure == Measure::FalsePositives) measures = {"FP", "FPR"};
  if (figure.measure == Measure::FalseNegatives) measures = {"FN", "FNR"};
  Table table{figure.name(),
              {"stream", "filter", "% in importance", "1-10", "11-20", "21-30", "31-40", "41-50"},
              {}};
  if (figure.measure == Measure::Spread) table.columns.erase(table.columns.begin() + 1);
  for (const std::string& row : results.rows())
    for (const std::string& filter : results.series(row))
      for (const std::string& measure : measures) {
        std::vector<std::string> cells = {row, measure};
        if (figure.measure != Measure::Spread) cells.insert(cells.begin() + 1, filter);
        for (int fifth = 1; fifth <= 5; ++fifth)
          cells.push_back(
              percent_with_error(results.mean(row, filter, measure + " in fifth", fifth)));
        table.add(cells);
      }
  return table;
}

void claim_false_positives(Claims& claims, const Figure& figure, const Results& results,
                           const std::string& row) {
  for (const char* filter : {"IBF-2C", "IBF-MC"}) {
    int lower = 0, all = 0;
    for (const double x : results.xs(row, "SBF", "fp")) {
      ++all;
      lower += results.mean(row, filter, "fp", x).value < results.mean(row, "SBF", "fp", x).value;
    }
    claims.add(std::string(filter) + " has fewer FP than SBF at nearly all importances", row,
               10 * lower >= 9 * all ? "yes" : "no", fmt::format("at {} of {}", lower, all));
  }
  if (figure.data != Data::Inverse) return;
  const auto fifths = [&](const char* what) {
    return std::vector<Mean>{results.mean(row, "SBF", what, 1), results.mean(row, "SBF", what, 5)};
  };
  claims.rises("FP of SBF rises with importance", row, fifths("FP in fifth"));
  claims.rises("ours: so does its FPR, less so", row, fifths("FPR in fifth"));
}

void claim_false_negatives(Claims& claims, const Results& results, const std::string& row) {
  const auto mean = [&](const char* filter, const char* what, int fifth) {
    return results.mean(row, filter, what, fifth);
  };
  claims.falls("FN rate of 2C falls as importance rises", row,
               {mean("IBF-2C", "FNR in fifth", 1), mean("IBF-2C", "FNR in fifth", 5)});
  claims.falls("FN rate of MC falls as importance rises", row,
               {mean("IBF-MC", "FNR in fifth", 1), mean("IBF-MC", "FNR in fifth", 3),
                mean("IBF-MC", "FNR in fifth", 5)});
  for (const char* filter : {"IBF-2C", "IBF-MC"})
    claims.falls(std::string(filter) + " has fewer FN than SBF at importance 41-50", row,
                 {mean("SBF", "FN in fifth", 5), mean(filter, "FN in fifth", 5)});
  claims.falls("ours: MC has fewer FN there than an SBF of equal FP", row,
               {mean(sbf_like_mc, "FN in fifth", 5), mean("IBF-MC", "FN in fifth", 5)});
  claims.rises("ours: and more at importance 1-10", row,
               {mean(sbf_like_mc, "FN in fifth", 1), mean("IBF-MC", "FN in fifth", 1)});
}

// What ran, in the setting at hand.
std::string stream_text(const Figure& figure, const Setting& setting) {
  if (!of_trace(figure.data))
    return fmt::format(
        "{} records of keys with importance 1 to 50, as many keys of each, {}; 10, 30 and 50 % of "
        "the records repeat a key. ",
        whole(ibf_records * setting.scale), described(figure.data));
  return std::string(
             "The trace stands in for the paper's video requests, which are not public any more; "
             "its weights are taken to importances from 1 to 50, ") +
         (figure.data == Data::TraceByWeight
              ? "in proportion, with all above the 90th percentile of the keys at 50. "
              : "by their percentile among the keys. ");
}
std::string filter_text(const Figure& figure, const Setting& setting) {
  const double scale = of_trace(figure.data) ? 1 : setting.scale;
  if (!setting.filters.empty())
    return fmt::format("The filters given have {} bytes.", whole(ibf_bits / 8 * scale));
  return fmt::format(
      "All filters have {} cells, K = 5, P = 10, M = 7; BF has as many bits, and once more three "
      "times as many, the same memory. `SBF like MC` is an SBF whose P is raised until it has as "
      "many false positives as MC.",
      whole(ibf_cells * scale));
}

std::vector<std::string> text(const Figure& figure, const Setting& setting) {
  const std::string stream = stream_text(figure, setting);
  if (figure.measure == Measure::Spread)
    return {stream +
            "The chart shows how many records there are of each importance; the table also the "
            "first occurrences among all first ones, and the repeats among the records of an "
            "importance."};
  const std::string run = stream + filter_text(figure, setting);
  if (figure.measure == Measure::FalsePositives)
    return {
        run,
        "FP is the share of all records of an importance that are false positives, as the paper "
        "counts them. So it follows the share of first occurrences, which is larger where keys are "
        "rarer. FPR is of the first occurrences alone. No filter's FPR depends on the importance "
        "of the key that asks; where the figures differ, the likelier keys had their first "
        "occurrence earlier, while the filter was still filling."};
  return {
      run,
      "FN is the share of all records of an importance that are false negatives, as the paper "
      "counts them; FNR is of the repeats alone. At equal P the importance-aware filters cannot "
      "have fewer false negatives than SBF, at no importance: their cells are never above SBF's. "
      "They buy fewer false positives, and let the unimportant keys pay most. So the fair rival is "
      "the SBF that has as few false positives: against it MC misses fewer of the important "
      "records and more of the unimportant ones."};
}

Section present(const Figure& figure, const Setting& setting, const Results& results) {
  Section section{fmt::format("IBF paper, Fig. {}: {}, {}", figure.number,
                              described(figure.measure), described(figure.data)),
                  text(figure, setting),
                  {by_fifths(figure, results)},
                  charts(figure, results)};
  // Of filters that the user gave the paper claims nothing.
  if (figure.measure == Measure::Spread || !setting.filters.empty()) return section;
  Claims claims;
  for (const std::string& row : results.rows()) {
    if (figure.measure == Measure::FalsePositives)
      claim_false_positives(claims, figure, results, row);
    else
      claim_false_negatives(claims, results, row);
  }
  section.tables.push_back(claims.table(figure.name() + "-claims"));
  return section;
}

}  // namespace

std::vector<Experiment> ibf_figures() {
  std::vector<Experiment> all;
  for (const Figure& figure : figures())
    all.push_back({figure.name(), described(figure.measure) + ": " + described(figure.data),
                   [figure](const Setting& setting) { return parts(figure, setting); },
                   [figure](const Setting& setting, const Results& results) {
                     return present(figure, setting, results);
                   }});
  all.push_back(ibf_zero_cells());
  return all;
}

}  // namespace weir::lab

// Figures 2 to 8 of the RSBF paper: errors and number of ones along the stream, RSBF against SBF.
//
//   2, 4, 6   FPR, FNR, change of ones on a click stream, 2 KB and 4 KB. The paper's is not public:
//             a made one stands in (rsbf_along.hpp), or files by --trace.
//   3, 5      FPR, FNR on Table 5's stream, 128 MB and 512 MB
//   7         change of ones on Table 5's stream, 512 KB. Here the scale shortens the stream only:
//             the ones come to rest after some multiple of the memory, whatever the keys.
//   8         how fast the FNR still rises, on Table 3's stream; the paper does not name its own
//
// k is 3 for a threshold FPR of 0.1, but 2 in figures 3 and 5, as in the rows of Table 5 that have
// the same memory. On the click stream both are run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiment.hpp"
#include "paper_rows.hpp"
#include "rsbf.hpp"
#include "rsbf_along.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

enum class Shows { Fpr, Fnr, Ones, Rise };
enum class From { Clicks, Billion, Shortened, TenMillion };
struct Panel {
  const char* memory;
  std::uint64_t bits;
  const char *rsbf, *sbf;  // printed, in per cent or records
};
struct Figure {
  int number;
  Shows shows;
  From from;
  std::vector<unsigned> ks;
  std::vector<Panel> panels;
  double scale, least;  // default, and the least that means something
  const char* what;
};

const Figure figures[] = {
    {2,
     Shows::Fpr,
     From::Clicks,
     {3, 2},
     {{"2 KB", 1 << 14, "0.25", "0.25"}, {"4 KB", 1 << 15, "", ""}},
     1,
     1,
     "FPR along a click stream, RSBF against SBF"},
    {3,
     Shows::Fpr,
     From::Billion,
     {2},
     {{"128 MB", 1ULL << 30, "0.8", "0.7"}, {"512 MB", 1ULL << 32, "0.06", "0.06"}},
     0.01,
     0.001,
     "FPR along a billion records, RSBF against SBF"},
    {4,
     Shows::Fnr,
     From::Clicks,
     {3, 2},
     {{"2 KB", 1 << 14, "10", "15"}, {"4 KB", 1 << 15, "12", "22"}},
     1,
     1,
     "FNR along a click stream, RSBF against SBF"},
    {5,
     Shows::Fnr,
     From::Billion,
     {2},
     {{"128 MB", 1ULL << 30, "22", "38"}, {"512 MB", 1ULL << 32, "7", "13"}},
     0.01,
     0.001,
     "FNR along a billion records, RSBF against SBF"},
    {6,
     Shows::Ones,
     From::Clicks,
     {3, 2},
     {{"2 KB", 1 << 14, "500 K", "beyond 3 M"}, {"4 KB", 1 << 15, "1.5 M", "beyond 3 M"}},
     1,
     1,
     "number of ones along a click stream: when it comes to rest"},
    {7,
     Shows::Ones,
     From::Shortened,
     {3},
     {{"512 KB", 1 << 22, "50 M", "beyond 455 M"}},
     0.1,
     0.1,
     "number of ones along a billion records: when it comes to rest"},
    {8,
     Shows::Rise,
     From::TenMillion,
     {3},
     {{"32 KB", 1 << 18, "", ""}, {"512 KB", 1 << 22, "", ""}},
     1,
     0.1,
     "how fast the FNR still rises along the stream, RSBF against SBF"},
};

const PaperRow& row_of_table(int table) {
  return *std::find_if(std::begin(paper_rows), std::end(paper_rows),
                       [table](const PaperRow& row) { return row.table == table; });
}

// The stream's sizes with the panel's bits.
Sizes sizes_of(const Figure& figure, const Panel& panel, double scale) {
  if (figure.from == From::Clicks) return {3'000'000, 3'000'000, panel.bits};
  PaperRow row = row_of_table(figure.from == From::TenMillion ? 3 : 5);
  row.bits = panel.bits;
  const Sizes sizes = scaled(row, scale), full = scaled(row, 1);
  if (figure.from == From::Shortened) return {sizes.records, full.universe, full.bits};
  return sizes;
}

std::string row_name(const Panel& panel, const std::string& trace) {
  return trace.empty() ? panel.memory
                       : std::filesystem::path(trace).filename().string() + ", " + panel.memory;
}

// k = 0: SBF.
std::string series_name(unsigned k) { return k == 0 ? "SBF" : fmt::format("RSBF, k = {}", k); }

std::vector<Measurement> run(const Figure& figure, const Panel& panel, unsigned k,
                             const std::string& trace, double scale, std::uint64_t seed) {
  Sizes sizes = sizes_of(figure, panel, scale);
  std::unique_ptr<Stream> stream;
  if (!trace.empty()) {
    Trace read = read_trace(trace);
    sizes.records = read.keys.size(), sizes.universe = read.distinct;
    stream = replay(std::move(read));
  } else if (figure.from == From::Clicks) {
    stream = clicks({}, sizes.records, seed);
  } else {
    stream = uniform(sizes.universe, seed);
  }
  return run_along({.row = row_name(panel, trace),
                    .series = series_name(k),
                    .spec = k == 0 ? sbf_spec(sizes.bits) : rsbf_spec(sizes.bits, k),
                    .bits = sizes.bits,
                    .records = sizes.records,
                    .keys = sizes.universe},
                   *stream, seed);
}

std::vector<std::string> traces_of(const Figure& figure, const Setting& setting) {
  if (figure.from != From::Clicks || setting.traces.empty()) return {""};
  return setting.traces;
}

std::vector<Part> parts(const Figure& figure, const Setting& setting) {
  if (setting.scale < figure.least)
    throw Error(ErrorCode::Config,
                fmt::format("rsbf-fig-{}: --scale {:.4g} is too small to mean anything; the least "
                            "is {:.4g}",
                            figure.number, setting.scale, figure.least));
  std::vector<unsigned> filters = figure.ks;
  filters.push_back(0);
  std::vector<Part> parts;
  for (const std::string& trace : traces_of(figure, setting))
    for (const Panel& panel : figure.panels)
      for (const unsigned k : filters)
        for (unsigned seed = 1; seed <= setting.repeat; ++seed) {
          const Sizes sizes = sizes_of(figure, panel, setting.scale);
          parts.push_back(
              {fmt::format("{} {} {}", row_name(panel, trace), series_name(k), seed),
               static_cast<double>(sizes.records) * 1.5e-7,
               sizes.universe / 8 + sizes.bits / 7 + (24 << 20),
               [=, scale = setting.scale] { return run(figure, panel, k, trace, scale, seed); }});
        }
  return parts;
}

// A chart of one measurement over the stream, a line for each filter and memory.
Chart chart_of(const Figure& figure, const Results& results, const char* what,
               const std::string& suffix, const std::string& title, const std::string& y_label,
               bool log = false) {
  const double unit = log ? 1 : 100;  // ones, or per cent
  Chart chart{
      fmt::format("rsbf-fig-{}{}", figure.number, suffix), title, "records", y_label, {}, log, log};
  for (const std::string& row : results.rows())
    for (const std::string& series : results.series(row)) {
      Line line{series + ", " + row, {}, series == "SBF" ? Line::Style::Dashed : Line::Style::Line};
      for (const double x : results.xs(row, series, what)) {
        const Mean mean = results.mean(row, series, what, x);
        if (!log || mean.value > 0)
          line.points.push_back({x, unit * mean.value, unit * mean.error});
      }
      chart.lines.push_back(line);
    }
  return chart;
}

std::string shown(const Mean& mean, int digits) {
  return percent(mean.value, digits) + " ± " + percent(mean.error, digits);
}
std::string printed_of(const Figure& figure, const std::string& row, const std::string& series) {
  for (const Panel& panel : figure.panels)
    if (row == panel.memory) return series == "SBF" ? panel.sbf : panel.rsbf;
  return "";
}

void present_fpr(const Figure& figure, const Results& results, Section& section) {
  Table table{fmt::format("rsbf-fig-{}", figure.number),
              {"memory", "filter", "printed %", "FPR % so far", "FPR % now"},
              {}};
  for (const std::string& row : results.rows())
    for (const std::string& series : results.series(row)) {
      const double end = results.xs(row, series, "fpr").back();
      table.add({row, series, printed_of(figure, row, series),
                 shown(results.mean(row, series, "fpr", end), 3),
                 shown(results.mean(row, series, "fpr now", end), 3)});
    }
  section.tables = {table};
  section.charts = {chart_of(figure, results, "fpr", "", "FPR so far", "FPR (%)"),
                    chart_of(figure, results, "fpr now", "-now",
                             "FPR of a key never met, by the ones there are", "FPR now (%)")};
  section.text.emplace_back(
      figure.from == From::Clicks
          ? "Keys that come again soon find their bits set, so few bits are set at all, and the "
            "FPR "
            "stays far below the 12 % of RSBF and the 11 % of SBF on a uniform stream. Printed is "
            "0.25 % for both in the end; here RSBF with k = 3 stays below SBF and with k = 2 "
            "above."
          : "The FPR so far looks stable because hardly any new key comes late: nearly all are met "
            "while the filter is still filling. What a new key would meet at the end is the last "
            "column, two to three times as much, and RSBF has risen further than SBF.");
}

void present_fnr(const Figure& figure, const Results& results, Section& section) {
  Table table{fmt::format("rsbf-fig-{}", figure.number),
              {"memory", "filter", "printed %", "FNR % so far", "FNR % lately", "FPR % now"},
              {}};
  for (const std::string& row : results.rows())
    for (const std::string& series : results.series(row)) {
      const double end = results.xs(row, series, "fnr").back();
      table.add({row, series, printed_of(figure, row, series),
                 shown(results.mean(row, series, "fnr", end), 2),
                 shown(results.mean(row, series, "fnr lately", end), 2),
                 shown(results.mean(row, series, "fpr now", end), 2)});
    }
  section.tables = {table};
  section.charts = {chart_of(figure, results, "fnr", "", "FNR so far", "FNR (%)")};
  if (figure.from == From::Clicks)
    section.text.emplace_back(
        "The stand-in's distances were chosen so that SBF in 2 KB misses about the printed 15 %; "
        "the rest follows. With k = 3, which a threshold FPR of 0.1 gives, RSBF misses no less "
        "than "
        "SBF; with k = 2 it misses a fifth less (printed: a third), at nearly three times the FPR "
        "of SBF (last column). The text has both miss more in 4 KB than in 2 KB (12 and 22 % "
        "against 10 and 15 %); on one and the same stream more memory misses less, so those labels "
        "may be exchanged.");
  else
    section.text.emplace_back(
        "RSBF misses about 0.6 times what SBF misses, as printed. It has k = 2 here, not the 3 "
        "that "
        "a threshold FPR of 0.1 gives, and calls more new keys seen at the end (last column), so "
        "part of the gain is a move along the curve between the two errors: `weir lab run compare` "
        "holds the FPR equal.");
}

void present_ones(const Figure& figure, const Results& results, Section& section) {
  Table table{fmt::format("rsbf-fig-{}", figure.number),
              {"memory", "filter", "printed: at rest after", "level reached after", "calm after",
               "tremor, ones"},
              {}};
  for (const std::string& row : results.rows())
    for (const std::string& series : results.series(row)) {
      const double end = results.xs(row, series, "ones").back();
      const Mean calm = results.mean(row, series, "calm"),
                 level = results.mean(row, series, "level");
      const Mean tremor = results.mean(row, series, "tremor");
      table.add({row, series, printed_of(figure, row, series),
                 fmt::format("{:.0f} ± {:.0f}", level.value, level.error),
                 calm.value > 0.98 * end ? fmt::format("not within {:.0f} M", end / 1e6)
                                         : fmt::format("{:.0f} ± {:.0f}", calm.value, calm.error),
                 fmt::format("{:.2f} ± {:.2f}", tremor.value, tremor.error)});
    }
  section.tables = {table};
  section.charts = {
      chart_of(figure, results, "change", "", "Change of ones in 1,000 records",
               "root of the mean square change (ones)", true),
      chart_of(figure, results, "ones", "-ones", "Ones in the filter", "ones (% of bits)")};
  section.text.emplace_back(
      "The ones are counted every 1,000 records, a step. *Level reached*: the first time they are "
      "within 5 % of their mean over the last half of the stream. *Calm*: from there to the end no "
      "step changed them by more than 32. *Tremor*: root of the mean square change a step over the "
      "last half.");
  section.text.emplace_back(
      "By the second measure, the paper's, RSBF comes to rest and SBF does not. But that is "
      "tremor, not drift: SBF reaches its level no later than RSBF, and then goes on setting "
      "and clearing bits by chance for ever, while RSBF resets by chance ever more seldom (with "
      "probability s/i) and otherwise exchanges one set bit for another, which leaves their number "
      "as it is. A constant number of ones is not a sign of an FNR that has settled.");
}

void present_rise(const Figure& figure, const Setting& setting, const Results& results,
                  Section& section) {
  constexpr double slope = 0.3e-6;  // a record: what the paper found for RSBF
  constexpr std::size_t window = 5;
  Table table{"rsbf-fig-8",
              {"memory", "filter", "FNR % so far", "rises by less than the slope after",
               "rise over the last window, a record"},
              {}};
  for (const std::string& row : results.rows())
    for (const std::string& series : results.series(row)) {
      const std::vector<double> xs = results.xs(row, series, "fnr");
      double steep = 0, rise = 0;
      for (std::size_t i = window; i < xs.size(); ++i) {
        rise = (results.mean(row, series, "fnr", xs[i]).value -
                results.mean(row, series, "fnr", xs[i - window]).value) /
               (xs[i] - xs[i - window]) * setting.scale;
        if (rise >= slope) steep = xs[i];
      }
      table.add({row, series, shown(results.mean(row, series, "fnr", xs.back()), 2),
                 fmt::format("{:.0f}", steep), fmt::format("{:.2g}", rise)});
    }
  section.tables = {table};
  section.charts = {chart_of(figure, results, "fnr", "", "FNR so far", "FNR (%)")};
  section.text.push_back(fmt::format(
      "The paper reads from its figure that the FNR of RSBF rises by 0.1 % over 0.35 million "
      "records, 0.3e-6 a record, and that of SBF by 1e-6; it does not say in which memory or at "
      "which place of the stream. *Rises by less than the slope*: over every {} points from there "
      "on (about {:.0f} records) the FNR so far rises by less than 0.3e-6 a record{}.",
      window, 10e6 * setting.scale / 150 * window,
      setting.scale < 1 ? ", taken to the full size" : ""));
  section.text.emplace_back(
      "Both come to that slope at nearly the same place: an average over all records so far "
      "flattens like 1/n whatever the filter does.");
}

Section present(const Figure& figure, const Setting& setting, const Results& results) {
  Section section{fmt::format("Figure {} of the RSBF paper", figure.number), {}, {}, {}};
  const Sizes sizes = sizes_of(figure, figure.panels[0], setting.scale);
  if (figure.from == From::Clicks && !setting.traces.empty())
    section.text.emplace_back("The keys of the traces, a line each.");
  else if (figure.from == From::Clicks)
    section.text.emplace_back(
        "3 million records of a made click stream, because the paper's is not public: 2 % new "
        "keys, else the key of a record a Pareto distance back, P(distance > d) = d^-0.2. Shapes "
        "can be compared, figures only roughly; --trace FILE takes a stream of your own.");
  else
    section.text.push_back(
        fmt::format("{} records, keys drawn uniformly from {}{}.", sizes.records, sizes.universe,
                    figure.from == From::Shortened
                        ? ", memory as in the paper: the scale shortens the stream only"
                        : fmt::format("; scale {:.4g}, memory taken by it too", setting.scale)));
  section.text.back() +=
      fmt::format(" Bands and ± are the standard error over {} seeds.", setting.repeat);
  switch (figure.shows) {
    case Shows::Fpr:
      present_fpr(figure, results, section);
      break;
    case Shows::Fnr:
      present_fnr(figure, results, section);
      break;
    case Shows::Ones:
      present_ones(figure, results, section);
      break;
    case Shows::Rise:
      present_rise(figure, setting, results, section);
      break;
  }
  return section;
}

}  // namespace

std::vector<Experiment> rsbf_figures() {
  std::vector<Experiment> all;
  for (const Figure& figure : figures)
    all.push_back({fmt::format("rsbf-fig-{}", figure.number), figure.what,
                   [&figure](const Setting& setting) { return parts(figure, setting); },
                   [&figure](const Setting& setting, const Results& results) {
                     return present(figure, setting, results);
                   },
                   figure.scale});
  return all;
}

}  // namespace weir::lab

// Tables 2 to 5 of the RSBF paper: what is printed, and what a run gives.
//
//   (1) keys drawn uniformly, as many as give the printed share of distinct records
//   (2) RSBF (mode `tables`) and SBF in the bits of the row, each seed another stream and hash
//   (3) where SBF has 2^32 cells, once more with draws of 31 bits: see paper_rows.hpp (e)
//   (4) a figure is met if it is within 3 % of the printed one, or within three standard errors
//       of both together. Ours is the standard error over the seeds, or that of the counts where
//       few seeds happen to agree; theirs that of one run of the paper's size.
//
// Measured: 21 of 21 explained pairs are met at the default scales (8 seeds for Tables 4 and 5).
// A thousandth is still unbiased but for SBF in 262,144 bits, of which 262 are left: an FPR of
// 11.29 % instead of 11.11 %, because two cells of a key are one now and then.
// Where it stops working: below the least scale a table is refused.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/bits.hpp"
#include "core/prefetch.hpp"
#include "experiment.hpp"
#include "paper_rows.hpp"
#include "rsbf.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

constexpr const char *rsbf_name = "RSBF", *sbf_name = "SBF", *short_name = "SBF, 31-bit draws";

std::string row_name(const PaperRow& row) { return std::to_string(row.bits); }

// SBF (Max = 1, K = 2, P = 4) whose decrements reach only the first `reach` cells.
Measured run_short_draws(const Sizes& sizes, std::uint64_t reach, std::uint64_t seed) {
  constexpr std::uint64_t ahead = 16;  // records whose cells are on their way from memory
  struct Record {
    std::uint64_t key, set[2], lowered[4];
  };
  std::vector<std::uint64_t> cells((sizes.bits + 63) / 64), keys(follow_batch);
  std::vector<std::uint8_t> first(follow_batch);
  std::vector<Record> records(ahead + follow_batch);
  const auto oracle = numbered_oracle(sizes.universe);
  const auto stream = uniform(sizes.universe, seed);
  const RecordRandom random(mix(seed, 11));
  const std::uint64_t secret = mix(seed, 5);
  const auto bit = [](std::uint64_t cell) { return std::uint64_t{1} << cell % 64; };
  Measured errors;
  for (std::uint64_t done = 0; done < sizes.records; done += follow_batch) {
    const auto n = static_cast<std::size_t>(std::min(follow_batch, sizes.records - done));
    stream->fill(std::span(keys).first(n), {});
    oracle->observe(std::span(keys).first(n), std::span(first).first(n));
    for (std::size_t i = 0; i < n + ahead; ++i) {
      if (i < n) {
        Record& next = records[i];
        Draws of_key(mix(keys[i], secret)), of_record = random.at(done + i);
        for (auto& cell : next.set) cell = of_key.below(sizes.bits);
        for (auto& cell : next.lowered) cell = of_record.below(reach);
        for (const auto cell : next.set) prefetch_line(&cells[cell / 64]);
        for (const auto cell : next.lowered) prefetch_line(&cells[cell / 64]);
      }
      if (i < ahead) continue;
      const Record& record = records[i - ahead];
      bool seen = true;
      for (const auto cell : record.set) seen &= (cells[cell / 64] & bit(cell)) != 0;
      for (const auto cell : record.lowered) cells[cell / 64] &= ~bit(cell);
      for (const auto cell : record.set) cells[cell / 64] |= bit(cell);
      count(first[i - ahead] != 0, seen, errors);
    }
  }
  return errors;
}

std::vector<Measurement> run(const PaperRow& row, const std::string& series, double scale,
                             std::uint64_t seed) {
  const Sizes sizes = scaled(row, scale);
  Measured errors;
  std::string parameters;
  if (series == short_name) {
    const auto reach = static_cast<std::uint64_t>(0x1p31 * scale);
    errors = run_short_draws(sizes, reach, seed);
    parameters = "m=" + std::to_string(sizes.bits) + ",K=2,P=4,Max=1, decrements below cell " +
                 std::to_string(reach);
  } else {
    const FilterPtr filter = make_filter(
        series == rsbf_name ? rsbf_spec(sizes.bits, row.k) : sbf_spec(sizes.bits), {.seed = seed});
    const auto stream = uniform(sizes.universe, seed);
    const auto oracle = numbered_oracle(sizes.universe);
    follow(*filter, *stream, *oracle, sizes.records, seed,
           [&](const Batch& batch) { count(batch, errors); });
    parameters = filter->parameters();
  }
  const auto of = [&](const char* what, double value) {
    return Measurement{row_name(row), series, parameters, seed, 0, what, value};
  };
  return {of("fnr", errors.fnr.value()), of("fpr", errors.fpr.value()),
          of("repeats", static_cast<double>(errors.fnr.of)),
          of("firsts", static_cast<double>(errors.fpr.of))};
}

double least_scale(int table) { return table == 2 ? 1 : table == 3 ? 0.1 : 0.001; }

std::vector<Part> parts(int table, const Setting& setting) {
  if (setting.scale < least_scale(table))
    throw Error(ErrorCode::Config,
                "rsbf-table-" + std::to_string(table) + ": --scale " + number(setting.scale) +
                    " is too small to mean anything; the least is " + number(least_scale(table)));
  std::vector<Part> parts;
  for (const PaperRow& row : paper_rows) {
    if (row.table != table) continue;
    const Sizes sizes = scaled(row, setting.scale);
    for (const char* series : {rsbf_name, sbf_name, short_name}) {
      if (series == short_name && row.sbf.remark != 'e') continue;
      for (unsigned seed = 1; seed <= setting.repeat; ++seed)
        parts.push_back({row_name(row) + " " + series + " " + std::to_string(seed),
                         static_cast<double>(sizes.records) * 1e-7,
                         sizes.universe / 8 + sizes.bits / 7,
                         [row, series = std::string(series), scale = setting.scale, seed] {
                           return run(row, series, scale, seed);
                         }});
    }
  }
  return parts;
}

// Ours beside a printed figure, both in per cent.
struct Compared {
  double ours, error, difference;  // the difference as a share of the printed figure
  bool met;
};
Compared compare(const Results& results, const PaperRow& row, const std::string& series,
                 const char* what, double printed, double scale) {
  const Mean mean = results.mean(row_name(row), series, what);
  const std::string of = std::string(what) == "fnr" ? "repeats" : "firsts";
  const double n = results.mean(row_name(row), series, of).value;
  // A rate that was never met may still be that of a few events.
  const double p = std::max(mean.value, 1 / n / mean.seeds);
  const double one = 100 * std::sqrt(p * (1 - p) / n);  // standard error of one run of our size
  const double ours = std::max(100 * mean.error, one / std::sqrt(mean.seeds));
  const double theirs = one * std::sqrt(scale);
  const double gap = 100 * mean.value - printed;
  return {100 * mean.value, ours, gap / printed,
          std::abs(gap) <= std::max(0.03 * printed, 3 * std::hypot(ours, theirs))};
}

std::string shown(const Compared& c) {
  const int digits = c.ours >= 1 ? 2 : c.ours >= 0.1 ? 3 : 5;
  return percent(c.ours / 100, digits) + " ± " + percent(c.error / 100, digits);
}
std::string signed_percent(double share) { return fmt::format("{:+.1f}", 100 * share); }

std::string explain(const PaperRow& row, const Printed& printed, const std::string& series,
                    const Compared& fnr, const Compared& fpr) {
  if (series == short_name)
    return fnr.met && fpr.met ? "(e) so the printed figures come out"
                              : "(e) but this does not give the printed figures here";
  const auto read = [&] {
    const double gap = fpr.ours / *printed.read_fpr - 1;
    return "read " + number(*printed.read_fpr, 5) + ", from which ours is " + signed_percent(gap) +
           " % off";
  };
  switch (printed.remark) {
    case 'a':
      return "(a) misprint, FPR a factor of ten off: " + read();
    case 'b':
      return "(b) misprint, the two FPRs stand in each other's column: " + read();
    case 'c':
      return "(c) not explained by any k or mode of RSBF; k = " + std::to_string(row.k) +
             " is run here as in the rows below";
    case 'd':
      return "(d) misprint, a digit of the FPR: " + read();
    case 'e':
      return "(e) below: the printed run drew with 31 bits for 2^32 cells, it seems";
    default:
      return "";
  }
}

Section present(int table, const Setting& setting, const Results& results) {
  const std::string name = "rsbf-table-" + std::to_string(table);
  Section section{"Table " + std::to_string(table) + " of the RSBF paper", {}, {}, {}};
  Table rows{name,
             {"bits", "filter", "FNR % printed", "ours", "off by %", "FPR % printed", "ours",
              "off by %", "remark"},
             {}};
  unsigned explained = 0, met = 0, left_out = 0;
  const PaperRow* last = nullptr;
  for (const PaperRow& row : paper_rows) {
    if (row.table != table) continue;
    last = &row;
    for (const std::string& series : results.series(row_name(row))) {
      const Printed& printed = series == rsbf_name ? row.rsbf : row.sbf;
      const Compared fnr = compare(results, row, series, "fnr", printed.fnr, setting.scale);
      const Compared fpr = compare(results, row, series, "fpr", printed.fpr, setting.scale);
      rows.add({row_name(row), series, number(printed.fnr, 6), shown(fnr),
                signed_percent(fnr.difference), number(printed.fpr, 6), shown(fpr),
                signed_percent(fpr.difference), explain(row, printed, series, fnr, fpr)});
      if (series == sbf_name && printed.remark == 'e') continue;  // the run below counts
      if (series != short_name && printed.remark != 0) {
        ++left_out;
        continue;
      }
      ++explained, met += fnr.met && fpr.met ? 1 : 0;
    }
  }
  const Sizes sizes = scaled(*last, setting.scale);
  section.text = {
      "Records: " + std::to_string(sizes.records) + ", keys drawn uniformly from " +
          std::to_string(sizes.universe) + ", scale " + number(setting.scale) +
          " of the paper's size: records, keys and bits are all taken by it, the column of bits "
          "shows the paper's. Mean and standard error over " +
          std::to_string(setting.repeat) +
          " seeds, each another stream and another hash. FNR is the share of repeats called new, "
          "FPR the share of first occurrences called seen.",
      "A pair is met if both figures are within 3 % of the printed ones, or within three standard "
      "errors of our runs and their one run together. Pairs with a misprint are left out of the "
      "count, and shown with what they probably should read."};
  Table verdict{name + "-met", {"explained pairs", "of these met", "left out as misprints"}, {}};
  verdict.add({std::to_string(explained), std::to_string(met), std::to_string(left_out)});
  section.tables = {rows, verdict};
  return section;
}

Experiment experiment(int table, const char* what, double scale) {
  return {"rsbf-table-" + std::to_string(table), what,
          [table](const Setting& setting) { return parts(table, setting); },
          [table](const Setting& setting, const Results& results) {
            return present(table, setting, results);
          },
          scale};
}

}  // namespace

std::vector<Experiment> rsbf_tables() {
  return {experiment(2, "RSBF and SBF, 100 thousand records, 76 % distinct", 1),
          experiment(3, "RSBF and SBF, 10 million records, 49 % distinct", 1),
          experiment(4, "RSBF and SBF, 695 million records, 15 % distinct", 0.01),
          experiment(5, "RSBF and SBF, 1 billion records, 10 % distinct", 0.01)};
}

}  // namespace weir::lab

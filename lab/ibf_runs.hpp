// What the IBF paper's table and figures have in common: its filters, its streams, its measures.
//
//   filters    BF, SBF, IBF-2C, IBF-MC, IBF-H in 43,690 cells, K = 5, P = 10, M = 7 (Tables III,
//   IV);
//              and, for a fair comparison, SBF with a P at which it has as many FP as MC
//   streams    three synthetic ones, each with 10, 30 and 50 % repeats; a trace with its weights as
//              importances in two ways
//   measures   FP, FN: share of all records that are false positives, false negatives
//              wFP, wFN: the same, every record counting as much as its importance
//              both for each importance (the paper's I_fp, I_fn) and for each fifth of the scale
//              FPR: share of the first occurrences called Seen; FNR: of the repeats called New
// The paper divides by all records, and so mixes a filter's errors with how many records are first
// ones; FPR and FNR are the filter's own.
//
// What must come out follows without statistics. With the same hashes and the same decrements no
// cell of MC is ever above that of 2C, none of 2C above that of SBF: they set f <= 3 or 7 <= 7,
// lose alike, and raising keeps the order. So whatever MC calls Seen, 2C does, and SBF: FP falls
// and FN rises from SBF to 2C to MC, record by record, and at equal P neither can have fewer FN
// than SBF, for no importance, though the paper says so. tests/lab/ibf_test.cpp looks at every
// record.
#pragma once

#include "experiment.hpp"
#include "importance_stream.hpp"

namespace weir::lab {

// Not stated in the paper; long enough that cells have faded several times over, 7 m/P = 30,583
// records each.
inline constexpr double ibf_records = 200'000;
inline constexpr double ibf_cells = 43'690, ibf_bits = 131'072;  // 16 KB at 3 bits and at 1 bit
inline constexpr double ibf_least_scale = 0.02;
inline constexpr const char* sbf_like_mc = "SBF like MC";

struct IbfFilter {
  std::string name, spec;
};
// The paper's five; BF in all of the 16 KB, since its cells are bits, and the paper does not say
// whether there are as many of them as cells; and the SBF like MC. Or those of the setting, in 16
// KB.
std::vector<IbfFilter> ibf_filters(const Setting& setting, double scale);

struct IbfStream {
  std::string name;
  Favour favour = Favour::None;
  double repeats = 0;
  std::string trace;  // where there is one, the two above say nothing
  Ranking ranking = Ranking::Proportion;
};
// With 10, 30 and 50 % repeats.
std::vector<IbfStream> synthetic_streams(Favour favour);
// Of the setting's traces, those with weights.
std::vector<IbfStream> trace_streams(const Setting& setting, Ranking ranking);

// One part a stream, filter and seed. Measured are, under the row's and the filter's name:
//   FP FN wFP wFN FPR FNR                  at x = 0
//   "fp" "fn" "fnr" and "records"          at x = 1..50, the importance; records as a share
//   "FP in fifth", "FNR in fifth", ...     at x = 1..5
enum class IbfSeries {
  Filters,
  StreamOnly
};  // StreamOnly: one series "stream", records alone count
std::vector<Part> ibf_parts(const std::vector<IbfStream>& streams, const Setting& setting,
                            IbfSeries series = IbfSeries::Filters);

// "43,690"
std::string whole(double value);
// "a ± b", both in percent.
std::string percent_with_error(const Mean& mean, int digits = 2);

// Claims of the paper beside what was seen, one line a claim and stream; streams that differ only
// in their share of repeats share a line.
class Claims {
 public:
  // Each of the means above the next, or below, by more than three standard errors of their
  // difference; "undecided" where one is within them.
  void falls(const std::string& claim, const std::string& stream, const std::vector<Mean>& means);
  void rises(const std::string& claim, const std::string& stream, const std::vector<Mean>& means);
  void add(const std::string& claim, const std::string& stream, const std::string& seen,
           const std::string& figures);
  [[nodiscard]] Table table(const std::string& name) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // claim, stream, seen, figures
};

Experiment ibf_zero_cells();  // ibf-fig-18, in experiments/ibf_zeros.cpp

}  // namespace weir::lab

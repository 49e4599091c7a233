// The rows of the RSBF paper's Tables 2 to 5: what was run, as far as it can be known, and what is
// printed. Keys are drawn uniformly from so many that the printed share of distinct records comes
// out; SBF has Max = 1, K = 2, P = 4.
//
// What is printed and cannot be so, or not with the algorithms as they are described:
//   (a) a factor of ten off
//   (b) the two FPRs of the row stand in each other's column
//   (c) not explained by any k or either mode of RSBF
//   (d) the FNR fits, the FPR has a wrong digit
//   (e) 2^32 cells, of which a generator of 31 bits decrements only the lower half: explained by
//       a run that does so
#pragma once

#include <cstdint>
#include <optional>

namespace weir::lab {

struct Printed {
  double fnr, fpr;                      // in per cent
  char remark = 0;                      // the letter above
  std::optional<double> read_fpr = {};  // what the FPR should read
};
struct PaperRow {
  int table;
  std::uint64_t records;
  double universe;
  std::uint64_t bits;
  unsigned k;  // of RSBF
  Printed rsbf, sbf;
};
inline const PaperRow paper_rows[] = {
    {2, 100'000, 173'463, 16'384, 3, {84.49, 11.22}, {85.06, 10.05}},
    {2, 100'000, 173'463, 65'536, 3, {74.85, 8.384}, {74.37, 8.093}},
    {2, 100'000, 173'463, 4'194'304, 3, {6.29, 0.00263}, {5.51, 0.00382, 'a', 0.0382}},
    {3, 10'000'000, 6'067'397, 16'384, 3, {87.52, 12.464}, {88.83, 11.08}},
    {3, 10'000'000, 6'067'397, 262'144, 3, {86.89, 12.12}, {88.11, 10.86}},
    {3, 10'000'000, 6'067'397, 4'194'304, 3, {77.73, 7.914}, {77.33, 7.822}},
    {4, 695'000'000, 104'383'984, 262'144, 3, {87.47, 11.1, 'b', 12.51}, {88.86, 12.51, 'b', 11.1}},
    {4, 695'000'000, 104'383'984, 67'108'864, 2, {58.2818, 8.4, 'c'}, {82.48, 8.3}},
    {4, 695'000'000, 104'383'984, 1'073'741'824, 2, {23.12, 0.89}, {37.79, 0.742}},
    {4, 695'000'000, 104'383'984, 4'294'967'296, 2, {7.37, 0.072}, {12.94, 0.069, 'e'}},
    {5, 1'000'000'000, 100'004'542, 67'108'864, 2, {67.66, 10.262, 'd', 16.262}, {82.58, 8.262}},
    {5, 1'000'000'000, 100'004'542, 1'073'741'824, 2, {23.47, 0.83}, {38.17, 0.70}},
    {5, 1'000'000'000, 100'004'542, 4'294'967'296, 2, {7.53, 0.0664}, {13.163, 0.0634, 'e'}},
};

// The errors depend on records, keys and memory only through their ratios: all three shrink.
struct Sizes {
  std::uint64_t records, universe, bits;
};
inline Sizes scaled(const PaperRow& row, double scale) {
  const auto part = [scale](double size) { return static_cast<std::uint64_t>(size * scale); };
  return {part(static_cast<double>(row.records)), part(row.universe),
          part(static_cast<double>(row.bits))};
}

}  // namespace weir::lab

// The streams of the RSBF paper's Tables 2 to 5: RSBF and SBF as printed there, and weir in as many
// bits at an FPR no higher than what each of them showed. Tables 3 to 5 can be scaled: the errors
// depend on records, memory and keys only through their ratios.
#include <algorithm>
#include <cmath>

#include "compare.hpp"
#include "experiment.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

struct PaperRow {
  int table;
  std::uint64_t records;
  double universe;
  std::uint64_t bits;
  unsigned k;  // of RSBF
};
constexpr PaperRow paper_rows[] = {
    {2, 100'000, 173'463, 16'384, 3},
    {2, 100'000, 173'463, 65'536, 3},
    {2, 100'000, 173'463, 4'194'304, 3},
    {3, 10'000'000, 6'067'397, 16'384, 3},
    {3, 10'000'000, 6'067'397, 262'144, 3},
    {3, 10'000'000, 6'067'397, 4'194'304, 3},
    {4, 695'000'000, 104'383'984, 262'144, 3},
    {4, 695'000'000, 104'383'984, 67'108'864, 2},
    {4, 695'000'000, 104'383'984, 1'073'741'824, 2},
    {4, 695'000'000, 104'383'984, 4'294'967'296, 2},
    {5, 1'000'000'000, 100'004'542, 67'108'864, 2},
    {5, 1'000'000'000, 100'004'542, 1'073'741'824, 2},
    {5, 1'000'000'000, 100'004'542, 4'294'967'296, 2},
};

struct Mean {
  double fpr = 0, fnr = 0;
};
Mean measure_as_printed(const std::string& spec, const Recording& recording, unsigned seeds) {
  Mean mean;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const FilterPtr filter = make_filter(spec, {.seed = seed});
    const Measured m = measure(*filter, recording, seed);
    mean.fpr += m.fpr.value() / seeds, mean.fnr += m.fnr.value() / seeds;
  }
  return mean;
}

}  // namespace

Table against_papers(const Setting& setting) {
  Table table{"weir-tables",
              {"table", "bits", "bits/key", "rival", "rival FNR %", "rival FPR %", "weir FNR %",
               "weir FPR %", "weir"},
              {}};
  if (setting.scale < 1e-4)
    throw Error(ErrorCode::Config, "--scale " + number(setting.scale) +
                                       " is too small to mean anything; the least is "
                                       "0.0001");
  for (const PaperRow& row : paper_rows) {
    // Tables 2 and 3 are small enough as they are; what is left must fill some lines.
    const double scale = row.table == 2   ? 1
                         : row.table == 3 ? std::min(1.0, setting.scale * 10)
                                          : setting.scale;
    const auto records = static_cast<std::uint64_t>(static_cast<double>(row.records) * scale);
    const auto universe = static_cast<std::uint64_t>(row.universe * scale);
    const auto bits = static_cast<std::uint64_t>(static_cast<double>(row.bits) * scale);
    if (bits < 1024) continue;  // too small to mean anything
    const Recording recording = record(*uniform(universe, 7), records, universe);
    for (const bool is_rsbf : {true, false}) {
      const std::string rival =
          is_rsbf ? "rsbf:k=" + std::to_string(row.k) + ",M=" + std::to_string(bits)
                  : "stable:Max=1,K=2,P=4,m=" + std::to_string(bits);
      const Mean theirs = measure_as_printed(rival, recording, setting.repeat);
      const Contest contest{.bits = bits, .fpr = theirs.fpr, .seeds = setting.repeat};
      std::optional<Entry> best;
      for (const char* spec : {"weir", "weir:a=0"}) {
        const auto entry = enter(spec, contest, recording);
        if (entry && (!best || entry->fnr < best->fnr)) best = entry;
      }
      if (!best) throw Error(ErrorCode::Config, "no weir filter keeps the FPR");
      table.add({std::to_string(row.table), std::to_string(row.bits),
                 number(static_cast<double>(bits) / static_cast<double>(recording.distinct), 3),
                 is_rsbf ? "rsbf" : "stable", percent(theirs.fnr), percent(theirs.fpr, 4),
                 percent(best->fnr), percent(best->fpr, 4), best->parameters});
    }
  }
  return table;
}

}  // namespace weir::lab

// Filters side by side at equal memory and equal realised FPR: each is made for the highest FPR at
// which what the stream really shows stays at or below the target, so that no filter gains by
// moving along the curve between the two errors.
#pragma once

#include <optional>
#include <string>

#include "measure.hpp"

namespace weir::lab {

struct Contest {
  std::uint64_t bits = 0;  // of cells, bookkeeping excluded: what the papers count
  double fpr = 0;          // at most, realised, mean over the seeds
  unsigned seeds = 3;
  std::uint64_t first_seed = 1;
};

struct Run {
  std::uint64_t seed = 0;
  double fpr = 0, fnr = 0;
  double ns = 0;  // a record
};
struct Entry {
  std::string parameters;
  std::vector<Run> runs;    // one a seed
  double fpr = 0, fnr = 0;  // means over them
};

// Nothing when no setting of the filter keeps the FPR, as of a full Bloom filter.
std::optional<Entry> enter(const std::string& spec, const Contest& contest,
                           const Recording& recording);

// Keys that a store without any waste could hold: bits / (log2(1/FPR) + 1.44).
std::uint64_t ideal_keys(std::uint64_t bits, double fpr);

}  // namespace weir::lab

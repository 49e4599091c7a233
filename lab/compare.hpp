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

struct Entry {
  std::string parameters;
  double fpr = 0, fnr = 0;              // means over the seeds
  double fpr_error = 0, fnr_error = 0;  // their standard errors
  double ns = 0;                        // a record, the median run
};

// Nothing when no setting of the filter keeps the FPR, as of a full Bloom filter.
std::optional<Entry> enter(const std::string& spec, const Contest& contest,
                           const Recording& recording);

// Keys that a store without any waste could hold: bits / (log2(1/FPR) + 1.44).
std::uint64_t ideal_keys(std::uint64_t bits, double fpr);

}  // namespace weir::lab

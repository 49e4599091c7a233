// Filters side by side at equal memory and equal realised FPR: each is made for the highest FPR at
// which what the stream really shows stays at or below the target, so that no filter gains by
// moving along the curve between the two errors.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <span>
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
  double ns = 0;  // of processor time a record, making the digest included
};
struct Entry {
  std::string parameters;
  std::uint64_t bits = 0;   // of its cells
  std::vector<Run> runs;    // one a seed
  double fpr = 0, fnr = 0;  // means over them
};

// Nothing when no setting of the filter keeps the FPR, as of a full Bloom filter. The seeds take
// turns at the recordings.
std::optional<Entry> enter(const std::string& spec, const Contest& contest,
                           std::span<const Recording> recordings);
inline std::optional<Entry> enter(const std::string& spec, const Contest& contest,
                                  const Recording& recording) {
  return enter(spec, contest, std::span(&recording, 1));
}

// Whether the filter follows the FPR that it is asked for; those that do not have one setting.
bool takes_fpr(const std::string& spec);

// Recordings that many parts share: made when the first of them asks, and once.
class SharedRecordings {
 public:
  explicit SharedRecordings(std::function<std::vector<Recording>()> make)
      : make_(std::move(make)) {}
  std::span<const Recording> get() {
    std::call_once(made_, [this] { recordings_ = make_(); });
    return recordings_;
  }

 private:
  std::function<std::vector<Recording>()> make_;
  std::once_flag made_;
  std::vector<Recording> recordings_;
};

// Keys that a store without any waste could hold: bits / (log2(1/FPR) + 1.44).
std::uint64_t ideal_keys(std::uint64_t bits, double fpr);

// The bits a key that any set needs of which a share `fnr` of its keys and a share 1 - `fpr` of
// all others is denied: the divergence KL(1 - FNR || FPR), log2(1/FPR) where no key is denied. 0
// where guessing does it.
double floor_bits(double fnr, double fpr);
// The other way: the least FNR of so many bits a key.
double floor_fnr(double bits_a_key, double fpr);

}  // namespace weir::lab

// A stream in small: the records of a random part of its keys, in fixed memory.
//
// Keys are chosen by their digest (a mix of it below a threshold), so a key that is in is in with
// all its records; when the memory is full the threshold is halved and what is above it goes (as
// SHARDS does, Waldspurger et al. 2015). What a filter of 1/s of the size shows on 1/s of the keys
// is what the whole one shows on all (their miniature simulation): expect() really runs it.
//   misses  s times those of the miniature, over all repeats of the stream (all records, less
//           the s times as many distinct keys); so that it does not matter which of the few very
//           frequent keys, which no filter misses, are in
//   FPR     the miniature's live FPR, averaged over the first occurrences
// Stops working where the miniature is a few lines large, and says nothing of the future: what
// follows on the sample is taken to be like its second half.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "weir/catalog.hpp"

namespace weir {

class StreamSample {
 public:
  explicit StreamSample(std::size_t most = std::size_t{1} << 20) : most_(most) {}
  void add(std::span<const Digest> digests);
  // Has to be called when all records are in.
  void finish();

  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  [[nodiscard]] double share() const noexcept { return share_; }  // of the keys
  [[nodiscard]] double distinct() const noexcept;                 // estimated, in all
  [[nodiscard]] double keys_met_once() const noexcept;            // of the distinct ones, the share
  // Of the repeats of sampled keys, this quantile of the distance in records; 0 without any.
  [[nodiscard]] double distance(double quantile) const;
  // Distinct keys after so many records, where the rest goes on like the second half.
  [[nodiscard]] double distinct_after(std::uint64_t records) const;

  // What the filter of that specification will show on so many records. `window` in records is
  // added to the specification where it is not 0.
  [[nodiscard]] Prediction expect(std::string_view spec, const Request& request,
                                  std::uint64_t records, std::uint64_t window = 0) const;
  // The miniature's bytes of cells.
  [[nodiscard]] std::uint64_t miniature(std::string_view spec, const Request& request) const;

 private:
  struct Met {
    Digest digest;
    std::uint64_t at;  // ordinal of the record
  };
  [[nodiscard]] bool chosen(Digest digest) const noexcept;

  std::size_t most_;
  double share_ = 1;
  std::uint64_t records_ = 0;
  std::vector<Met> met_;
  std::vector<bool> first_;        // of each one met: its key was not met before
  std::vector<double> distances_;  // sorted
  std::uint64_t firsts_ = 0, late_firsts_ = 0, once_ = 0;
};

}  // namespace weir

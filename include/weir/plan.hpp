// What a structure should show on a stream, stated before the stream is read.
#pragma once

#include <cstdint>
#include <vector>

namespace weir {

// Keys drawn uniformly and independently from `universe` keys, `records` times: the
// stream of the papers. Rates count the records after the first `skip` ones, so that a
// steady state can be looked at without the way into it.
struct StreamModel {
  std::uint64_t records = 0;
  double universe = 0;
  std::uint64_t skip = 0;
  // Share of keys of importance 1, 2, ..., for the filters that know importance. Empty:
  // every key has importance 1.
  std::vector<double> importance = {};
};

struct Prediction {
  double fpr = 0;   // of the first occurrences, the share called Seen
  double fnr = 0;   // of the repeats, the share called New
  double fill = 0;  // share of cells that are not zero after the last record
};

// What follows from the structure as it is now.
struct Health {
  double fill = 0;            // share of cells that are not zero
  double fpr = 0;             // chance that a key never met would be called Seen now
  std::uint64_t records = 0;  // observed so far
  std::uint64_t seen = 0;     // of these, called Seen
};

// Share of distinct records of the model's stream, U (1 - (1 - 1/U)^N) / N.
double distinct_share(const StreamModel& stream);

}  // namespace weir

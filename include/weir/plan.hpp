// What a structure should show on a stream, stated before the stream is read.
#pragma once

#include <cstdint>
#include <vector>

namespace weir {

// Keys that are equally likely: so many, each of them the next record with probability `rate`.
struct Popularity {
  double keys, rate;
};

// Of all records, the share whose key comes again for the next time that many records later.
struct Distance {
  double records, share;
};

// A stream of `records` records. Rates count those after the first `skip` ones, so that a steady
// state can be looked at without the way into it. Its keys are
//   drawn uniformly and independently from `universe` keys, the stream of the papers;
//   or, where `popularity` is given, independently with these probabilities (keys x rate sum to 1);
//   or, where `distances` is given, known by how soon they come again: what is no repeat is a key
//   never met (the shares sum to less than 1).
// Filters that have no model of the latter two say so by Error(Unsupported).
struct StreamModel {
  std::uint64_t records = 0;
  double universe = 0;
  std::uint64_t skip = 0;
  // Share of keys of importance 1, 2, ..., for the filters that know importance. Empty:
  // every key has importance 1.
  std::vector<double> importance = {};
  std::vector<Popularity> popularity = {};
  std::vector<Distance> distances = {};
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

// Share of distinct records of the model's stream; if it is uniform, U (1 - (1 - 1/U)^N) / N.
double distinct_share(const StreamModel& stream);

}  // namespace weir

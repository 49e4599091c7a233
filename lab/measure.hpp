// What a filter shows on a stream, counted against the exact answer.
#pragma once

#include <cstdint>
#include <vector>

#include "stream.hpp"
#include "weir/filter.hpp"

namespace weir::lab {

struct Rate {
  std::uint64_t events = 0, of = 0;
  [[nodiscard]] double value() const {
    return of == 0 ? 0 : static_cast<double>(events) / static_cast<double>(of);
  }
  [[nodiscard]] double standard_error() const;
};

struct Measured {
  Rate fpr;  // of the first occurrences, called Seen
  Rate fnr;  // of the repeats, called New
};

// A stream with its exact answer, to be run through many filters. Keys below 2^32.
struct Recording {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint8_t> first;  // 1: the key's first occurrence
  std::uint64_t distinct = 0;
  std::vector<std::uint32_t> weights = {};  // empty where every weight is 1
};
Recording record(const Trace& trace);
// Keys of any kind, numbered in the order in which they come; fewer records where a file ends.
Recording record(Stream& stream, std::uint64_t records);
Recording record(Stream& stream, std::uint64_t records, std::uint64_t universe);

// The digest of a key depends on the seed, so that every seed is another draw of the hash.
Measured measure(Filter& filter, const Recording& recording, std::uint64_t seed);

// Misses of a store that holds the `keys` keys last met: no filter of that many keys, forgetting
// by age alone, misses fewer on streams that obey it.
Rate ideal_lru(const Recording& recording, std::uint64_t keys);

}  // namespace weir::lab

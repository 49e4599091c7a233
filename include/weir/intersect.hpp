// Which keys have two machines in common, with few bytes between them (slides of Ferragina,
// "Set Intersection").
//
//   here                                          there
//   weir::Channel channel = ...;                  weir::Channel channel =
//   weir::Channel::standard({}); weir::intersect(channel, options); weir::serve_intersect(channel,
//   options);
//
//   (1) each side reads its keys and counts the different ones
//   (2) there says how many it has, and what one costs on the wire
//   (3) here sends a Bloom filter of its keys (weir/compressed_bloom.hpp), of the size that makes
//       the sum of (3) and (4) least
//   (4) there sends those of its keys that are in the filter
//   (5) here drops those that it does not have
//
// Guarantee: exact. What the filter lets through wrongly is dropped in (5); keys are compared by
// 128 bits of a keyed hash, so 10^9 keys against 10^9 are wrong with a probability of 3e-21.
// Cost, expected: F(f) + (|both| + f |only there|) L bytes with a filter of F(f) bytes for the rate
// f, and L bytes a key on the wire; a plain Bloom filter has F = |here| log2(1/f) / (8 ln 2).
// Memory: as asked for. Sets of any size are read from their files, several times where the memory
// is small.
// Stops paying: where the keys are shorter than what the filter costs, some 2 bytes; all keys are
// sent then, and the plan says so.
// This header belongs to the library weir-exchange (CMake: weir::exchange).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "weir/compressed_bloom.hpp"
#include "weir/dedup.hpp"
#include "weir/exchange.hpp"

namespace weir {

struct IntersectPlan {
  std::uint32_t parts = 1;  // the keys are treated in so many parts, one filter each
  CompressedBloom filter;   // of a part; m = 0: none, everything is sent
  double fpr = 1;
  double filter_bytes = 0;  // of all parts
  double cost = 0;          // that, and the keys there that get through wrongly
  double plain_cost = 0;    // the same with the best plain Bloom filter
};
// `key_bytes` is what a key of the other side costs on the wire; `memory` that of a filter, in
// bytes, on the side that has less.
IntersectPlan plan_intersection(double here, double there, double key_bytes, std::uint64_t memory);

struct IntersectOptions {
  // Inputs, format, key, on_bad (Pass is like Drop), output and its file.
  DedupOptions records;
  std::uint64_t memory = std::uint64_t{1} << 30;
  enum class Write : std::uint8_t { Common, OnlyHere, Nothing };
  Write write = Write::Common;
  bool every_record = false;  // not only the first one of each key
};

struct IntersectStats {
  std::uint64_t here = 0, there = 0, both = 0;  // different keys
  std::uint64_t records = 0, bad = 0;
  std::string first_bad;
  std::uint64_t key_bytes_here = 0, key_bytes_there = 0;  // as they are, without terminators
  double wire_bytes_a_key = 0;
  IntersectPlan plan;
  std::uint64_t keys_sent = 0;  // by the other side
  std::uint64_t sent = 0, received = 0;
  double expected = 0;  // bytes both ways, by the formula
  std::uint32_t readings = 0;
  double seconds = 0;

  [[nodiscard]] std::uint64_t only_here() const noexcept { return here - both; }
  [[nodiscard]] std::uint64_t only_there() const noexcept { return there - both; }
  [[nodiscard]] std::uint64_t either() const noexcept { return here + there - both; }
};

// Nothing is written before the answer is complete. Throws Error(Io) where the other side is lost,
// lies or talks nonsense.
IntersectStats intersect(Channel& channel, const IntersectOptions& options);
// The other side. Of the statistics it knows its own.
IntersectStats serve_intersect(Channel& channel, const IntersectOptions& options);

}  // namespace weir

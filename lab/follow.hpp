// A stream through a filter beside the exact answer, a batch at a time: what every experiment does.
#pragma once

#include <functional>

#include "oracle.hpp"
#include "stream.hpp"
#include "weir/filter.hpp"

namespace weir::lab {

struct Batch {
  std::uint64_t at;  // records before this batch
  std::span<const std::uint64_t> keys;
  std::span<const std::uint32_t> weights;
  std::span<const std::uint8_t> first;  // 1: the key's first occurrence
  std::span<const Verdict> verdicts;
};
inline constexpr std::uint64_t follow_batch = 1000;

// `see` is called after every `follow_batch` records, and for what is left at the end; the filter
// then stands where the batch left it. The digests depend on the seed, so that every seed is
// another draw of the hash. Returns the records there were, fewer than asked for where a file ends.
std::uint64_t follow(Filter& filter, Stream& stream, Oracle& oracle, std::uint64_t records,
                     std::uint64_t seed, const std::function<void(const Batch&)>& see);

}  // namespace weir::lab

// Where things lie in a line of the weir filter, and the ways to work on one.
//
//   bits  0                                             505-B-n-an    505-B-n  505-B       505 512
//         [remainders, u of r(u) bits; the rest is free ][ages, a x n ][ends, n][occupied, B][hand]
//
//   occupied  which of the B buckets hold anything
//   ends      which slots are the last of their bucket; slots are sorted by bucket, so the k-th
//             occupied bucket's slots end at the k-th one; u, the slots in use, is the highest
//   ages      how often the hand spares the slot
//   hand      the slot at which the search for the next to be forgotten begins
#pragma once

#include <cstddef>
#include <cstdint>

#include "weir/catalog.hpp"

namespace weir {

inline constexpr unsigned weir_line_bits = 512, weir_hand_at = 505;
inline constexpr unsigned weir_usual_slots = 57, weir_max_slots = 120, weir_max_length = 32;

struct WeirLayout {
  WeirLayout(unsigned n, unsigned B, unsigned a) noexcept;

  // n bits somewhere in the line: the byte to read from and the shift after it. A read of 64 bits
  // (128 where there are more than 57 slots) from there has them all and stays within the line.
  struct Field {
    std::uint32_t byte, shift;
  };

  unsigned slots, buckets, planes;
  unsigned occupied_at;                 // bucket 0's bit
  unsigned first_word;                  // 6, or the one before that it lies in
  std::uint64_t first_mask, last_mask;  // which bits of that word and of the last are buckets'
  Field ends, ages[2];
  std::uint64_t all_slots;                  // a one for each of up to 64
  std::uint8_t length[weir_max_slots + 2];  // r(u): bits of a remainder when u slots are used

  // The usual shape, for which there is code of its own.
  [[nodiscard]] bool is_usual() const noexcept {
    return slots <= weir_usual_slots && planes == 1 && first_word == 6;
  }
};

struct WeirTarget {
  std::uint64_t* line;
  std::uint32_t bucket;
  std::uint32_t remainder;  // at its longest; a line uses the upper r(u) bits
  std::uint32_t enters;     // the age a newcomer begins with
};

// A line as seen from outside.
struct WeirLineView {
  unsigned used = 0;      // u
  unsigned distinct = 0;  // fingerprints that differ; two may have become equal when shortened
};

struct WeirKernel {
  void (*observe)(const WeirLayout&, const WeirTarget*, std::size_t count, Verdict* out) noexcept;
  bool (*contains)(const WeirLayout&, const WeirTarget&) noexcept;
  WeirLineView (*look)(const WeirLayout&, const std::uint64_t* line) noexcept;
  bool (*is_sound)(const WeirLayout&, const std::uint64_t* line) noexcept;  // could have come about
};
// The fastest for this layout that the instructions of `kernel` allow. All give the same.
WeirKernel weir_kernel(const WeirLayout& layout, Kernel kernel) noexcept;

}  // namespace weir

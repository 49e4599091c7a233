// A slate: bits that can be wiped all at once, without a pause at any size.
//
// Bits stand in units of a few words, and the last bit of each unit is its mark. A unit counts only
// if its mark is that of the slate, so a slate is empty as soon as its own mark is turned. Units
// with the old mark are
//   (1) wiped when a bit is set in them,
//   (2) swept one after the other, a few with each record, and all before the mark turns again.
// After the sweep all marks are equal, and nobody needs to look at them. Memory: a bit a unit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/prefetch.hpp"
#include "weir/error.hpp"

namespace weir {

// `words` make a unit; the next one begins `stride` words on.
template <unsigned words, unsigned stride>
class Slate {
 public:
  static constexpr unsigned unit_bits = words * 64 - 1;
  static std::uint64_t units(std::uint64_t bits) noexcept {
    return (bits + unit_bits - 1) / unit_bits;
  }

  Slate(std::uint64_t* first, std::uint64_t bits) noexcept : first_(first), bits_(bits) {}

  [[nodiscard]] std::uint64_t* unit(std::uint64_t i) const noexcept { return first_ + i * stride; }
  [[nodiscard]] std::uint64_t* unit_of(std::uint64_t position) const noexcept {
    return unit(position / unit_bits);
  }
  static unsigned bit_of(std::uint64_t position) noexcept {
    return static_cast<unsigned>(position % unit_bits);
  }
  static unsigned mark_of(const std::uint64_t* unit) noexcept {
    return static_cast<unsigned>(unit[words - 1] >> 63);
  }
  static bool get(const std::uint64_t* unit, unsigned bit) noexcept {
    return unit[bit >> 6] >> (bit & 63) & 1;
  }
  // Whether it was set before.
  static bool set(std::uint64_t* unit, unsigned bit) noexcept {
    const std::uint64_t one = std::uint64_t{1} << (bit & 63);
    const bool before = (unit[bit >> 6] & one) != 0;
    unit[bit >> 6] |= one;
    return before;
  }
  static void renew(std::uint64_t* unit, unsigned mark) noexcept {
    if (mark_of(unit) == mark) return;
    std::fill_n(unit, words, std::uint64_t{0});
    unit[words - 1] = std::uint64_t{mark} << 63;
  }
  // (2): `count` units from `swept` on, which it moves.
  void sweep(std::uint64_t& swept, std::uint64_t count, unsigned mark) const noexcept {
    const std::uint64_t all = units(bits_), end = std::min(all, swept + count);
    for (; swept < end; ++swept) {
      if (swept + 16 < all) prefetch_line(unit(swept + 16));
      renew(unit(swept), mark);
    }
  }

  // Ones in units of that mark. Throws when one of the first `swept` units has another mark, or a
  // bit behind the last is set.
  [[nodiscard]] std::uint64_t count(unsigned mark, std::uint64_t swept) const {
    const std::uint64_t all = units(bits_);
    bool good = swept <= all;
    std::uint64_t ones = 0;
    for (std::uint64_t i = 0; i < all; ++i) {
      if (mark_of(unit(i)) != mark) {
        good &= i >= swept;
        continue;
      }
      for (unsigned w = 0; w < words; ++w) ones += static_cast<unsigned>(std::popcount(unit(i)[w]));
      ones -= mark;
    }
    for (std::uint64_t at = bits_; at < all * unit_bits; ++at)
      good &= !get(unit_of(at), bit_of(at));
    if (!good) throw Error(ErrorCode::BadState, "its bits are not marked as they must be");
    return ones;
  }

 private:
  std::uint64_t* first_;
  std::uint64_t bits_;
};

}  // namespace weir

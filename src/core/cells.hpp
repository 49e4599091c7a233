// m cells of d bits (1 to 8), packed without gaps: cell i is bits [i d, i d + d) of the array.
//
// A cell is read and written through the two bytes at its first bit, so it costs one cache
// line but for one in 64 cells, and m = 43,690 three-bit cells fit 16 KiB as in the IBF paper.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "core/memory.hpp"
#include "core/prefetch.hpp"

namespace weir {

// `fixed` is the number of bits where it is known when compiled, else 0.
template <unsigned fixed>
class BasicCells {
 public:
  BasicCells(std::byte* memory, unsigned bits) noexcept
      : memory_(memory), bits_a_cell_(bits), mask_((1u << bits) - 1) {}

  // Bytes for `count` cells; the last cell is read as two bytes.
  static std::uint64_t bytes(std::uint64_t count, unsigned bits) noexcept {
    return round_up((count * bits + 7) / 8 + 1, line_bytes);
  }
  // Cells that fit into `bytes`.
  static std::uint64_t fit(std::uint64_t bytes, unsigned bits) noexcept {
    const std::uint64_t whole_lines = bytes / line_bytes * line_bytes;
    return whole_lines == 0 ? 0 : (whole_lines - 1) * 8 / bits;
  }

  [[nodiscard]] std::byte* memory() const noexcept { return memory_; }

  [[nodiscard]] unsigned get(std::uint64_t i) const noexcept {
    const std::uint64_t bit = i * bits();
    return (load(bit >> 3) >> (bit & 7)) & max();
  }
  void set(std::uint64_t i, unsigned value) noexcept {
    const std::uint64_t bit = i * bits();
    const unsigned shift = bit & 7;
    const unsigned old = load(bit >> 3);
    store(bit >> 3, (old & ~(max() << shift)) | (value << shift));
  }
  void prefetch(std::uint64_t i) const noexcept { prefetch_line(memory_ + (i * bits() >> 3)); }
  void prefetch_all(std::uint64_t first, std::uint64_t end) const noexcept {
    for (std::uint64_t byte = first * bits() >> 3; byte <= end * bits() >> 3; byte += line_bytes)
      prefetch_line(memory_ + byte);
  }

  [[nodiscard]] unsigned max() const noexcept { return fixed != 0 ? (1u << fixed) - 1 : mask_; }

  // Cells of [first, end) that are not zero. `first` must be a multiple of 64.
  [[nodiscard]] std::uint64_t count_nonzero(std::uint64_t first, std::uint64_t end) const noexcept {
    std::uint64_t nonzero = 0;
    each_word(first, end, [&](std::uint64_t, std::uint64_t marks) {
      nonzero += static_cast<unsigned>(__builtin_popcountll(marks));
      return false;
    });
    return nonzero;
  }
  // The rank-th cell of [first, end) that is not zero; there must be one.
  [[nodiscard]] std::uint64_t select_nonzero(std::uint64_t first, std::uint64_t end,
                                             std::uint64_t rank) const noexcept {
    std::uint64_t found = first;
    each_word(first, end, [&](std::uint64_t bit, std::uint64_t marks) {
      const auto here = static_cast<unsigned>(__builtin_popcountll(marks));
      if (rank >= here) {
        rank -= here;
        return false;
      }
      for (; rank > 0; --rank) marks &= marks - 1;
      found = (bit + static_cast<unsigned>(__builtin_ctzll(marks))) / bits();
      return true;
    });
    return found;
  }

 private:
  [[nodiscard]] unsigned bits() const noexcept { return fixed != 0 ? fixed : bits_a_cell_; }
  // Calls f(bit, marks) for each 64 bits of the cells [first, end) until it returns true; marks has
  // a one where a cell that is not zero begins: a cell's bits are or-ed onto its first one.
  template <class F>
  void each_word(std::uint64_t first, std::uint64_t end, F f) const noexcept {
    const std::uint64_t end_bit = end * bits();
    std::uint64_t bit = first * bits();
    if (bit >= end_bit) return;
    const unsigned left_over = 64 % bits();  // bits of a word that whole cells leave over
    unsigned offset = 0;                     // of the first cell that begins in the word
    std::uint64_t next = word(bit, end_bit);
    for (; bit < end_bit; bit += 64) {
      std::uint64_t any = next;
      next = bit + 64 < end_bit ? word(bit + 64, end_bit) : 0;
      if (bits() > 1) {
        const std::uint64_t here = any;
        for (unsigned j = 1; j < bits(); ++j) any |= (here >> j) | (next << (64 - j));
        any &= every_[bits()] << offset;
        offset = offset >= left_over ? offset - left_over : offset + bits() - left_over;
      }
      if (f(bit, any)) return;
    }
  }
  // The 64 bits from `bit` on, those from `end` on cleared.
  [[nodiscard]] std::uint64_t word(std::uint64_t bit, std::uint64_t end) const noexcept {
    std::uint64_t w = 0;
    const std::uint64_t left = end - bit;
    if (left >= 64) {
      std::memcpy(&w, memory_ + bit / 8, 8);
      return w;
    }
    std::memcpy(&w, memory_ + bit / 8, (left + 7) / 8);
    return w & ((std::uint64_t{1} << left) - 1);
  }
  // Every d-th bit, from the first on.
  static constexpr auto every_ = [] {
    std::array<std::uint64_t, 9> patterns{};
    for (unsigned d = 1; d <= 8; ++d)
      for (unsigned b = 0; b < 64; b += d) patterns[d] |= std::uint64_t{1} << b;
    return patterns;
  }();

  [[nodiscard]] unsigned load(std::uint64_t byte) const noexcept {
    std::uint16_t two;
    std::memcpy(&two, memory_ + byte, 2);
    return two;
  }
  void store(std::uint64_t byte, unsigned value) noexcept {
    const auto two = static_cast<std::uint16_t>(value);
    std::memcpy(memory_ + byte, &two, 2);
  }

  std::byte* memory_;
  unsigned bits_a_cell_, mask_;
};

using Cells = BasicCells<0>;

}  // namespace weir

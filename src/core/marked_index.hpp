// Finds a uniformly random marked position among n in O(1) expected time, also when marks
// are rare.
//
// When at least one position in 16 is marked, drawing until a mark is met is the way: at most 16
// draws are expected. Below that the index helps: level 1 holds a bit for each cluster of
// positions (512 bits, or 64 cells) that has a mark, level 2 a bit for each group of 512 bits of
// level 1, and so on up to one group. choose() walks from the top: (1) a uniform set bit of the
// top, (2) in the group below a uniform set bit, accepted with probability count/peak, where peak
// is the most set bits any group of that level ever had; on rejection it starts again. So every
// mark is equally likely. Since rare marks are spread by a hash, count is near peak and few
// restarts are expected.
//
// The index is kept only while it is needed: it starts when marks are wanted and rarer than
// 1/16 (one pass over the positions, unless it was there from the beginning) and stops when they
// are more than 1/8. Between two such passes lie n/16 changes, so a change costs O(1). When half
// the marks are gone a pass takes the peaks anew.
// Memory: n/cluster bits and a little.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/bits.hpp"
#include "core/memory.hpp"
#include "weir/error.hpp"

namespace weir {

class MarkedIndex {
 public:
  static constexpr std::uint64_t group = 512;
  static constexpr unsigned max_levels = 6;

  static std::uint64_t bytes(std::uint64_t positions, std::uint64_t cluster) noexcept {
    std::uint64_t bits = (positions + cluster - 1) / cluster, sum = 0;
    for (;; bits = (bits + group - 1) / group) {
      sum += (bits + group - 1) / group * line_bytes;
      if (bits <= group) return sum;
    }
  }

  MarkedIndex(std::byte* memory, std::uint64_t positions, std::uint64_t cluster,
              bool from_the_beginning) noexcept
      : positions_(positions), cluster_(cluster), active_(from_the_beginning) {
    auto* at = reinterpret_cast<std::uint64_t*>(memory);
    std::uint64_t bits = (positions + cluster - 1) / cluster;
    for (;; bits = (bits + group - 1) / group) {
      level_[levels_++] = at;
      at += (bits + group - 1) / group * 8;
      if (bits <= group) return;
    }
  }

  // Whether choose() should be used instead of drawing until a mark is met.
  [[nodiscard]] bool wanted(std::uint64_t marked) const noexcept {
    return active_ != 0 || marked * 16 < positions_;
  }

  // To be called after a position was marked or unmarked. `marks(position)` tells,
  // `marks.count(first, end)` counts, `marks.select(first, rank)` finds the rank-th from `first`
  // on.
  template <class Marks>
  void mark(std::uint64_t position, std::uint64_t marked, const Marks& marks) noexcept {
    if (active_ == 0) return;
    if (marked * 8 > positions_) return stop();
    most_ = std::max(most_, marked);
    add(position, marks);
  }
  template <class Marks>
  void unmark(std::uint64_t position, std::uint64_t marked, const Marks& marks) noexcept {
    if (active_ == 0) return;
    // Half the marks are gone: peaks of a fuller time would reject too often. Below n/1024 they
    // are too low to matter, and a pass would cost too much.
    if (marked * 2 < most_ && marked * 1024 > positions_) {
      stop();
      return start(marked, marks);
    }
    position /= cluster_;
    if (count_marks(position, marks) != 0) return;
    for (unsigned l = 0; l < levels_; ++l, position /= group) {
      level_[l][position / 64] &= ~(std::uint64_t{1} << (position % 64));
      if (l + 1 == levels_ || count_bits(l, position / group) != 0) return;
    }
  }

  // A uniformly random marked position; there must be one.
  template <class Marks>
  std::uint64_t choose(Draws& draws, std::uint64_t marked, const Marks& marks) noexcept {
    if (active_ == 0) start(marked, marks);
    for (;;) {
      std::uint64_t at = 0;  // group of the top level
      bool accepted = true;
      for (unsigned l = levels_; l-- > 0 && accepted;) {
        const std::uint64_t count = count_bits(l, at);
        accepted = l + 1 == levels_ || draws.below(peak_[l + 1]) < count;
        if (accepted) at = at * group + select_bit(l, at, draws.below(count));  // (1) and (2)
      }
      if (!accepted) continue;
      const std::uint64_t count = count_marks(at, marks);
      if (draws.below(peak_[0]) < count) return marks.select(at * cluster_, draws.below(count));
    }
  }

  template <class F>
  void registers(F&& f) {
    f(active_), f(most_);
    for (std::uint64_t& peak : peak_) f(peak);
  }

  // Throws unless the index is what a pass over the positions would give; with a forged one
  // choose() might never end.
  template <class Marks>
  void verify(const Marks& marks) const {
    bool good = active_ <= 1 && most_ <= positions_;
    for (const std::uint64_t peak : peak_) good = good && peak <= (active_ == 1 ? group : 0);
    std::uint64_t bits = (positions_ + cluster_ - 1) / cluster_;
    for (unsigned l = 0; l < levels_; ++l, bits = (bits + group - 1) / group) {
      for (std::uint64_t i = 0; i < round_up(bits, group) && good; ++i) {
        const bool bit = level_[l][i / 64] >> (i % 64) & 1;
        std::uint64_t count = 0;
        if (active_ == 1 && i < bits) count = l == 0 ? count_marks(i, marks) : count_bits(l - 1, i);
        good = bit == (count != 0) && count <= peak_[l];
      }
    }
    if (active_ == 1) good = good && count_bits(levels_ - 1, 0) <= peak_[levels_];
    if (!good) throw Error(ErrorCode::BadState, "its index does not fit its cells");
  }

 private:
  template <class Marks>
  [[nodiscard]] std::uint64_t count_marks(std::uint64_t g, const Marks& marks) const noexcept {
    return marks.count(g * cluster_, std::min(positions_, (g + 1) * cluster_));
  }
  [[nodiscard]] std::uint64_t count_bits(unsigned l, std::uint64_t g) const noexcept {
    std::uint64_t n = 0;
    for (unsigned w = 0; w < 8; ++w)
      n += static_cast<unsigned>(std::popcount(level_[l][g * 8 + w]));
    return n;
  }
  [[nodiscard]] std::uint64_t select_bit(unsigned l, std::uint64_t g,
                                         std::uint64_t rank) const noexcept {
    for (unsigned w = 0;; ++w) {
      std::uint64_t word = level_[l][g * 8 + w];
      const auto ones = static_cast<unsigned>(std::popcount(word));
      if (rank >= ones) {
        rank -= ones;
        continue;
      }
      while (rank-- > 0) word &= word - 1;
      return w * 64 + static_cast<unsigned>(std::countr_zero(word));
    }
  }

  template <class Marks>
  void add(std::uint64_t position, const Marks& marks) noexcept {
    position /= cluster_;
    peak_[0] = std::max(peak_[0], count_marks(position, marks));
    for (unsigned l = 0; l < levels_; ++l, position /= group) {
      level_[l][position / 64] |= std::uint64_t{1} << (position % 64);
      peak_[l + 1] = std::max(peak_[l + 1], count_bits(l, position / group));
    }
  }
  template <class Marks>
  void start(std::uint64_t marked, const Marks& marks) noexcept {
    active_ = 1;
    most_ = marked;
    for (std::uint64_t g = 0; g * cluster_ < positions_; ++g)
      if (count_marks(g, marks) != 0) add(g * cluster_, marks);
  }
  void stop() noexcept {
    active_ = most_ = 0;
    std::memset(level_[0], 0, bytes(positions_, cluster_));
    for (std::uint64_t& peak : peak_) peak = 0;
  }

  std::uint64_t positions_, cluster_;
  std::uint64_t active_;
  std::uint64_t most_ = 0;  // marks since the last pass
  unsigned levels_ = 0;
  std::uint64_t* level_[max_levels] = {};
  std::uint64_t peak_[max_levels + 1] = {};
};

}  // namespace weir

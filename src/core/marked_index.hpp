// Finds a uniformly random marked position among n, also when marks are rare, in a constant number
// of cache lines.
//
// When at least one position in `rare` is marked, drawing until a mark is met is the way: at most
// `rare` draws are expected. Below that the index helps, a tree of counts: level 0 holds the marks
// of each cluster of positions (4096 bits, or 1024 cells) in 16 bits, each level above the sums of
// 32 counts below. The mark of a given rank is found by walking down from the top: (1) in each
// level pass over counts until the rank lies within one, (2) in the cluster count off the marks.
// With a random rank every mark is equally likely, and nothing is tried in vain. n = 2^36 positions
// have 5 levels. Several marks are found together, so that they wait for memory together.
//
// The tree is kept only while it is needed: it starts when marks are wanted and rarer than
// 1/rare (one pass over the positions, unless it was there from the beginning) and stops when they
// are more than 2/rare. Between two such passes lie n/rare changes, so a change costs O(1).
// Memory: 16 bits a cluster and a quarter more, 0.5 % of a bit array.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/memory.hpp"
#include "core/prefetch.hpp"
#include "weir/error.hpp"

namespace weir {

class MarkedIndex {
 public:
  static std::uint64_t bytes(std::uint64_t positions, std::uint64_t cluster) noexcept {
    std::uint64_t counts = clusters(positions, cluster);
    std::uint64_t sum = round_up(counts * sizeof(std::uint16_t), line_bytes);
    while (counts > fan) {
      counts = (counts + fan - 1) / fan;
      sum += round_up(counts * sizeof(std::uint64_t), line_bytes);
    }
    return sum;
  }

  MarkedIndex() = default;
  MarkedIndex(std::byte* memory, std::uint64_t positions, std::uint64_t cluster, std::uint64_t rare,
              bool from_the_beginning) noexcept
      : positions_(positions),
        cluster_(cluster),
        rare_(rare),
        active_(from_the_beginning),
        lowest_(reinterpret_cast<std::uint16_t*>(memory)) {
    std::uint64_t counts = clusters(positions, cluster);
    std::byte* at = memory + round_up(counts * sizeof(std::uint16_t), line_bytes);
    while (counts > fan) {
      counts = (counts + fan - 1) / fan;
      level_[levels_++] = reinterpret_cast<std::uint64_t*>(at);
      at += round_up(counts * sizeof(std::uint64_t), line_bytes);
    }
  }

  // Whether find() should be used instead of drawing until a mark is met.
  [[nodiscard]] bool wanted(std::uint64_t marked) const noexcept {
    return active_ != 0 || marked * rare_ < positions_;
  }

  // To be called after a position was marked or unmarked; `marked` is how many are now.
  void mark(std::uint64_t position, std::uint64_t marked) noexcept {
    if (active_ == 0) return;
    if (marked * rare_ > positions_ * 2) return stop();
    add(position / cluster_, 1);
  }
  void unmark(std::uint64_t position) noexcept {
    if (active_ != 0) add(position / cluster_, -1);
  }

  // Replaces ranks, each below the number of marks, by the positions of the marks. At most `most`
  // at once. `marks.count(first, end)` counts marks, `marks.select(first, end, rank)` finds the
  // rank-th, `marks.prefetch(first, end)` asks for their memory.
  static constexpr std::size_t most = 32;
  template <class Marks>
  void find(std::span<std::uint64_t> ranks, const Marks& marks) noexcept {
    if (active_ == 0) start(marks);
    std::uint64_t at[most] = {};
    for (std::size_t i = 0; i < ranks.size(); ++i) {  // (1)
      for (unsigned l = levels_; l-- > 0; at[i] *= fan)
        for (; ranks[i] >= level_[l][at[i]]; ++at[i]) ranks[i] -= level_[l][at[i]];
      prefetch_line(lowest_ + at[i]);
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      for (; ranks[i] >= lowest_[at[i]]; ++at[i]) ranks[i] -= lowest_[at[i]];
      marks.prefetch(at[i] * cluster_, cluster_end(at[i]));
    }
    for (std::size_t i = 0; i < ranks.size(); ++i)
      ranks[i] = marks.select(at[i] * cluster_, cluster_end(at[i]), ranks[i]);  // (2)
  }

  template <class F>
  void registers(F&& f) {
    f(active_);
  }

  // Throws unless the counts are those of the marks; with forged ones find() would run astray.
  template <class Marks>
  void verify(const Marks& marks) const {
    bool good = active_ <= 1;
    std::uint64_t counts = clusters(positions_, cluster_);
    for (std::uint64_t g = 0; g < round_up(counts, 32) && good; ++g)
      good = lowest_[g] == (active_ == 1 && g < counts ? count_marks(g, marks) : 0);
    for (unsigned l = 0; l < levels_ && good; ++l) {
      const std::uint64_t above = (counts + fan - 1) / fan;
      for (std::uint64_t g = 0; g < round_up(above, 8) && good; ++g) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = g * fan; i < std::min((g + 1) * fan, counts); ++i)
          sum += l == 0 ? lowest_[i] : level_[l - 1][i];
        good = level_[l][g] == sum;
      }
      counts = above;
    }
    if (!good) throw Error(ErrorCode::BadState, "its index does not fit its cells");
  }

 private:
  static constexpr std::uint64_t fan = 32;
  static constexpr unsigned max_levels = 8;

  static std::uint64_t clusters(std::uint64_t positions, std::uint64_t cluster) noexcept {
    return (positions + cluster - 1) / cluster;
  }
  [[nodiscard]] std::uint64_t cluster_end(std::uint64_t g) const noexcept {
    return std::min(positions_, (g + 1) * cluster_);
  }
  template <class Marks>
  [[nodiscard]] std::uint64_t count_marks(std::uint64_t g, const Marks& marks) const noexcept {
    return marks.count(g * cluster_, cluster_end(g));
  }
  void add(std::uint64_t g, std::int64_t change) noexcept {
    lowest_[g] = static_cast<std::uint16_t>(lowest_[g] + change);
    for (unsigned l = 0; l < levels_; ++l)
      level_[l][g /= fan] += static_cast<std::uint64_t>(change);
  }
  template <class Marks>
  void start(const Marks& marks) noexcept {
    active_ = 1;
    for (std::uint64_t g = 0; g < clusters(positions_, cluster_); ++g)
      if (const std::uint64_t count = count_marks(g, marks))
        add(g, static_cast<std::int64_t>(count));
  }
  void stop() noexcept {
    active_ = 0;
    std::memset(lowest_, 0, bytes(positions_, cluster_));
  }

  std::uint64_t positions_ = 0, cluster_ = 1, rare_ = 1;
  std::uint64_t active_ = 0;
  std::uint16_t* lowest_ = nullptr;
  std::uint64_t* level_[max_levels] = {};
  unsigned levels_ = 0;
};

}  // namespace weir

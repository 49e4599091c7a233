// The exact answer for keys that are numbers below a bound.
#pragma once

#include <algorithm>
#include <limits>

#include "core/prefetch.hpp"
#include "oracle.hpp"

namespace weir::lab {

inline constexpr std::size_t oracle_ahead = 16;
// Zeroed memory for numbers, resident as far as it is touched.
template <class T>
class Zeroed {
 public:
  explicit Zeroed(std::uint64_t count)
      : bytes_(round_up(std::max<std::uint64_t>(1, count) * sizeof(T), line_bytes)),
        block_(allocate_block(bytes_)) {}
  ~Zeroed() { free_block(block_, bytes_); }
  Zeroed(const Zeroed&) = delete;
  Zeroed& operator=(const Zeroed&) = delete;
  T& operator[](std::uint64_t i) noexcept { return reinterpret_cast<T*>(block_)[i]; }
  [[nodiscard]] std::span<T> all() noexcept {
    return {reinterpret_cast<T*>(block_), bytes_ / sizeof(T)};
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::uint64_t bytes_;
  std::byte* block_;
};

class Numbered final : public Oracle {
 public:
  explicit Numbered(std::uint64_t universe) : met_(universe / 64 + 1) {}
  void observe(std::span<const std::uint64_t> keys, std::span<std::uint8_t> first) override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i + oracle_ahead < keys.size()) prefetch_line(&met_[keys[i + oracle_ahead] / 64]);
      std::uint64_t& word = met_[keys[i] / 64];
      const std::uint64_t bit = std::uint64_t{1} << keys[i] % 64;
      first[i] = (word & bit) == 0 ? 1 : 0;
      word |= bit;
    }
  }
  [[nodiscard]] std::uint64_t bytes() const override { return met_.bytes(); }

 private:
  Zeroed<std::uint64_t> met_;
};

// The time of each key's last occurrence that counts, from 1 on; 0 is never. Before a short Time
// runs over all are counted anew; the window must be at most half of what Time can count.
template <class Time>
class NumberedWindow final : public Oracle {
 public:
  NumberedWindow(std::uint64_t universe, Window window) : window_(window), times_(universe) {}
  void observe(std::span<const std::uint64_t> keys, std::span<std::uint8_t> first) override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i + oracle_ahead < keys.size()) prefetch_line(&times_[keys[i + oracle_ahead]]);
      if (now_ == std::numeric_limits<Time>::max()) count_anew();
      ++now_;
      Time& time = times_[keys[i]];
      first[i] = time == 0 || std::uint64_t{now_} - time > window_.records ? 1 : 0;
      if (first[i] != 0 || window_.renewed) time = now_;
    }
  }
  [[nodiscard]] std::uint64_t bytes() const override { return times_.bytes(); }

 private:
  void count_anew() {
    const auto passed = static_cast<Time>(now_ - window_.records);  // what lies before is over
    for (Time& time : times_.all()) time = time > passed ? static_cast<Time>(time - passed) : 0;
    now_ = static_cast<Time>(now_ - passed);
  }

  Window window_;
  Time now_ = 0;
  Zeroed<Time> times_;
};

}  // namespace weir::lab

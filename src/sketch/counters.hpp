// An array of counters of 8, 16, 32 or 64 bits, and the few things sketches do with the
// counters of one key.
//
// Counters saturate. One that has reached its maximum says "at least that many": it is not
// raised further, and it is never lowered again, because nobody knows any more how far. So an
// estimate below the maximum keeps the sketch's promise, and an estimate equal to the maximum
// is a lower bound.
//
// Any bytes are valid counters: a forged state can lie, but not lead astray. The width is
// looked at once an operation, outside the loops.
#pragma once

#include <limits>
#include <span>

#include "core/prefetch.hpp"
#include "core/structure.hpp"

namespace weir {

enum class Width : std::uint8_t { Bits8, Bits16, Bits32, Bits64 };
inline constexpr const char* width_names[] = {"8", "16", "32", "64"};
constexpr std::uint64_t width_bytes(Width width) noexcept {
  return std::uint64_t{1} << static_cast<unsigned>(width);
}

template <class C>
constexpr C saturating_sum(C a, std::uint64_t b) noexcept {
  constexpr C most = std::numeric_limits<C>::max();
  return b > static_cast<std::uint64_t>(most - a) ? most : static_cast<C>(a + static_cast<C>(b));
}

class Counters {
  template <class F>
  auto typed(F&& f) const noexcept {
    switch (width_) {
      case Width::Bits8:
        return f(reinterpret_cast<std::uint8_t*>(memory_));
      case Width::Bits16:
        return f(reinterpret_cast<std::uint16_t*>(memory_));
      case Width::Bits32:
        return f(reinterpret_cast<std::uint32_t*>(memory_));
      default:
        return f(reinterpret_cast<std::uint64_t*>(memory_));
    }
  }

 public:
  using Positions = const std::uint64_t*;
  // The smallest of a key's counters, and whether more than one has that value.
  struct Least {
    std::uint64_t value;
    bool recurs;
  };

  Counters(std::byte* memory, std::uint64_t count, Width width) noexcept
      : memory_(memory), count_(count), width_(width) {}

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t max() const noexcept {
    return ~std::uint64_t{0} >> (64 - 8 * width_bytes(width_));
  }
  void prefetch(std::uint64_t i) const noexcept {
    prefetch_line(memory_ + (i << static_cast<unsigned>(width_)));
  }

  [[nodiscard]] std::uint64_t minimum(Positions at, unsigned k) const noexcept {
    return typed([&](const auto* c) -> std::uint64_t {
      auto least = c[at[0]];
      for (unsigned i = 1; i < k; ++i) least = std::min(least, c[at[i]]);
      return least;
    });
  }
  [[nodiscard]] Least least(Positions at, unsigned k) const noexcept {
    return typed([&](const auto* c) {
      Least least{c[at[0]], false};
      for (unsigned i = 1; i < k; ++i) {
        const std::uint64_t value = c[at[i]];
        least.recurs = (value == least.value) | (least.recurs & (value > least.value));
        least.value = std::min(least.value, value);
      }
      return least;
    });
  }

  // Adds `times` to each, and returns the least before. filled(i, was_zero) is told of the i-th.
  template <class Filled>
  std::uint64_t raise_all(Positions at, unsigned k, std::uint64_t times, Filled filled) noexcept {
    return typed([&](auto* c) -> std::uint64_t {
      auto least = c[at[0]];
      for (unsigned i = 0; i < k; ++i) {
        auto& counter = c[at[i]];
        least = std::min(least, counter);
        filled(i, counter == 0);
        counter = saturating_sum(counter, times);
      }
      return least;
    });
  }

  // Raises those that are below `goal` to it.
  template <class Filled>
  void raise_to(Positions at, unsigned k, std::uint64_t goal, Filled filled) noexcept {
    typed([&](auto* c) {
      using C = std::remove_pointer_t<decltype(c)>;
      constexpr std::uint64_t most = std::numeric_limits<C>::max();
      const auto reachable = static_cast<C>(std::min(goal, most));
      for (unsigned i = 0; i < k; ++i) {
        auto& counter = c[at[i]];
        filled(i, counter == 0 && goal != 0);
        counter = std::max(counter, reachable);
      }
    });
  }

  // Takes `times` from each, down to zero at most. emptied(i) is told when the i-th becomes zero.
  template <class Emptied>
  void lower_all(Positions at, unsigned k, std::uint64_t times, Emptied emptied) noexcept {
    typed([&](auto* c) {
      for (unsigned i = 0; i < k; ++i) {
        auto& counter = c[at[i]];
        using C = std::remove_reference_t<decltype(counter)>;
        if (counter == 0 || counter == std::numeric_limits<C>::max()) continue;
        counter = times >= counter ? C{0} : static_cast<C>(counter - times);
        if (counter == 0) emptied(i);
      }
    });
  }

  // Adds another array of the same size and width, counter by counter.
  void add(const Counters& other) noexcept {
    typed([&](auto* c) {
      const auto* const d = reinterpret_cast<decltype(c)>(other.memory_);
      for (std::uint64_t i = 0; i < count_; ++i) c[i] = saturating_sum(c[i], d[i]);
    });
  }

  // The sum of arrays of the same size and width, counter by counter, each array taken `weight`
  // times; the counters themselves may be among them. It fits when none falls below zero or exceeds
  // the maximum. One at its maximum stands for more than it says: its sum must be the maximum, too.
  using Parts = std::span<const Counters* const>;
  using Weights = std::span<const std::int64_t>;
  [[nodiscard]] bool sum_fits(Parts parts, Weights weights) const noexcept {
    bool fits = true;
    each_sum(parts, weights, [&](auto&, bool one_fits, std::uint64_t) { fits &= one_fits; });
    return fits;
  }
  void set_sum(Parts parts, Weights weights) noexcept {
    each_sum(parts, weights, [](auto& counter, bool, std::uint64_t sum) {
      counter = static_cast<std::remove_reference_t<decltype(counter)>>(sum);
    });
  }

  // How many of the counters [begin, end) are not zero.
  [[nodiscard]] std::uint64_t nonzero(std::uint64_t begin, std::uint64_t end) const noexcept {
    return typed([&](const auto* c) {
      std::uint64_t sum = 0;
      for (std::uint64_t i = begin; i < end; ++i) sum += c[i] != 0;
      return sum;
    });
  }

 private:
  template <class Use>
  void each_sum(Parts parts, Weights weights, Use use) const noexcept {
    typed([&](auto* c) {
      using C = std::remove_pointer_t<decltype(c)>;
      constexpr Int128 most = std::numeric_limits<C>::max();
      for (std::uint64_t i = 0; i < count_; ++i) {
        Int128 sum = 0;
        bool fits = true, saturated = false;
        for (std::size_t p = 0; p < parts.size(); ++p) {
          const Int128 value = reinterpret_cast<const C*>(parts[p]->memory_)[i];
          saturated |= value == most && weights[p] != 0;
          fits &= !__builtin_add_overflow(sum, value * weights[p], &sum);
        }
        fits = fits && sum >= 0 && sum <= most && (!saturated || sum == most);
        use(c[i], fits, fits ? static_cast<std::uint64_t>(sum) : 0);
      }
    });
  }

  std::byte* memory_;
  std::uint64_t count_;
  Width width_;
};

// What removing does to a key that cannot have come so often: refuse, nothing changed.
inline void require_added(std::uint64_t least, std::uint64_t most, std::uint64_t times) {
  if (least < times && least != most)
    throw Error(ErrorCode::Config, "the key came at most " + std::to_string(least) + " times; " +
                                       std::to_string(times) + " occurrences cannot be taken back");
}

}  // namespace weir

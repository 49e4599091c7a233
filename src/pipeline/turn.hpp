// Chunks are worked on side by side and must pass some places one after the other: a turn lets
// chunk n pass when all chunks before it have.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weir {

// Thrown out of a wait when another thread has failed; the first failure is what is told.
struct Abandoned {};

class Turn {
 public:
  // Returns when it is chunk n's turn.
  void wait(std::uint64_t n) const {
    for (int spin = 0; spin < 200; ++spin) {  // most waits are short
      if (arrived(now_.load(std::memory_order_acquire), n)) return;
#if defined(__SSE2__)
      _mm_pause();
#endif
    }
    for (;;) {
      const std::uint64_t now = now_.load(std::memory_order_acquire);
      if (arrived(now, n)) return;
      now_.wait(now, std::memory_order_acquire);
    }
  }
  void pass() noexcept {
    // Abandoned turns stay so.
    std::uint64_t now = now_.load(std::memory_order_relaxed);
    while (now != abandoned &&
           !now_.compare_exchange_weak(now, now + 1, std::memory_order_release)) {
    }
    now_.notify_all();
  }
  // Everybody who waits, now or later, gets Abandoned.
  void abandon() noexcept {
    now_.store(abandoned, std::memory_order_release);
    now_.notify_all();
  }

 private:
  static constexpr std::uint64_t abandoned = ~std::uint64_t{0};
  static bool arrived(std::uint64_t now, std::uint64_t n) {
    if (now == abandoned) throw Abandoned{};
    return now >= n;
  }
  std::atomic<std::uint64_t> now_{0};
};

}  // namespace weir

// Mixing, range reduction and the small generator: everything random derives from here.
//
// One 64-bit digest is enough for any number of probes: it starts a generator (the wyrand
// step: add an odd constant, multiply the 128-bit way, fold), and the j-th draw is the j-th
// probe. Random choices of a filter come from the same generator, started at the filter's
// seed and the ordinal of the record. So the draws of record i do not depend on how many
// draws earlier records needed: a batch can look ahead and prefetch what record i + 32 will
// touch, and still give what single calls give.
#pragma once

#include <cstdint>

namespace weir {

__extension__ using Uint128 = unsigned __int128;
__extension__ using Int128 = __int128;

inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) noexcept {
  return static_cast<std::uint64_t>((static_cast<Uint128>(a) * b) >> 64);
}

// 128-bit product, folded: every output bit depends on every input bit.
inline std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

// Uniform in [0, n) from a uniform 64-bit number (Lemire's multiply-shift; the bias is
// below n / 2^64).
inline std::uint64_t reduce(std::uint64_t uniform, std::uint64_t n) noexcept {
  return multiply_high(uniform, n);
}

class Draws {
 public:
  explicit Draws(std::uint64_t start) noexcept : state_(start) {}

  std::uint64_t next() noexcept {
    state_ += 0xa0761d6478bd642fULL;
    return fold_multiply(state_, state_ ^ 0xe7037ed1a0b428dbULL);
  }
  std::uint64_t below(std::uint64_t n) noexcept { return reduce(next(), n); }
  // Uniform in [0, 1), 53 bits.
  double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  return Draws(a ^ (b * 0x9e3779b97f4a7c15ULL)).next();
}

// The generator inside a filter. Its state is the key and the ordinal of the next record;
// both are saved with the filter.
class RecordRandom {
 public:
  explicit RecordRandom(std::uint64_t key) noexcept : key_(key) {}
  [[nodiscard]] Draws at(std::uint64_t ordinal) const noexcept { return Draws(mix(key_, ordinal)); }

 private:
  std::uint64_t key_;
};

}  // namespace weir

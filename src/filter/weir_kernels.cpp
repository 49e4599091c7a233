// The ways to compile the weir filter's line: portable, and with the bit instructions of AVX2
// machines (popcnt, tzcnt, lzcnt, pdep, pext); each for the usual shape and for any.
#include <cstring>

#include "core/bits.hpp"
#include "filter/weir_line.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weir {
namespace {

// What stands in a line from a bit on, at least 57 bits. A shape leaves room behind the remainders
// for it (Shape::check).
inline std::uint64_t get_word(const std::uint64_t* line, unsigned at) noexcept {
  std::uint64_t x;
  std::memcpy(&x, reinterpret_cast<const char*>(line) + at / 8, sizeof x);
  return x >> at % 8;
}
inline std::uint32_t get_remainder(const std::uint64_t* line, unsigned at, unsigned n) noexcept {
  return static_cast<std::uint32_t>(get_word(line, at) & ((std::uint64_t{1} << n) - 1));
}

// Of remainders side by side, the bits that stay when each is cut from one length to another.
struct KeptBits {
  std::uint64_t bits[weir_max_length + 1][weir_max_length][weir_line_bits / 64] = {};
  constexpr KeptBits() {
    for (unsigned from = 1; from <= weir_max_length; ++from)
      for (unsigned to = 1; to < from; ++to)
        for (unsigned i = 0; i < weir_line_bits; ++i)
          if (i % from >= from - to) bits[from][to][i / 64] |= std::uint64_t{1} << i % 64;
  }
};
[[maybe_unused]] constexpr KeptBits kept_of;

}  // namespace

namespace portable {
namespace {

inline unsigned count(std::uint64_t x) noexcept {
  return static_cast<unsigned>(__builtin_popcountll(x));
}
inline unsigned lowest(std::uint64_t x) noexcept {
  return static_cast<unsigned>(__builtin_ctzll(x));
}
inline unsigned width(std::uint64_t x) noexcept {
  return x == 0 ? 0 : 64 - static_cast<unsigned>(__builtin_clzll(x));
}
inline unsigned select(std::uint64_t x, unsigned k) noexcept {
  // Ones up to each byte, added up by one multiplication, tell the byte.
  std::uint64_t sums = x - (x >> 1 & 0x5555555555555555ULL);
  sums = (sums & 0x3333333333333333ULL) + (sums >> 2 & 0x3333333333333333ULL);
  sums = ((sums + (sums >> 4)) & 0x0f0f0f0f0f0f0f0fULL) * 0x0101010101010101ULL;
  unsigned byte = 0;
  while ((sums >> byte & 255) <= k) byte += 8;
  if (byte != 0) k -= static_cast<unsigned>(sums >> (byte - 8) & 255);
  for (x >>= byte; k != 0; --k) x &= x - 1;
  return byte + lowest(x);
}

inline std::uint64_t below(std::uint64_t x, unsigned i) noexcept {
  return x & ((std::uint64_t{1} << i) - 1);
}
inline unsigned count_before(std::uint64_t a, std::uint64_t b, unsigned i) noexcept {
  return i < 64 ? count(below(a, i)) : count(a) + count(below(b, i - 64));
}
inline std::uint64_t without(std::uint64_t x, unsigned i) noexcept {
  return below(x, i) | (x >> 1 & ~below(~std::uint64_t{0}, i));
}
inline std::uint64_t with(std::uint64_t x, unsigned i, bool b) noexcept {
  return below(x, i) | std::uint64_t{b} << i | (x & ~below(~std::uint64_t{0}, i)) << 1;
}

inline std::uint64_t from_bit(unsigned i) noexcept { return ~std::uint64_t{0} << (i & 63); }
inline std::uint64_t up_to_bit(unsigned i) noexcept { return ~std::uint64_t{0} >> (63 - (i & 63)); }

// The bits [from, to) of the line go up by `by`, 1 to 32; what they leave behind is garbage.
inline void move_up(std::uint64_t* line, unsigned from, unsigned to, unsigned by) noexcept {
  if (from == to) return;
  const unsigned first = (from + by) / 64, last = (to + by - 1) / 64;
  std::uint64_t mask = up_to_bit(to + by - 1);
  for (unsigned w = last;; --w) {
    const std::uint64_t moved = line[w] << by | (w > 0 ? line[w - 1] >> (64 - by) : 0);
    if (w == first) mask &= from_bit(from + by);
    line[w] = (line[w] & ~mask) | (moved & mask);
    if (w == first) return;
    mask = ~std::uint64_t{0};
  }
}
inline void move_down(std::uint64_t* line, unsigned from, unsigned to, unsigned by) noexcept {
  if (from == to) return;
  const unsigned first = (from - by) / 64, last = (to - by - 1) / 64;
  std::uint64_t mask = from_bit(from - by);
  for (unsigned w = first;; ++w) {
    const std::uint64_t moved = line[w] >> by | (w < 7 ? line[w + 1] << (64 - by) : 0);
    if (w == last) mask &= up_to_bit(to - by - 1);
    line[w] = (line[w] & ~mask) | (moved & mask);
    if (w == last) return;
    mask = ~std::uint64_t{0};
  }
}

inline void put_value(std::uint64_t* line, unsigned at, unsigned length,
                      std::uint64_t value) noexcept {
  const unsigned word = at / 64, shift = at % 64;
  const std::uint64_t mask = (std::uint64_t{1} << length) - 1;
  line[word] = (line[word] & ~(mask << shift)) | value << shift;
  if (shift + length > 64)
    line[word + 1] = (line[word + 1] & ~(mask >> (64 - shift))) | value >> (64 - shift);
}

// The slots between `to` and the free slot `gap`, of `length` bits each, make place at `to`, which
// takes the value.
inline void move_slots(std::uint64_t* line, unsigned length, unsigned to, unsigned gap,
                       std::uint64_t value) noexcept {
  if (to <= gap)
    move_up(line, to * length, gap * length, length);
  else
    move_down(line, (gap + 1) * length, (to + 1) * length, length);
  put_value(line, to * length, length, value);
}

// Cuts the lowest bits off the remainders, so that one more has room; what is left free is zero.
inline void shorten(std::uint64_t* line, unsigned used, unsigned from, unsigned to) noexcept {
  for (unsigned i = 0; i < used; ++i)
    put_value(line, i * to, to, get_remainder(line, i * from, from) >> (from - to));
  for (unsigned at = used * to, n; at < used * from; at += n) {
    n = used * from - at < 32 ? used * from - at : 32;
    put_value(line, at, n, 0);
  }
}

#include "filter/weir_shapes.inc"

}  // namespace
}  // namespace portable

#if defined(__x86_64__)
#define WEIR_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), \
                                 apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif
namespace avx2 {
namespace {

inline unsigned count(std::uint64_t x) noexcept {
  return static_cast<unsigned>(__builtin_popcountll(x));
}
inline unsigned lowest(std::uint64_t x) noexcept { return static_cast<unsigned>(_tzcnt_u64(x)); }
inline unsigned width(std::uint64_t x) noexcept {
  return 64 - static_cast<unsigned>(_lzcnt_u64(x));
}
inline unsigned select(std::uint64_t x, unsigned k) noexcept {
  return lowest(_pdep_u64(std::uint64_t{1} << k, x));
}
inline std::uint64_t below(std::uint64_t x, unsigned i) noexcept { return _bzhi_u64(x, i); }
inline unsigned count_before(std::uint64_t a, std::uint64_t b, unsigned i) noexcept {
  return count(_bzhi_u64(a, i)) + count(_bzhi_u64(b, i & 63) & (0 - std::uint64_t{i >> 6}));
}
inline std::uint64_t without(std::uint64_t x, unsigned i) noexcept {
  return _pext_u64(x, ~(std::uint64_t{1} << i));
}
inline std::uint64_t with(std::uint64_t x, unsigned i, bool b) noexcept {
  return _pdep_u64(x, ~(std::uint64_t{1} << i)) | std::uint64_t{b} << i;
}

// The bits from bit i of the line on, of the four words from word w on.
inline __m256i from_bit(unsigned i, int w) noexcept {
  const __m256i starts = _mm256_setr_epi64x(w * 64, w * 64 + 64, w * 64 + 128, w * 64 + 192);
  const __m256i within = _mm256_sub_epi32(_mm256_set1_epi64x(i), starts);
  return _mm256_sllv_epi64(_mm256_set1_epi64x(-1),
                           _mm256_max_epi32(within, _mm256_setzero_si256()));
}
// The value at bit i of the line, in the four words from word w on.
inline __m256i value_at(std::uint64_t value, unsigned i, int w) noexcept {
  const __m256i starts = _mm256_setr_epi64x(w * 64, w * 64 + 64, w * 64 + 128, w * 64 + 192);
  const __m256i at = _mm256_set1_epi64x(i), v = _mm256_set1_epi64x(static_cast<long long>(value));
  // Counts of 64 and more, and negative ones, shift everything out.
  return _mm256_or_si256(_mm256_sllv_epi64(v, _mm256_sub_epi64(at, starts)),
                         _mm256_srlv_epi64(v, _mm256_sub_epi64(starts, at)));
}

// The slots between `to` and the free slot `gap`, of `length` bits each, make place at `to`, which
// takes the value. The whole line is moved by a slot and a mask takes what is wanted: cheaper
// than branches on where the slots lie.
inline void move_slots(std::uint64_t* line, unsigned length, unsigned to, unsigned gap,
                       std::uint64_t value) noexcept {
  const unsigned here = to * length, there = gap * length;
  const unsigned up = 0 - unsigned{to <= gap};  // all ones or none
  const unsigned first = (here & up) | (there & ~up), end = here + there - first + length;
  // A shift by 64 gives nothing: of the two directions one is left.
  const auto shift = [](unsigned n) { return _mm_cvtsi32_si128(static_cast<int>(n)); };
  const __m128i left = shift((length & up) | (64 & ~up)), right = shift((64 & up) | (length & ~up));
  const __m128i from_before = shift(64 - (length & up)), from_after = shift(64 - (length & ~up));
  const __m256i a = _mm256_load_si256(reinterpret_cast<const __m256i*>(line));
  const __m256i b = _mm256_load_si256(reinterpret_cast<const __m256i*>(line) + 1);
  const __m256i moving_a = _mm256_andnot_si256(from_bit(end, 0), from_bit(first, 0));
  const __m256i moving_b = _mm256_andnot_si256(from_bit(end, 4), from_bit(first, 4));
  const __m256i x = _mm256_and_si256(a, moving_a), y = _mm256_and_si256(b, moving_b);
  // The words before and after each; before the first there is nothing, and what comes in after
  // the last is masked away.
  const __m256i x_down = _mm256_permute4x64_epi64(x, 0x39),
                y_down = _mm256_permute4x64_epi64(y, 0x39);
  const __m256i x_up = _mm256_permute4x64_epi64(x, 0x93), y_up = _mm256_permute4x64_epi64(y, 0x93);
  const __m256i x_before = _mm256_blend_epi32(x_up, _mm256_setzero_si256(), 0x03);
  const __m256i x_after = _mm256_blend_epi32(x_down, y_down, 0xc0);
  const __m256i y_before = _mm256_blend_epi32(y_up, x_up, 0x03);
  const auto result = [&](__m256i old, __m256i moving, __m256i z, __m256i before, __m256i after,
                          int w) WEIR_AVX2 {
    const __m256i own = _mm256_or_si256(_mm256_sll_epi64(z, left), _mm256_srl_epi64(z, right));
    const __m256i others =
        _mm256_or_si256(_mm256_srl_epi64(before, from_before), _mm256_sll_epi64(after, from_after));
    const __m256i moved = _mm256_and_si256(_mm256_or_si256(own, others), moving);
    return _mm256_or_si256(_mm256_or_si256(_mm256_andnot_si256(moving, old), moved),
                           value_at(value, here, w));
  };
  _mm256_store_si256(reinterpret_cast<__m256i*>(line),
                     result(a, moving_a, x, x_before, x_after, 0));
  _mm256_store_si256(reinterpret_cast<__m256i*>(line) + 1,
                     result(b, moving_b, y, y_before, y_down, 4));
}

// Cuts the lowest bits off the remainders, 64 bits in a step.
inline void shorten(std::uint64_t* line, unsigned used, unsigned from, unsigned to) noexcept {
  unsigned word = 0, filled = 0;  // what is written next, and how full it is
  std::uint64_t pending = 0;
  const unsigned bits = used * from;
  const std::uint64_t* const kept_bits = kept_of.bits[from][to];
  for (unsigned w = 0; w * 64 < bits; ++w) {
    const std::uint64_t here =
        bits - w * 64 < 64 ? below(~std::uint64_t{0}, bits - w * 64) : ~std::uint64_t{0};
    const std::uint64_t keep = here & kept_bits[w];
    const std::uint64_t kept = _pext_u64(line[w], keep), behind = line[w] & ~here;
    const unsigned more = count(keep);
    line[w] = behind;
    pending |= kept << filled;
    if (filled + more >= 64) {
      line[word++] |= pending;
      pending = filled != 0 ? kept >> (64 - filled) : 0;
      filled += more - 64;
    } else {
      filled += more;
    }
  }
  line[word] |= pending;
}

#include "filter/weir_shapes.inc"

}  // namespace
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#undef WEIR_AVX2
#endif

WeirKernel weir_kernel(const WeirLayout& layout, Kernel kernel) noexcept {
  const bool usual = layout.is_usual();
#if defined(__x86_64__)
  if (kernel != Kernel::Scalar && __builtin_cpu_supports("bmi2") != 0) {
    if (usual)
      return {avx2::usual::observe, avx2::usual::contains, avx2::usual::look,
              avx2::usual::is_sound};
    return {avx2::general::observe, avx2::general::contains, avx2::general::look,
            avx2::general::is_sound};
  }
#endif
  static_cast<void>(kernel);
  if (usual)
    return {portable::usual::observe, portable::usual::contains, portable::usual::look,
            portable::usual::is_sound};
  return {portable::general::observe, portable::general::contains, portable::general::look,
          portable::general::is_sound};
}

}  // namespace weir

#include "filter/blocked_bloom_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weir::kernels {

void observe_scalar(const Target* targets, std::size_t count, unsigned k, Verdict* out) noexcept {
  for (std::size_t n = 0; n < count; ++n) {
    std::uint64_t* const line = targets[n].line;
    const auto start = static_cast<unsigned>(targets[n].bits >> 61);
    std::uint64_t missing = 0;
    std::uint64_t fields = targets[n].bits;
    for (unsigned i = 0; i < k; ++i, fields >>= 6) {
      if (i == 8) fields = second_bits(targets[n].bits);
      std::uint64_t& lane = line[(start + i) & 7];
      const std::uint64_t bit = std::uint64_t{1} << (fields & 63);  // (1)
      missing |= ~lane & bit;                                       // (2)
      lane |= bit;                                                  // (3)
    }
    out[n] = missing == 0 ? Verdict::Seen : Verdict::New;
  }
}

#if defined(__x86_64__)

__attribute__((target("avx512f"))) void observe_avx512(const Target* targets, std::size_t count,
                                                       unsigned k, Verdict* out) noexcept {
  const __m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i seven = _mm512_set1_epi64(7), one = _mm512_set1_epi64(1);
  const __m512i low6 = _mm512_set1_epi64(63), six = _mm512_set1_epi64(6);
  const __m512i probes = _mm512_set1_epi64(k);
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint64_t bits = targets[n].bits;
    // Which probe meets a lane: (lane - start) mod 8.
    const __m512i probe = _mm512_and_si512(
        _mm512_sub_epi64(lanes, _mm512_set1_epi64(static_cast<long long>(bits >> 61))), seven);
    const __m512i shift = _mm512_mul_epu32(probe, six);
    const auto bit_of = [&](std::uint64_t fields) __attribute__((target("avx512f"))) {
      const __m512i field = _mm512_and_si512(
          _mm512_srlv_epi64(_mm512_set1_epi64(static_cast<long long>(fields)), shift), low6);
      return _mm512_sllv_epi64(one, field);
    };
    __m512i mask =
        _mm512_maskz_mov_epi64(_mm512_cmplt_epi64_mask(probe, probes), bit_of(bits));  // (1)
    if (k > 8) {
      const __m512i eight = _mm512_set1_epi64(8);
      const __mmask8 twice = _mm512_cmplt_epi64_mask(_mm512_add_epi64(probe, eight), probes);
      mask = _mm512_or_si512(mask, _mm512_maskz_mov_epi64(twice, bit_of(second_bits(bits))));
    }
    const __m512i line = _mm512_load_si512(targets[n].line);
    const __m512i missing = _mm512_andnot_si512(line, mask);  // (2)
    out[n] = _mm512_test_epi64_mask(missing, missing) == 0 ? Verdict::Seen : Verdict::New;
    _mm512_store_si512(targets[n].line, _mm512_or_si512(line, mask));  // (3)
  }
}

__attribute__((target("avx2"))) void observe_avx2(const Target* targets, std::size_t count,
                                                  unsigned k, Verdict* out) noexcept {
  const __m256i seven = _mm256_set1_epi64x(7), one = _mm256_set1_epi64x(1);
  const __m256i low6 = _mm256_set1_epi64x(63), six = _mm256_set1_epi64x(6);
  const __m256i probes = _mm256_set1_epi64x(k), eight = _mm256_set1_epi64x(8);
  const __m256i half_lanes[2] = {_mm256_set_epi64x(3, 2, 1, 0), _mm256_set_epi64x(7, 6, 5, 4)};
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint64_t bits = targets[n].bits;
    const std::uint64_t more = k > 8 ? second_bits(bits) : 0;
    const __m256i start = _mm256_set1_epi64x(static_cast<long long>(bits >> 61));
    __m256i missing = _mm256_setzero_si256();
    for (int half = 0; half < 2; ++half) {
      const __m256i probe = _mm256_and_si256(_mm256_sub_epi64(half_lanes[half], start), seven);
      const __m256i shift = _mm256_mul_epu32(probe, six);
      const auto bit_of = [&](std::uint64_t fields) __attribute__((target("avx2"))) {
        const __m256i field = _mm256_and_si256(
            _mm256_srlv_epi64(_mm256_set1_epi64x(static_cast<long long>(fields)), shift), low6);
        return _mm256_sllv_epi64(one, field);
      };
      __m256i mask = _mm256_and_si256(_mm256_cmpgt_epi64(probes, probe), bit_of(bits));  // (1)
      const __m256i twice = _mm256_cmpgt_epi64(probes, _mm256_add_epi64(probe, eight));
      mask = _mm256_or_si256(mask, _mm256_and_si256(twice, bit_of(more)));
      auto* const at = reinterpret_cast<__m256i*>(targets[n].line) + half;
      const __m256i line = _mm256_load_si256(at);
      missing = _mm256_or_si256(missing, _mm256_andnot_si256(line, mask));  // (2)
      _mm256_store_si256(at, _mm256_or_si256(line, mask));                  // (3)
    }
    out[n] = _mm256_testz_si256(missing, missing) != 0 ? Verdict::Seen : Verdict::New;
  }
}

#else

void observe_avx2(const Target* t, std::size_t n, unsigned k, Verdict* out) noexcept {
  observe_scalar(t, n, k, out);
}
void observe_avx512(const Target* t, std::size_t n, unsigned k, Verdict* out) noexcept {
  observe_scalar(t, n, k, out);
}

#endif

}  // namespace weir::kernels

// Where does a byte stand? 64 bytes at a time, as a bit mask.
//
// The baseline of this project has SSE2 on x86-64, so that there is one kernel only; other
// machines take the plain loop, which compilers vectorise.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weir {

// Bytes that may be read behind the last one of a buffer that is searched.
inline constexpr std::size_t search_padding = 64;

// Bit i is set where at[i] == byte. Reads 64 bytes.
inline std::uint64_t places_of(char byte, const char* at) noexcept {
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi8(byte);
  const auto places = [&](int part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + part);
    return static_cast<std::uint64_t>(
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted))));
  };
  return places(0) | places(1) << 16 | places(2) << 32 | places(3) << 48;
#else
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < 64; ++i) mask |= std::uint64_t{at[i] == byte} << i;
  return mask;
#endif
}

// The first `bits` bits of a mask; 64 and more keep it whole.
inline std::uint64_t first_places(std::uint64_t mask, std::size_t bits) noexcept {
  return bits >= 64 ? mask : mask & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace weir

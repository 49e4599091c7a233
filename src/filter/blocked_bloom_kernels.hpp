// The three ways to test and set a line; see blocked_bloom.hpp. Proven equal in the laws.
#pragma once

#include "filter/blocked_bloom.hpp"

namespace weir::kernels {

// The probes beyond the eighth take their bits from here.
inline std::uint64_t second_bits(std::uint64_t bits) noexcept {
  return fold_multiply(bits, 0x1d8e4e27c47d124fULL);
}

using Target = BlockedBloom::Target;
void observe_scalar(const Target* targets, std::size_t count, unsigned k, Verdict* out) noexcept;
void observe_avx2(const Target* targets, std::size_t count, unsigned k, Verdict* out) noexcept;
void observe_avx512(const Target* targets, std::size_t count, unsigned k, Verdict* out) noexcept;

}  // namespace weir::kernels

// BSBFSD: BSBF with single deletion (Bera, Dutta, Narang, Bhattacherjee, 2012).
//
//   k Bloom filters of s = M/k bits, one bit a key in each. For every record:
//   (1) Seen iff its k bits are all set; then nothing changes
//   (2) else in one uniformly chosen filter reset one uniformly chosen bit
//   (3) and in each filter set the record's
//   The steps stand in filter/biased_bits.hpp, which BSBF and RLBSBF share.
//
// Guarantee: memory, and nothing about the FPR. A record sets up to k bits and resets one at most,
// so the filters lose less than they gain at every fill below 1: the share of zeros falls for ever,
// as 2s / ((k + 1) i) after i new records, and the FPR rises to 100 %. No k prevents it; the
// default is BSBF's for the requested FPR, which holds as long as half of the bits are zero, for
// about three quarters of s new records.
// Predicted: plan/look_back.hpp. Measured on the stream of RSBF's Table 2 (100,000 records over
// 173,463 keys, 65,536 bits, three seeds): k = 4: FNR 26.9 %, FPR 36.7 % where 27.0 % and 36.7 %
// were predicted. No k comes near 8 % there; the lowest FPR has k = 2: FNR 22.9 %, FPR 31.5 % where
// 22.8 % and 31.6 % were predicted. With four times the memory k = 4 has 22.0 % and 4.66 %.
// Stops working: on any stream with many more new keys than s. In 100 KiB with k = 6 the FPR stands
// at 99 % after 20 million records (98.66 % measured, 98.65 % predicted).
#pragma once

#include "filter/bsbf.hpp"

namespace weir {

struct BsbfsdPolicy {
  static FilterRange losing(Draws& draws, unsigned k) noexcept {
    const auto one = static_cast<unsigned>(draws.below(k));
    return {one, one + 1};
  }
  static bool loses(Draws&, std::uint64_t, std::uint64_t) noexcept { return true; }
  static double losses(double /*fill*/, unsigned k) { return 1.0 / k; }
  static constexpr BiasedLosses bounded_by = BsbfPolicy::losses;  // its own bound nothing
  static const StructureInfo& info() noexcept;
};
using Bsbfsd = BiasedBits<BsbfsdPolicy>;

}  // namespace weir

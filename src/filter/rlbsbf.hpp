// RLBSBF: randomised load balanced BSBF (Bera, Dutta, Narang, Bhattacherjee, 2012).
//
//   k Bloom filters of s = M/k bits, one bit a key in each. For every record:
//   (1) Seen iff its k bits are all set; then nothing changes
//   (2) else in each filter, with probability (its bits that are 1) / s, reset one uniformly
//       chosen bit: the fuller, the more it loses
//   (3) and set the record's
//   The steps stand in filter/biased_bits.hpp, which BSBF and BSBFSD share.
//
// Guarantee: the FPR never exceeds the requested one, however long the stream: the fill settles
// where fill^2 + fill^3 + ... + fill^(k+1) = 1, near 0.62, and k is the smallest that keeps
// fill^k <= FPR: 6 for 8 %, 10 for 1 %, 15 for 0.1 %. One filter alone fills up (k = 1, FPR 100 %),
// two have 57 %. Below 9e-11 (k = 48) the FPR stays there.
// Predicted: plan/look_back.hpp. Measured on the stream of RSBF's Table 2 (100,000 records over
// 173,463 keys, 65,536 bits, three seeds): k = 5: FNR 78.7 %, FPR 8.01 % where 78.7 % and 8.01 %
// were predicted; k = 6, which keeps 8 % on longer streams: FNR 85.7 %, FPR 4.87 % where 85.6 %
// and 4.88 %. RSBF shows FNR 74.7 % at FPR 8.3 %, the stable Bloom filter 74.1 % at 8.2 %.
// Stops working: a bit lives longer than in BSBF, but the filters are fuller, so a key needs half
// as many bits again for the same FPR, and it dies with any one of them.
#pragma once

#include "filter/biased_bits.hpp"

namespace weir {

struct RlbsbfPolicy {
  static FilterRange losing(Draws&, unsigned k) noexcept { return {0, k}; }
  static bool loses(Draws& draws, std::uint64_t ones, std::uint64_t s) noexcept {
    return draws.below(s) < ones;
  }
  static double losses(double fill, unsigned /*k*/) { return fill; }
  static constexpr BiasedLosses bounded_by = losses;
  static const StructureInfo& info() noexcept;
};
using Rlbsbf = BiasedBits<RlbsbfPolicy>;

}  // namespace weir

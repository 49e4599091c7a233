// BSBF: biased sampling based Bloom filter (Bera, Dutta, Narang, Bhattacherjee, 2012).
//
//   k Bloom filters of s = M/k bits, one bit a key in each. For every record:
//   (1) Seen iff its k bits are all set; then nothing changes
//   (2) else in each filter reset one uniformly chosen bit
//   (3) and set the record's
//   The steps stand in filter/biased_bits.hpp, which BSBFSD and RLBSBF share.
//
// Guarantee: the FPR never exceeds the requested one, however long the stream: the fill settles
// where fill + fill^2 + ... + fill^k = 1, near a half, and k is the smallest with fill^k <= FPR:
// 4 for 8 %, 7 for 1 %, 10 for 0.1 %. One filter alone fills up (k = 1, FPR 100 %), two have 38 %.
// Below 4e-15 (k = 48) the FPR stays there.
// Predicted: plan/look_back.hpp. Measured on the stream of RSBF's Table 2 (100,000 records over
// 173,463 keys, 65,536 bits, three seeds): k = 4: FNR 82.8 %, FPR 5.28 % where 82.7 % and 5.27 %
// were predicted; k = 3: FNR 69.2 %, FPR 10.8 % where 69.3 % and 10.8 %. RSBF and the stable Bloom
// filter stand between at 8.3 % and 74.7 %, 8.2 % and 74.1 %.
// Stops working: of the few k there is no FPR between (38, 16, 7, 3.4, 1.6 %, ...), and a key dies
// with any one of its k bits, after about s/k new records; repeats further apart are missed.
#pragma once

#include "filter/biased_bits.hpp"

namespace weir {

struct BsbfPolicy {
  static FilterRange losing(Draws&, unsigned k) noexcept { return {0, k}; }
  static bool loses(Draws&, std::uint64_t, std::uint64_t) noexcept { return true; }
  static double losses(double /*fill*/, unsigned /*k*/) { return 1; }
  static constexpr BiasedLosses bounded_by = losses;
  static const StructureInfo& info() noexcept;
};
using Bsbf = BiasedBits<BsbfPolicy>;

}  // namespace weir

// What the weir filter shows on a uniform stream, on the way and in the steady state; for streams
// by popularity or distance, the FPR as here and the FNR of plan/weir_cache.hpp.
//
// A line serves about U/lines keys of the universe, and the number D of those that came by time
// t is Poisson with mean (U/lines)(1 - exp(-t/U)). Given D:
//   - u(D), the slots in use, grows by 1 - f(u) with every new key, f(u) = u / (B 2^r(u)) being
//     the chance that it meets a fingerprint already there. While u < n nothing is missed.
//   - with u = n the line is a cache of n of the fingerprints that came. Keys with the same
//     fingerprint are one to the line: N_m fingerprints have m keys, m Poisson with mean
//     D / (B 2^r), and are met m times as often. The hand comes round in T (in units of one
//     key's mean distance). A fingerprint that enters is held for a mean time H_m
//     (plan/weir_hand.hpp), so it is held with probability H_m / (H_m + 1/m). T is such that the
//     expected number held is n.
#pragma once

#include <vector>

#include "filter/weir_line.hpp"
#include "weir/plan.hpp"

namespace weir {

struct WeirModel {
  double lines;
  WeirLayout layout;
  std::vector<double> entering;  // share of keys that begin at age 0, 1, ..., 2^a - 1
};

Prediction predict_weir(const WeirModel& model, const StreamModel& stream);

// Lines such that a share of at most 1e-4 of so many keys finds its line full.
std::uint64_t weir_lines_for(double keys, double slots);

}  // namespace weir

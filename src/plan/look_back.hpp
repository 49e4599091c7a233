// What k filters of s bits show on a uniform stream, on the way and in the steady state, where keys
// set one bit a filter and forgetting resets bits (RSBF, BSBF, BSBFSD, RLBSBF).
//
// A bit of a filter dies (is reset) at a rate delta(t) and is renewed whenever one of its keys
// comes and the luck of that record lets it in (probability sigma(t)); all these filters remember
// a record whose bit is 0, because it always looks new. So a bit is 1 iff it did not die since the
// last lucky record of its keys. Looking back tau records, with D = integral of delta and
// S = integral of sigma/U,
//   Z(t, tau) = integral over the last death within tau of exp(-D) exp(-lambda (1 - exp(-S))) dD
// is the chance that a bit died within tau and no other key renewed it since (lambda = U/s
// keys a bit). From Z follow, for k independent filters,
//   FPR(t) = (1 - Z_never)^k,   Z_never = Z(t, t) + chance of never renewed and never dead
//   FNR(t) = mean of 1 - (1 - Z(t, tau))^k over the age tau of the key's own last lucky record
// and the rate of death, which depends on them. They are solved together, forward in t.
#pragma once

#include <functional>

#include "weir/plan.hpp"

namespace weir {

// What the next record meets.
struct LookBackMoment {
  double t;
  double own_zero;   // chance that its bit in a filter is 0
  double looks_new;  // chance that one of its k bits is
  double fill;       // share of bits that are 1
};

struct LookBackModel {
  double s;
  unsigned k;
  std::function<double(double t)> luck;                         // sigma
  std::function<double(const LookBackMoment& now)> death_rate;  // delta
};

Prediction predict_by_look_back(const LookBackModel& model, const StreamModel& stream);

}  // namespace weir

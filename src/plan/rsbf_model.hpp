// What RSBF shows on a uniform stream, on the way and in the steady state.
//
// A bit of a filter dies (is reset) at a rate delta(t) and is renewed whenever one of its keys
// comes and the luck of that record, r alone, lets it in (probability sigma(t)): a record whose
// bit is 0 always looks new. So a bit is 1 iff it did not die since the last lucky record of its
// keys. Looking back tau records, with D = integral of delta and S = integral of sigma/U,
//   Z(t, tau) = integral over the last death within tau of exp(-D) exp(-lambda (1 - exp(-S))) dD
// is the chance that a bit died within tau and no other key renewed it since (lambda = U/s
// keys a bit). From Z follow, for k independent filters,
//   FPR(t) = (1 - Z_never)^k,   Z_never = Z(t, t) + chance of never renewed and never dead
//   FNR(t) = mean of 1 - (1 - Z(t, tau))^k over the age tau of the key's own last lucky record
// and the rates of resetting, which depend on them: in mode `tables` delta = alpha/s + beta P(own
// bit is 0) / ones, in mode `text` delta = P(inserted)/s. They are solved together, forward in t.
#pragma once

#include "weir/plan.hpp"

namespace weir {

struct RsbfModel {
  double s;
  unsigned k;
  bool text;
  double pstar;
};

Prediction predict_rsbf(const RsbfModel& model, const StreamModel& stream);

}  // namespace weir

// What RSBF shows on a uniform stream, on the way and in the steady state: plan/look_back.hpp with
// the rates of RSBF. Its luck is r alone. In mode `tables` bits die at the rate
// alpha/s + beta P(own bit is 0) / ones, alpha and beta the chances of steps (2) and (3); in mode
// `text` at P(inserted)/s.
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

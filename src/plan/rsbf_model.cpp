#include "plan/rsbf_model.hpp"

#include <algorithm>

#include "plan/look_back.hpp"

namespace weir {

Prediction predict_rsbf(const RsbfModel& model, const StreamModel& stream) {
  const double s = model.s, pstar = model.pstar;
  const auto insert = [s](double t) { return t <= s ? 1 : s / t; };
  // The chance that a record's luck renews its zero bit.
  const auto luck = [=, text = model.text](double t) {
    const double alpha = insert(t);
    if (text) return alpha < pstar ? 1 : alpha;
    return alpha + 1 - std::max(alpha, pstar);
  };
  const auto dies_as_in_the_text = [=](const LookBackMoment& now) {
    if (now.t <= s) return 0.0;
    const double alpha = insert(now.t);
    return (alpha < pstar ? alpha + (1 - alpha) * now.looks_new : alpha) / s;
  };
  const auto dies_as_in_the_tables = [=](const LookBackMoment& now) {
    const double alpha = insert(now.t), beta = 1 - std::max(alpha, pstar);
    return alpha / s + (beta > 0 ? beta * now.own_zero / (std::max(now.fill, 1e-12) * s) : 0);
  };
  LookBackModel look_back{s, model.k, luck, dies_as_in_the_tables};
  if (model.text) look_back.death_rate = dies_as_in_the_text;
  return predict_by_look_back(look_back, stream);
}

}  // namespace weir

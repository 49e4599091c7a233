#include "filter/biased_bits.hpp"

#include "plan/look_back.hpp"

namespace weir {

void BiasedShape::check() const {
  if (k > M)
    throw Error(ErrorCode::Config,
                "a biased sampling Bloom filter needs at least one bit a filter: M >= k");
}

double biased_steady_fill(unsigned k, BiasedLosses losses) {
  // What is lost for a bit that is gained; it grows with the fill.
  const auto lost = [&](double fill) {
    double sum = 0, power = fill;
    for (unsigned j = 0; j < k; ++j, power *= fill) sum += power;
    return losses(fill, k) * sum;
  };
  if (lost(1) <= 1) return 1;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (lost(middle) < 1 ? low : high) = middle;
  }
  return high;
}

void complete_biased(const char* name, Params& params, const Request& request, std::uint64_t bytes,
                     BiasedLosses losses) {
  unsigned k = 1;
  while (k < biased_max_k && std::pow(biased_steady_fill(k, losses), k) > request.fpr) ++k;
  params.fill("k", std::uint64_t{k});
  if (params.has("M")) return;
  if (bytes == 0)
    throw Error(ErrorCode::Config, std::string(name) + " needs a size: give the memory or M");
  params.fill("M", bytes * 8);
}

Prediction predict_biased(const BiasedShape& shape, const StreamModel& stream,
                          BiasedLosses losses) {
  const auto s = static_cast<double>(shape.s());
  return predict_by_look_back(
      {s, shape.k, [](double) { return 1.0; },
       [&](const LookBackMoment& now) { return now.looks_new * losses(now.fill, shape.k) / s; }},
      stream);
}

}  // namespace weir

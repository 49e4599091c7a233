#include "plan/a2_model.hpp"

#include <algorithm>
#include <cmath>

#include "plan/generation_model.hpp"

namespace weir {
namespace {

double fill_of(unsigned k, double keys, double m) {
  return m > 1 ? -std::expm1(k * keys * std::log1p(-1 / m)) : (keys > 0 ? 1.0 : 0.0);
}
// Of one buffer, where two of them together have that FPR.
double half_of(double fpr) { return fpr / (1 + std::sqrt(1 - fpr)); }

}  // namespace

double a2_full_fpr(unsigned k, double m, double g) {
  const double f = std::pow(fill_of(k, g, m), k);
  return f * (2 - f);
}

std::uint64_t a2_capacity(unsigned k, double m, double fpr) {
  if (m <= 1) return 0;
  const double fill = std::pow(half_of(fpr), 1.0 / k);
  auto g = static_cast<std::uint64_t>(std::log1p(-fill) / (k * std::log1p(-1 / m)));
  while (g > 0 && a2_full_fpr(k, m, static_cast<double>(g)) > fpr) --g;
  return g;
}

unsigned a2_probes(double m, double fpr, unsigned most) {
  unsigned best = 1;
  for (unsigned k = 2; k <= most; ++k)
    if (a2_capacity(k, m, fpr) > a2_capacity(best, m, fpr)) best = k;
  return best;
}

unsigned a2_probes_for(double m, std::uint64_t g, unsigned most) {
  const auto keys = static_cast<double>(g);
  unsigned best = 1;
  for (unsigned k = 2; k <= most; ++k)
    if (a2_full_fpr(k, m, keys) < a2_full_fpr(best, m, keys)) best = k;
  return best;
}

std::uint64_t a2_bits(unsigned k, std::uint64_t g, double fpr, std::uint64_t unit) {
  const double fill = std::pow(half_of(fpr), 1.0 / k);
  const double bits = -static_cast<double>(g) * k / std::log1p(-fill);
  auto units = static_cast<std::uint64_t>(bits / static_cast<double>(unit)) + 1;
  while (a2_capacity(k, static_cast<double>(units * unit), fpr) < g) ++units;
  return units * unit;
}

Prediction predict_a2(const A2Model& model, const StreamModel& stream) {
  GenerationModel generations;
  generations.classes = 2;  // 0: in the active buffer, 1: in the old one only
  generations.slices = 2;
  generations.young = 1;
  generations.g = model.g;
  generations.judge = [&](const std::vector<double>& keys, const std::vector<double>& shares,
                          std::vector<Fate>& fates) {
    const auto fill = [&](double n) { return fill_of(model.k, n, model.m); };
    const double active = std::pow(fill(keys[0]), model.k), old = std::pow(fill(keys[1]), model.k);
    // Keys that were renewed are in both, with the same bits.
    const double common =
        model.refresh ? std::max(keys[1] - stream.universe * shares[1], 0.0) : 0.0;
    const double both =
        fill(keys[0]) + fill(keys[1]) - fill(std::max(keys[0] + keys[1] - common, 0.0));
    const double old_only = old - std::pow(std::clamp(both, 0.0, 1.0), model.k);
    // A key that the active buffer holds by chance is in it like any other.
    const double fresh = 1 - active - old_only;
    if (model.refresh) {
      fates[0] = {1, 0, 1};
      fates[1] = {1, 1 - active, 1};
      fates[2] = {active + old_only, 1 - active, 1};
    } else {
      fates[0] = fates[1] = {1, 0, 0};
      fates[2] = {active + old_only, fresh, 1 - old_only, {0, old_only}};
    }
    if (!model.count_insertions)
      for (Fate& fate : fates) fate.counted = 1;
  };
  generations.fill = [&](const std::vector<double>& keys) {
    return (fill_of(model.k, keys[0], model.m) + fill_of(model.k, keys[1], model.m)) / 2;
  };
  return predict_generations(generations, stream);
}

}  // namespace weir

#include "plan/weir_model.hpp"

#include <algorithm>
#include <cmath>

#include "plan/uniform.hpp"
#include "plan/weir_cache.hpp"
#include "plan/weir_hand.hpp"

namespace weir {
namespace {

// Poisson weights around the mean, wide enough to leave out less than 1e-12.
struct PoissonRange {
  explicit PoissonRange(double mean) {
    const double width = 8 * std::sqrt(mean) + 20;
    first = static_cast<std::size_t>(std::max(0.0, std::floor(mean - width)));
    const auto last = static_cast<std::size_t>(mean + width);
    for (std::size_t k = first; k <= last; ++k)
      weight.push_back(std::exp(static_cast<double>(k) * std::log(std::max(mean, 1e-300)) - mean -
                                std::lgamma(static_cast<double>(k) + 1)));
  }
  std::size_t first = 0;
  std::vector<double> weight;
};

class Line {
 public:
  explicit Line(const WeirModel& model)
      : model_(model), hand_(model.entering), n_(model.layout.slots) {
    // u as a function of D, by its mean.
    double used = 0;
    while (used < n_ && used_.size() < 1'000'000) {
      used_.push_back(used);
      used += 1 - meets(used);
    }
  }

  // Chance that a stranger meets a fingerprint. In a full line all differ; before, some have become
  // equal by being cut.
  [[nodiscard]] double meets(double used) const {
    const auto whole = static_cast<unsigned>(std::min(std::round(used), 1.0 * n_));
    const double one = std::ldexp(1.0 / model_.layout.buckets, -model_.layout.length[whole]);
    if (used >= n_) return n_ * one;
    return -std::expm1(std::min(used, 1.0 * n_) * std::log1p(-one));
  }
  [[nodiscard]] double used(std::size_t keys) const {
    return keys < used_.size() ? used_[keys] : n_;
  }
  // Of D keys that came, the share whose fingerprint is not held.
  [[nodiscard]] double missed(std::size_t keys) const {
    if (keys < used_.size()) return 0;
    if (keys >= missed_.size()) missed_.resize(keys + 1, -1);
    if (missed_[keys] < 0) missed_[keys] = solve(static_cast<double>(keys));
    return missed_[keys];
  }

 private:
  static constexpr int most_keys = 40;

  // Fingerprints with m keys, m = 1, 2, ...
  [[nodiscard]] double solve(double keys) const {
    const double fingerprints = std::ldexp(1.0 * model_.layout.buckets, model_.layout.length[n_]);
    double classes[most_keys + 1];
    double weight = std::exp(-keys / fingerprints), in_all = 0;
    for (int m = 1; m <= most_keys; ++m) {
      weight *= keys / fingerprints / m;
      classes[m] = fingerprints * weight;
      in_all += classes[m];
    }
    if (in_all <= n_) return 0;
    double low = 1e-9, high = 1e9, held = 0;
    for (int i = 0; i < 60; ++i) {
      const double T = std::sqrt(low * high);
      double slots = 0;
      held = 0;
      for (int m = 1; m <= most_keys && classes[m] > 1e-9; ++m) {
        const double share = hand_.held_share(m * T);
        slots += classes[m] * share;
        held += classes[m] * share * m;
      }
      (slots < n_ ? low : high) = T;
    }
    return std::max(0.0, 1 - held / keys);
  }

  const WeirModel& model_;
  WeirHand hand_;
  unsigned n_;
  std::vector<double> used_;
  mutable std::vector<double> missed_;
};

}  // namespace

Prediction predict_weir(const WeirModel& model, const StreamModel& stream) {
  const auto grid = stream_grid(stream, 400);
  const Line line(model);
  const auto over_lines = [&](double t, auto&& value, double most = 1e300) {
    const PoissonRange keys(std::min(distinct_keys(stream, t) / model.lines, most));
    double sum = 0;
    for (std::size_t i = 0; i < keys.weight.size(); ++i)
      if (keys.weight[i] > 1e-13) sum += keys.weight[i] * value(keys.first + i);
    return sum;
  };
  constexpr double surely_full = 1e4;  // keys a line, from which on nothing changes
  std::vector<double> fpr(grid.size());
  for (std::size_t i = 0; i < grid.size(); ++i)
    fpr[i] = over_lines(
        grid[i], [&](std::size_t keys) { return line.meets(line.used(keys)); }, surely_full);
  Prediction p;
  p.fpr = stream_average(stream, grid, fpr, false);
  if (!is_uniform(stream))
    p.fnr = stream.distances.empty() ? weir_fnr_by_popularity(model, stream)
                                     : weir_fnr_by_distances(model, stream);
  else
    p.fnr = missed_share(stream, grid, [&](double t) {
      return model.lines / stream.universe * over_lines(t, [&](std::size_t keys) {
               return static_cast<double>(keys) * line.missed(keys);
             });
    });
  p.fill = over_lines(
               static_cast<double>(stream.records),
               [&](std::size_t keys) { return line.used(keys); }, surely_full) /
           model.layout.slots;
  return p;
}

std::uint64_t weir_lines_for(double keys, double slots) {
  const auto lost = [&](double lines) {
    const double mean = keys / lines;
    const PoissonRange range(mean);
    double sum = 0;
    for (std::size_t i = 0; i < range.weight.size(); ++i)
      sum += range.weight[i] * std::max(0.0, static_cast<double>(range.first + i) - slots);
    return sum / mean;
  };
  double low = std::max(1.0, keys / slots), high = std::max(1.0, keys);
  while (high > low * 1.001 + 0.5) {
    const double middle = std::sqrt(low * high);
    (lost(middle) > 1e-4 ? low : high) = middle;
  }
  return static_cast<std::uint64_t>(std::ceil(high));
}

}  // namespace weir

#include "plan/qht_model.hpp"

#include <algorithm>

#include "plan/uniform.hpp"

namespace weir {
namespace {

// Calls f(d, P(D = d)) for d = 0, 1, ..., last, where D of `values` values were met, each with
// probability 1 - exp(-nu).
template <class F>
void each_count(double values, double nu, double last, F f) {
  const double log_odds = nu + std::log(-std::expm1(-nu));
  double log_chance = -nu * values;
  for (std::uint64_t i = 0; static_cast<double>(i) <= std::min(values, last); ++i) {
    const auto d = static_cast<double>(i);
    f(d, std::exp(log_chance));
    log_chance += log_odds + std::log((values - d) / (d + 1));
  }
}

// E min(D, b)
double held(const QhtModel& model, double nu) {
  if (nu <= 0) return 0;
  double empty = 0;
  each_count(model.V, nu, model.b - 1.0,
             [&](double d, double chance) { empty += (model.b - d) * chance; });
  return std::max(0.0, model.b - empty);
}

// The chance that a key that was met is not held, nor its like.
double forgotten(const QhtModel& model, double nu) {
  if (nu <= 0) return 0;
  const double met = -std::expm1(-nu), a = nu / met, c = 1 + nu;
  const auto missed = [&](double others) {
    const double x = others + 1 - model.b;
    return x <= 0 ? 0 : x * a / (c * model.b + x * a);
  };
  const double mean = (model.V - 1) * met;
  if (mean > 2000) return missed(mean);  // there are hardly ever more or fewer
  double sum = 0;
  each_count(model.V - 1, nu, mean + 10 * std::sqrt(mean) + 20,
             [&](double others, double chance) { sum += chance * missed(others); });
  return sum;
}

}  // namespace

Prediction predict_qht(const QhtModel& model, const StreamModel& stream) {
  require_uniform(stream);
  const auto grid = stream_grid(stream, 2000);
  const auto nu = [&](double t) { return distinct_keys(stream, t) / model.n / model.V; };
  std::vector<double> fpr(grid.size());
  for (std::size_t i = 0; i < grid.size(); ++i) fpr[i] = held(model, nu(grid[i])) / model.V;
  Prediction p;
  p.fpr = stream_average(stream, grid, fpr, false);
  p.fnr = missed_share(stream, grid, [&](double t) {
    return distinct_keys(stream, t) / stream.universe * forgotten(model, nu(t));
  });
  p.fill = held(model, nu(static_cast<double>(stream.records))) / model.b;
  return p;
}

}  // namespace weir

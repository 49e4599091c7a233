#include "plan/uniform.hpp"

#include <algorithm>

#include "weir/error.hpp"

namespace weir {
namespace {

void check(const StreamModel& stream) {
  const bool keys = !is_uniform(stream) || stream.universe >= 1;
  if (stream.records == 0 || stream.skip >= stream.records || !keys)
    throw Error(ErrorCode::Config,
                "a stream model needs records, more records than are skipped, and a universe");
  double sum = 0;
  for (const Popularity& p : stream.popularity) sum += p.keys * p.rate;
  if (!stream.popularity.empty() && !(std::abs(sum - 1) < 1e-6))
    throw Error(ErrorCode::Config, "the popularities of a stream model must sum to 1");
  sum = 0;
  for (const Distance& d : stream.distances) sum += d.share;
  if (!stream.distances.empty() && !(sum > 0 && sum < 1))
    throw Error(ErrorCode::Config,
                "the shares of a stream model's distances must sum to less than 1");
}

// The share met within t records of keys that are each the next one with that probability.
double met(double rate, double t) {
  return rate >= 1 ? (t < 1 ? 0.0 : 1.0) : -std::expm1(t * std::log1p(-rate));
}

}  // namespace

bool is_uniform(const StreamModel& stream) {
  return stream.popularity.empty() && stream.distances.empty();
}

void require_uniform(const StreamModel& stream) {
  if (!is_uniform(stream))
    throw Error(ErrorCode::Unsupported, "there is no model of this filter but for uniform streams");
}

double distinct_keys(const StreamModel& stream, double t) {
  if (is_uniform(stream)) return stream.universe * met(1 / stream.universe, t);
  double sum = stream.distances.empty() ? 0 : t;
  for (const Popularity& p : stream.popularity) sum += p.keys * met(p.rate, t);
  for (const Distance& d : stream.distances) sum -= d.share * std::max(0.0, t - d.records);
  return sum;
}

double distinct_share(const StreamModel& stream) {
  check(stream);
  const auto n = static_cast<double>(stream.records);
  return distinct_keys(stream, n) / n;
}

std::vector<double> stream_grid(const StreamModel& stream, std::size_t points) {
  check(stream);
  const auto begin = static_cast<double>(stream.skip);
  const auto length = static_cast<double>(stream.records) - begin;
  std::vector<double> grid(points + 1);
  for (std::size_t i = 0; i <= points; ++i) {
    const double x = static_cast<double>(i) / static_cast<double>(points);
    grid[i] = begin + length * x * x * x;  // finer at the start, where most happens
  }
  return grid;
}

double stream_average(const StreamModel& stream, const std::vector<double>& grid,
                      const std::vector<double>& values, bool repeats) {
  // Exact weights of each interval, the value linear within it: the trapezoid of f dW.
  double sum = 0, weight = 0;
  for (std::size_t i = 0; i + 1 < grid.size(); ++i) {
    const double firsts = distinct_keys(stream, grid[i + 1]) - distinct_keys(stream, grid[i]);
    const double w = repeats ? grid[i + 1] - grid[i] - firsts : firsts;
    sum += w * 0.5 * (values[i] + values[i + 1]);
    weight += w;
  }
  return weight > 0 ? sum / weight : 0;
}

double missed_share(const StreamModel& stream, const std::vector<double>& grid,
                    const std::function<double(double)>& missed) {
  double misses = 0, repeats = 0, before = missed(grid[0]);
  for (std::size_t i = 0; i + 1 < grid.size(); ++i) {
    const double width = grid[i + 1] - grid[i], now = missed(grid[i + 1]);
    misses += width * 0.5 * (before + now);
    repeats += width - (distinct_keys(stream, grid[i + 1]) - distinct_keys(stream, grid[i]));
    before = now;
  }
  return repeats > 0 ? misses / repeats : 0;
}

Prediction predict_never_forgetting(const StreamModel& stream,
                                    const std::function<double(double)>& fill,
                                    const std::function<double(double)>& fpr) {
  const auto grid = stream_grid(stream, 2000);
  std::vector<double> values(grid.size());
  for (std::size_t i = 0; i < grid.size(); ++i) values[i] = fpr(distinct_keys(stream, grid[i]));
  return {stream_average(stream, grid, values, false), 0,
          fill(distinct_keys(stream, static_cast<double>(stream.records)))};
}

Prediction predict_bloom(double m, unsigned k, const StreamModel& stream) {
  const auto fill = [&](double keys) { return -std::expm1(k * keys * std::log1p(-1 / m)); };
  return predict_never_forgetting(stream, fill,
                                  [&](double keys) { return std::pow(fill(keys), k); });
}

}  // namespace weir

#include "plan/expected_fnr.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "weir/catalog.hpp"

namespace weir {
namespace {

double worked() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The number of keys whose stream has that share of first ones.
double universe_of(std::uint64_t records, double distinct, double low, double high) {
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (distinct_share({.records = records, .universe = middle}) < distinct ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace

std::optional<double> expected_fnr(const Structure& structure, double patience) {
  const auto* const filter = dynamic_cast<const Filter*>(&structure);
  const Health health = structure.health();
  if (filter == nullptr || health.records == 0) return std::nullopt;
  if (!structure.info().forgets) return 0.0;
  if (health.seen == 0 || health.records < 2 * structure.shards()) return std::nullopt;
  const double until = worked() + patience;
  const double wanted = static_cast<double>(health.seen) / static_cast<double>(health.records);
  Prediction predicted;
  const auto excess = [&](double universe) {  // falls as the keys become more
    predicted = filter->predict({.records = health.records, .universe = universe});
    const double distinct = distinct_share({.records = health.records, .universe = universe});
    return distinct * predicted.fpr + (1 - distinct) * (1 - predicted.fnr) - wanted;
  };
  const double least = structure.shards(), most = 1e4 * static_cast<double>(health.records);
  if (least >= most) return std::nullopt;
  const double near = std::min(1e-4, 0.01 * wanted);
  double at = universe_of(health.records, 1 - wanted, least, most), here = excess(at);
  double other = at, there = here;
  for (double factor = 1.2; (there > 0) == (here > 0) && std::fabs(there) > near;
       factor *= factor) {
    if (worked() > until || other == (here > 0 ? most : least)) return std::nullopt;
    at = other, here = there;
    other = std::clamp(here > 0 ? at * factor : at / factor, least, most);
    there = excess(other);
  }
  if (std::fabs(there) <= near) return predicted.fnr;
  // The chord's zero, in the logarithm; an end that stays counts half the next time.
  for (double found = there; std::fabs(found) > near && std::fabs(std::log(at / other)) > 1e-3;) {
    if (worked() > until) return std::nullopt;
    const double middle = at * std::pow(other / at, here / (here - there));
    found = excess(middle);
    if ((found > 0) == (there > 0)) {
      here /= 2;
    } else {
      at = other, here = there;
    }
    other = middle, there = found;
  }
  return predicted.fnr;
}

}  // namespace weir

#include <algorithm>
#include <cmath>

#include "plan/bloom_sizing.hpp"
#include "weir/intersect.hpp"

namespace weir {
namespace {

constexpr std::uint32_t most_parts = 64;
constexpr std::uint32_t most_probes = 16;
// More parts mean more readings on both sides; so much dearer may the wire be instead.
constexpr double worth_a_reading = 1.02;

IntersectPlan best_with(std::uint32_t parts, double here, double there, double key_bytes,
                        std::uint64_t memory) {
  IntersectPlan best;
  best.parts = parts;
  best.cost = there * key_bytes;
  const double keys = std::max(here / parts, 1.0);
  for (std::uint32_t k = 1; k <= most_probes; ++k)
    for (double bits = 1; bits < 1e7; bits *= 1.03) {
      const double m = std::max(std::ceil(keys * bits), 64.0);
      if (m > static_cast<double>(memory) * 8) break;
      const CompressedBloom filter = compressed_bloom(keys, static_cast<std::uint64_t>(m), k);
      const double filters = parts * filter.wire_bytes;
      const double cost = filters + filter.fpr * there * key_bytes;
      if (cost >= best.cost) continue;
      best.filter = filter;
      best.fpr = filter.fpr;
      best.filter_bytes = filters;
      best.cost = cost;
    }
  return best;
}

}  // namespace

IntersectPlan plan_intersection(double here, double there, double key_bytes, std::uint64_t memory) {
  // Where the array may be as large as it likes.
  double least = best_with(most_parts, here, there, key_bytes, memory).cost;
  IntersectPlan plan;
  for (std::uint32_t parts = 1; parts <= most_parts; parts *= 2) {
    plan = best_with(parts, here, there, key_bytes, memory);
    least = std::min(least, plan.cost);
    if (plan.cost <= worth_a_reading * least) break;
  }
  if (plan.filter.m == 0) plan.parts = 1;
  // |here| log2(1/f) / (8 ln 2) + f |there| L is least for f = |here| / (8 ln^2 2 |there| L).
  const double f =
      std::min(1.0, here / (8 * std::pow(std::log(2), 2) * std::max(there * key_bytes, 1e-9)));
  plan.plain_cost = (f < 1 ? bloom_size(here, f) / 8 : 0) + f * there * key_bytes;
  return plan;
}

}  // namespace weir

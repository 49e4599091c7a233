#include "plan/bloom_sizing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/shape.hpp"

namespace weir {

double bloom_size(double keys, double fpr) {
  return std::ceil(-keys * std::log(fpr) / (std::numbers::ln2 * std::numbers::ln2));
}

std::uint64_t bloom_probes(double m, double keys, double fpr, unsigned most) {
  const double best = keys > 0 ? std::numbers::ln2 * m / keys : -std::log2(fpr);
  return static_cast<std::uint64_t>(std::clamp(std::round(best), 1.0, 1.0 * most));
}

void complete_bloom(Params& params, const Request& request, const char* name, unsigned max_k) {
  const double keys = static_cast<double>(request.keys) / request.shards;
  if (!params.has("m")) {
    if (request.keys == 0)
      throw Error(ErrorCode::Config, std::string(name) +
                                         " needs a size: give the memory, or the expected keys "
                                         "and the FPR, or m");
    params.fill("m", static_cast<std::uint64_t>(std::max(bloom_size(keys, request.fpr), 64.0)));
  }
  const auto m = static_cast<double>(params.whole("m", 1, max_cells));
  params.fill("k", bloom_probes(m, keys, request.fpr, max_k));
}

}  // namespace weir

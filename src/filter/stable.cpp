#include "filter/stable.hpp"

#include "core/catalog.hpp"
#include "plan/fading_model.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"m", "cells", "from the memory"},
    {"K", "probes a key", "0.435 log2(1/FPS)"},
    {"P", "cells decremented a record", "from FPS"},
    {"Max", "value a cell is set to", "1"},
    {"d", "bits a cell, sets Max = 2^d - 1", "as Max needs"},
    {"FPS", "stable FPR that yields K and P", "the requested FPR"},
};

}  // namespace

constinit const StructureEntry structure_stable = entry<Stable, FilterHandle>({
    .name = "stable",
    .kind = Kind::Filter,
    .purpose = "seen before? on an endless stream, at a stated FPR",
    .guarantee = "FPR at most FPS for ever; old keys are forgotten",
    .paper = "Deng, Rafiei 2006",
    .parameters = parameters,
    .forgets = true,
});
const StructureInfo& StablePolicy::info() noexcept { return structure_stable; }

double stable_zeros(double P, double K, double Max, double m) {
  return std::pow(1 / (1 + 1 / (P * (1 / K - 1 / m))), Max);
}

double stable_decrements(double fps, double K, double Max, double m) {
  const double zeros = 1 - std::pow(fps, 1 / K);
  return 1 / ((std::pow(zeros, -1 / Max) - 1) * (1 / K - 1 / m));
}

void StablePolicy::Shape::check() const {
  if (K >= m) throw Error(ErrorCode::Config, "stable needs more cells than probes: m > K");
}

void StablePolicy::complete(Params& params, const Request& request, std::uint64_t bytes) {
  const double fps = params.take_real("FPS", 1e-9, 0.999).value_or(request.fpr);
  if (const auto d = params.take_whole("d", 1, 8)) params.fill("Max", (std::uint64_t{1} << *d) - 1);
  params.fill("Max", std::uint64_t{1});
  const std::uint64_t top = params.whole("Max", 1, 255);
  if (!params.has("m")) {
    if (bytes == 0) throw Error(ErrorCode::Config, "stable needs a size: give the memory or m");
    params.fill("m", std::max<std::uint64_t>(
                         2, Cells::fit(bytes, static_cast<unsigned>(std::bit_width(top)))));
  }
  const double best_K = std::round(0.435 * std::log2(1 / fps));
  params.fill("K", static_cast<std::uint64_t>(std::clamp(best_K, 1.0, 1.0 * fading_max_probes)));
  if (!params.has("P")) {
    const auto m = static_cast<double>(params.whole("m", 2, max_cells));
    const auto K = static_cast<double>(params.whole("K", 1, fading_max_probes));
    // Rounded up: a whole P keeps the promise only from above.
    const double P = std::ceil(stable_decrements(fps, K, static_cast<double>(top), m) - 1e-9);
    params.fill("P", static_cast<std::uint64_t>(std::clamp(P, 1.0, 1.0 * fading_max_decrements)));
  }
}

Prediction StablePolicy::predict(const Shape& shape, const StreamModel& stream) {
  std::vector<double> classes(shape.top, 0.0);
  classes.back() = 1;
  return predict_fading({static_cast<double>(shape.m), shape.K, shape.P, classes}, stream);
}

}  // namespace weir

#include "filter/qht.hpp"

#include "core/catalog.hpp"
#include "core/cells.hpp"
#include "plan/qht_model.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"n", "buckets", "from the memory"},
    {"b", "fingerprints a bucket", "1"},
    {"f", "bits a fingerprint", "from the requested FPR and b"},
};

// The fewest bits whose values, without the 0, keep b / values at the FPR.
std::uint64_t bits_for(double fpr, std::uint64_t b) {
  const double f = std::ceil(std::log2(static_cast<double>(b) / fpr + 1) - 1e-12);
  return static_cast<std::uint64_t>(std::clamp(f, 1.0, 1.0 * Qht::max_f));
}

}  // namespace

constinit const StructureEntry structure_qht = entry<Qht, FilterHandle>({
    .name = "qht",
    .kind = Kind::Filter,
    .purpose = "seen before? on an endless stream, one line of memory a record",
    .guarantee = "FPR at most b / (2^f - 1) for ever; old keys are forgotten",
    .paper = "Geraud, Lombard-Platet, Naccache 2019",
    .parameters = parameters,
    .forgets = true,
});
const StructureInfo& Qht::info() noexcept { return structure_qht; }

void Qht::Shape::check() const {
  if (b > values())
    throw Error(ErrorCode::Config, "qht cannot fill b places with fewer values: b < 2^f");
  if (n > max_cells / b)
    throw Error(ErrorCode::Config, "qht has more places than can be counted: n b <= 2^48");
}

void Qht::complete(Params& params, const Request& request, std::uint64_t bytes) {
  params.fill("b", std::uint64_t{1});
  const std::uint64_t b = params.whole("b", 1, max_b);
  params.fill("f", bits_for(request.fpr, b));
  if (params.has("n")) return;
  if (bytes == 0) throw Error(ErrorCode::Config, "qht needs a size: give the memory or n");
  params.fill("n", bytes * 8 / (b * params.whole("f", 1, max_f)));
}

Prediction Qht::predict(const Shape& shape, const StreamModel& stream) {
  return predict_qht({static_cast<double>(shape.n), shape.b, static_cast<double>(shape.values())},
                     stream);
}

void Qht::verify() const {
  const auto refuse = [] {
    throw Error(ErrorCode::BadState, "its registers do not fit its fingerprints");
  };
  if (seen_ > records_) refuse();
  if (shape_.b == 1 && shape_.f <= 8) {  // nothing but to count, which cells do a word at a time
    if (Cells(memory_, shape_.f).count_nonzero(0, shape_.n) != held_) refuse();
    return;
  }
  std::uint64_t held = 0;
  for (std::uint64_t bucket = 0; bucket < shape_.n; ++bucket) {
    const std::uint64_t first = bucket * shape_.b;
    unsigned used = 0;
    while (used < shape_.b && get(first + used) != 0) ++used;
    // No fingerprint behind an empty place, and none twice.
    for (unsigned i = used; i < shape_.b; ++i)
      if (get(first + i) != 0) refuse();
    for (unsigned i = 1; i < used; ++i)
      for (unsigned j = 0; j < i; ++j)
        if (get(first + i) == get(first + j)) refuse();
    held += used;
  }
  if (held != held_) refuse();
}

void Qht::health(Health& health) const noexcept {
  // No bucket holds a fingerprint twice, so each held one is one value more that is called Seen.
  const auto buckets = static_cast<double>(shape_.n), held = static_cast<double>(held_);
  health.fill = held / (buckets * shape_.b);
  health.fpr = held / buckets / static_cast<double>(shape_.values());
  health.records = records_;
  health.seen = seen_;
}

}  // namespace weir

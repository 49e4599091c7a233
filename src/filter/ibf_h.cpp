#include "filter/ibf_h.hpp"

#include "core/catalog.hpp"
#include "plan/fading_model.hpp"

namespace weir {

constinit const StructureEntry structure_ibf_h = entry<IbfH, FilterHandle>({
    .name = "ibf-h",
    .kind = Kind::Filter,
    .purpose = "seen before? by importance, with forgetting by importance too",
    .guarantee = "bounded FPR for ever; cells of low value are cleared first",
    .paper = "Bhoraskar, Gabale, Kulkarni, Kulkarni 2013",
    .parameters = ibf_parameters,
    .forgets = true,
    .weighted = true,
});
const StructureInfo& IbfHPolicy::info() noexcept { return structure_ibf_h; }

void IbfHPolicy::complete(Params& params, const Request&, std::uint64_t bytes) {
  complete_ibf("ibf-h", params, bytes, weighted_choice);
}

Prediction IbfHPolicy::predict(const Shape& shape, const StreamModel& stream) {
  return predict_fading_by_value(
      {static_cast<double>(shape.m), shape.K, shape.P, value_shares<IbfHPolicy>(shape, stream)},
      stream);
}

}  // namespace weir

#include "filter/ibf_mc.hpp"

#include "core/catalog.hpp"
#include "plan/fading_model.hpp"

namespace weir {

constinit const StructureEntry structure_ibf_mc = entry<IbfMc, FilterHandle>({
    .name = "ibf-mc",
    .kind = Kind::Filter,
    .purpose = "seen before? remembers records by importance, M classes",
    .guarantee = "bounded FPR for ever; the more important, the later forgotten",
    .paper = "Bhoraskar, Gabale, Kulkarni, Kulkarni 2013",
    .parameters = ibf_parameters,
    .forgets = true,
    .weighted = true,
});
const StructureInfo& IbfMcPolicy::info() noexcept { return structure_ibf_mc; }

void IbfMcPolicy::complete(Params& params, const Request&, std::uint64_t bytes) {
  complete_ibf("ibf-mc", params, bytes, weighted_choice);
}

Prediction IbfMcPolicy::predict(const Shape& shape, const StreamModel& stream) {
  return predict_fading(
      {static_cast<double>(shape.m), shape.K, shape.P, value_shares<IbfMcPolicy>(shape, stream)},
      stream);
}

}  // namespace weir

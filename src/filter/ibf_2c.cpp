#include "filter/ibf_2c.hpp"

#include "core/catalog.hpp"
#include "plan/fading_model.hpp"

namespace weir {

constinit const StructureEntry structure_ibf_2c = entry<Ibf2c, FilterHandle>({
    .name = "ibf-2c",
    .kind = Kind::Filter,
    .purpose = "seen before? remembers important records longer, two classes",
    .guarantee = "bounded FPR for ever; important keys are forgotten later",
    .paper = "Bhoraskar, Gabale, Kulkarni, Kulkarni 2013",
    .parameters = ibf_parameters,
    .forgets = true,
    .weighted = true,
});
const StructureInfo& Ibf2cPolicy::info() noexcept { return structure_ibf_2c; }

void Ibf2cPolicy::complete(Params& params, const Request&, std::uint64_t bytes) {
  complete_ibf("ibf-2c", params, bytes, weighted_choice);
}

Prediction Ibf2cPolicy::predict(const Shape& shape, const StreamModel& stream) {
  return predict_fading(
      {static_cast<double>(shape.m), shape.K, shape.P, value_shares<Ibf2cPolicy>(shape, stream)},
      stream);
}

}  // namespace weir

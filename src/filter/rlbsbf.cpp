#include "filter/rlbsbf.hpp"

#include "core/catalog.hpp"

namespace weir {

constinit const StructureEntry structure_rlbsbf = entry<Rlbsbf, FilterHandle>({
    .name = "rlbsbf",
    .kind = Kind::Filter,
    .purpose = "seen before? on an endless stream, fuller filters forget more",
    .guarantee = "FPR at most the requested for ever; old keys are forgotten",
    .paper = "Bera, Dutta, Narang, Bhattacherjee 2012",
    .parameters = biased_parameters,
    .forgets = true,
});
const StructureInfo& RlbsbfPolicy::info() noexcept { return structure_rlbsbf; }

}  // namespace weir

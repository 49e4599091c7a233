#include "filter/bsbf.hpp"

#include "core/catalog.hpp"

namespace weir {

constinit const StructureEntry structure_bsbf = entry<Bsbf, FilterHandle>({
    .name = "bsbf",
    .kind = Kind::Filter,
    .purpose = "seen before? on an endless stream, repeats cost no memory",
    .guarantee = "FPR at most the requested for ever; old keys are forgotten",
    .paper = "Bera, Dutta, Narang, Bhattacherjee 2012",
    .parameters = biased_parameters,
    .forgets = true,
});
const StructureInfo& BsbfPolicy::info() noexcept { return structure_bsbf; }

}  // namespace weir

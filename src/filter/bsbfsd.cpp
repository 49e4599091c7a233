#include "filter/bsbfsd.hpp"

#include "core/catalog.hpp"

namespace weir {

constinit const StructureEntry structure_bsbfsd = entry<Bsbfsd, FilterHandle>({
    .name = "bsbfsd",
    .kind = Kind::Filter,
    .purpose = "seen before? forgets slowly, while the filter is not yet full",
    .guarantee = "none on the FPR, which grows with the stream; old keys are forgotten",
    .paper = "Bera, Dutta, Narang, Bhattacherjee 2012",
    .parameters = biased_parameters,
    .forgets = true,
});
const StructureInfo& BsbfsdPolicy::info() noexcept { return structure_bsbfsd; }

}  // namespace weir

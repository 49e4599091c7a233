#include "sample/biased_reservoir.hpp"

#include "core/catalog.hpp"

namespace weir {
namespace {

constexpr const char* biased_name = "biased-reservoir";

// Half of the 64 bits are left for what comes, so that the count cannot run over.
bool possible(const SamplerState& s) {
  return s.capacity > 0 && s.met >> 63 == 0 && s.held <= std::min(s.met, s.capacity) &&
         (s.held > 0) == (s.met > 0) && s.draws == s.met && s.next == 0 && s.weight == 0;
}

}  // namespace

BiasedSlots::BiasedSlots(std::uint64_t capacity, std::uint64_t seed) {
  if (capacity == 0)
    throw Error(ErrorCode::Config, "a biased reservoir needs room for 1 record at least");
  state_ = {.capacity = capacity, .key = mix(seed, 0)};
}

BiasedSlots::BiasedSlots(const SamplerState& state) : state_(state) {
  if (!possible(state))
    throw Error(ErrorCode::BadState,
                "no biased reservoir can be in this state: its numbers do not fit");
}

std::optional<std::uint64_t> BiasedSlots::offer() noexcept {
  const std::uint64_t slot = RecordRandom(state_.key).at(state_.draws++).below(state_.capacity);
  ++state_.met;
  if (slot < state_.held) return slot;  // (1)
  return state_.held++;                 // (2)
}

constinit const StructureEntry structure_biased_reservoir =
    entry<BiasedReservoirSample, SampleHandle>({
        .name = biased_name,
        .kind = Kind::Sample,
        .purpose = "a sample of the recent past that fades into the distant one",
        .guarantee = "a record that is a records old is held with probability (1 - 1/s)^a",
        .paper = "Aggarwal 2006",
        .parameters = sample_parameters,
        .forgets = true,
    });
const StructureInfo& BiasedReservoirSample::info() noexcept { return structure_biased_reservoir; }

void BiasedReservoirSample::complete(Params& params, const Request&, std::uint64_t bytes) {
  complete_sample(biased_name, params, bytes);
}

}  // namespace weir

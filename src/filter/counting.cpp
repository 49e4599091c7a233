#include "filter/counting.hpp"

#include "core/catalog.hpp"
#include "plan/bloom_sizing.hpp"
#include "plan/uniform.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"m", "counters of 4 bits", "from the memory, or from the keys and the FPR"},
    {"k", "probes a key", "ln 2 * m/n, or log2(1/FPR) when the keys are unknown"},
};

}  // namespace

constinit const StructureEntry structure_counting = entry<Counting, FilterHandle>({
    .name = "counting",
    .kind = Kind::Filter,
    .purpose = "seen before? with removal of chosen keys",
    .guarantee = "no false negatives while only keys that were let in are removed",
    .paper = "Fan, Cao, Almeida, Broder 2000",
    .parameters = parameters,
});
const StructureInfo& Counting::info() noexcept { return structure_counting; }

void Counting::complete(Params& params, const Request& request, std::uint64_t bytes) {
  if (bytes != 0) params.fill("m", std::max<std::uint64_t>(Counters::fit(bytes, counter_bits), 1));
  complete_bloom(params, request, "counting", max_k);
}

Verdict Counting::observe(const Target& target) noexcept {
  Counters counters = counters_;  // copies stay in registers, whatever is written to memory
  const unsigned k = k_;
  // Reading and adding in one go waits for memory once; a repeat, found at the end, is undone.
  std::uint8_t before[max_k];
  std::uint64_t empty = 0;
  for (unsigned i = 0; i < k; ++i) {
    const unsigned count = counters.get(target.position[i]);
    before[i] = static_cast<std::uint8_t>(count);
    empty += count == 0;                                                 // (1)
    counters.set(target.position[i], std::min(count + 1, counter_max));  // (2)
  }
  ++records_;
  nonzero_ += empty;
  if (empty != 0) return Verdict::New;
  for (unsigned i = k; i-- > 0;) counters.set(target.position[i], before[i]);
  ++seen_;
  return Verdict::Seen;
}

bool Counting::remove(const Target& target) noexcept {
  if (!contains(target)) return false;
  for (unsigned i = 0; i < k_; ++i) {  // (3)
    const unsigned count = counters_.get(target.position[i]);
    // Zero only if two probes of this key met in one counter that strangers emptied.
    if (count == counter_max || count == 0) continue;
    counters_.set(target.position[i], count - 1);
    nonzero_ -= count == 1;
  }
  ++removed_;
  return true;
}

Prediction Counting::predict(const Shape& shape, const StreamModel& stream) {
  return predict_bloom(static_cast<double>(shape.m), shape.k, stream);
}

void Counting::verify() const {
  if (counters_.count_nonzero(0, m_) != nonzero_ || seen_ > records_)
    throw Error(ErrorCode::BadState, "its registers do not fit its counters");
}

void Counting::health(Health& health) const noexcept {
  health.fill = static_cast<double>(nonzero_) / static_cast<double>(m_);
  health.fpr = std::pow(health.fill, k_);
  health.records = records_;
  health.seen = seen_;
}

}  // namespace weir

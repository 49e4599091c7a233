#include "sample/reservoir.hpp"

#include <cmath>
#include <limits>

#include "core/catalog.hpp"

namespace weir {
namespace {

constexpr const char* reservoir_name = "reservoir";

// No record has this ordinal.
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

bool possible(const SamplerState& s) {
  if (s.capacity == 0 || s.held != std::min(s.met, s.capacity)) return false;
  if (s.held < s.capacity) return s.next == 0 && s.weight == 1;
  return s.next >= s.met && s.weight > 0 && s.weight <= 1;
}

}  // namespace

ReservoirSlots::ReservoirSlots(std::uint64_t capacity, std::uint64_t seed) {
  if (capacity == 0) throw Error(ErrorCode::Config, "a reservoir needs room for 1 record at least");
  state_ = {.capacity = capacity, .key = mix(seed, 0), .weight = 1};
}

ReservoirSlots::ReservoirSlots(const SamplerState& state) : state_(state) {
  if (!possible(state))
    throw Error(ErrorCode::BadState, "no reservoir can be in this state: its numbers do not fit");
}

std::uint64_t ReservoirSlots::below(std::uint64_t n) noexcept {
  return RecordRandom(state_.key).at(state_.draws++).below(n);
}

// In the open interval (0, 1): a logarithm of it is finite and not zero.
double ReservoirSlots::unit() noexcept {
  const std::uint64_t bits = RecordRandom(state_.key).at(state_.draws++).next() >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1.0p-52;
}

std::optional<std::uint64_t> ReservoirSlots::offer() noexcept {
  if (state_.held < state_.capacity) {  // (1)
    ++state_.met;
    const std::uint64_t slot = state_.held++;
    if (state_.held == state_.capacity) choose_next();
    return slot;
  }
  if (state_.met == never) return {};
  if (state_.met++ != state_.next) return {};         // (2)
  const std::uint64_t slot = below(state_.capacity);  // (3)
  choose_next();
  return slot;
}

void ReservoirSlots::choose_next() noexcept {
  state_.weight *= std::exp(std::log(unit()) / static_cast<double>(state_.capacity));  // (4)
  leap();
}

// With W near 1 the logarithm is -inf and the skip 0; with W near 0 the skip leaves the range
// of 64 bits, and no record will be taken any more.
void ReservoirSlots::leap() noexcept {
  const double skip = std::floor(std::log(unit()) / std::log1p(-state_.weight));
  const std::uint64_t room = never - state_.met;
  state_.next = skip < static_cast<double>(room) * (1 - 0x1.0p-50)
                    ? state_.met + static_cast<std::uint64_t>(skip)
                    : never;
}

std::uint64_t ReservoirSlots::certain_misses() const noexcept {
  return state_.held < state_.capacity ? 0 : state_.next - state_.met;
}

void ReservoirSlots::skip(std::uint64_t records) noexcept {
  state_.met += std::min(records, certain_misses());
}

// Calls move for a uniform choice of `wanted` among the slots [0, of), in order.
void ReservoirSlots::choose(std::uint64_t wanted, std::uint64_t of, std::uint64_t to,
                            const Move& move) {
  for (std::uint64_t from = 0; wanted > 0; ++from)
    if (below(of - from) < wanted) {  // (6)
      move(from, to++);
      --wanted;
    }
}

void ReservoirSlots::merge(const SamplerState& other, const Move& keep, const Move& take) {
  if (other.capacity != state_.capacity)
    throw Error(ErrorCode::Config, "reservoirs of different sizes cannot be merged");
  if (other.key == state_.key)
    throw Error(ErrorCode::Unsupported,
                "reservoirs made with the same seed cannot be merged: they made the same choices, "
                "and together would be no uniform sample; make them with different seeds");
  if (!possible(other) || other.met > never - 1 - state_.met)
    throw Error(ErrorCode::BadState, "no reservoir can be in the state to be merged");
  const std::uint64_t n = state_.met + other.met;
  const std::uint64_t held = std::min(n, state_.capacity);
  std::uint64_t ours = 0;
  for (std::uint64_t i = 0; i < held; ++i) ours += below(n - i) < state_.met - ours;  // (5)
  choose(ours, state_.held, 0, keep);
  choose(held - ours, other.held, ours, take);
  state_.met = n;
  state_.held = held;
  if (held < state_.capacity) return;
  double log_rest = 0;
  for (std::uint64_t i = 0; i < held; ++i)
    log_rest += std::log(unit()) / static_cast<double>(n - i);
  state_.weight = -std::expm1(log_rest);  // (7)
  leap();
}

constinit const StructureEntry structure_reservoir = entry<ReservoirSample, SampleHandle>({
    .name = reservoir_name,
    .kind = Kind::Sample,
    .purpose = "a uniform sample of everything so far",
    .guarantee = "every record is held with probability s/n; skips cost no draws",
    .paper = "Vitter 1985; Li 1994",
    .parameters = sample_parameters,
});
const StructureInfo& ReservoirSample::info() noexcept { return structure_reservoir; }

void ReservoirSample::complete(Params& params, const Request&, std::uint64_t bytes) {
  complete_sample(reservoir_name, params, bytes);
}

void ReservoirSample::merge(const ReservoirSample& other) {
  slots_.merge(
      other.slots_.state(),
      [this](std::uint64_t from, std::uint64_t to) { records_[to] = records_[from]; },
      [&](std::uint64_t from, std::uint64_t to) { records_[to] = other.records_[from]; });
}

}  // namespace weir

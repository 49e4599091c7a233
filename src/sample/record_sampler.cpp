#include "sample/record_sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/bits.hpp"

namespace weir {

RecordSampler::RecordSampler(Way way, std::uint64_t n, double half_life, std::uint64_t seed,
                             const Digester& digester)
    : way_(way), n_(n), seed_(seed), half_life_(half_life), digester_(digester) {
  if (n == 0) throw Error(ErrorCode::Config, "a sample needs room for 1 record at least");
  if (way == Way::Uniform) slots_.emplace<ReservoirSlots>(n, seed);
  if (way != Way::Recent) return;
  if (!(half_life > 0 && std::isfinite(half_life)))
    throw Error(ErrorCode::Config, "the half-life must be above 0");
  share_ = -static_cast<double>(n) * std::expm1(-std::log(2) / half_life);
  if (share_ > 1) {
    const auto most = static_cast<std::uint64_t>(-1 / std::expm1(-std::log(2) / half_life));
    throw Error(ErrorCode::Config,
                "a sample with this half-life has " +
                    std::to_string(std::max<std::uint64_t>(most, 1)) +
                    " records at most; ask for fewer, or for a longer half-life");
  }
  slots_.emplace<BiasedSlots>(n, seed);
}

std::uint64_t RecordSampler::certain_misses() const noexcept {
  const auto* const uniform = std::get_if<ReservoirSlots>(&slots_);
  return uniform == nullptr ? 0 : uniform->certain_misses();
}

void RecordSampler::skip(std::uint64_t records) noexcept {
  if (auto* const uniform = std::get_if<ReservoirSlots>(&slots_)) uniform->skip(records);
  met_ += records;
}

void RecordSampler::put(std::uint64_t slot, std::string_view record) {
  if (slot == held_.size()) held_.emplace_back();
  held_[slot].ordinal = met_;
  held_[slot].record = record;
}

void RecordSampler::offer_rank(std::uint64_t rank, std::string_view record) {
  const bool full = held_.size() == n_;
  if (full && rank >= held_.front().rank) return;
  if (way_ == Way::Distinct && !distinct_.insert(rank).second) return;
  if (full) {  // (5)
    std::ranges::pop_heap(held_, {}, &Held::rank);
    distinct_.erase(held_.back().rank);
    held_.pop_back();
  }
  held_.push_back({met_, rank, std::string(record)});
  std::ranges::push_heap(held_, {}, &Held::rank);
}

void RecordSampler::offer(std::string_view record, std::uint32_t weight, Digest digest) {
  // In (0, 1): its logarithm is finite and not zero.
  const auto unit = [this] {
    const std::uint64_t bits = RecordRandom(mix(seed_, 0x5a3b1e)).at(met_).next() >> 12;
    return (static_cast<double>(bits) + 0.5) * 0x1.0p-52;
  };
  switch (way_) {
    case Way::Uniform:
      if (const auto slot = std::get<ReservoirSlots>(slots_).offer()) put(*slot, record);
      break;
    case Way::Recent:
      if (unit() < share_) put(*std::get<BiasedSlots>(slots_).offer(), record);  // (1), (2)
      break;
    case Way::Weighted:  // bits of positive numbers are ordered as the numbers are
      offer_rank(std::bit_cast<std::uint64_t>(-std::log(unit()) / weight), record);  // (3)
      break;
    case Way::Distinct:
      offer_rank(digest, record);  // (4)
      break;
  }
  ++met_;
}

const SamplerState& RecordSampler::slots_state() const {
  static constexpr SamplerState none;
  if (const auto* const uniform = std::get_if<ReservoirSlots>(&slots_)) return uniform->state();
  if (const auto* const recent = std::get_if<BiasedSlots>(&slots_)) return recent->state();
  return none;
}

}  // namespace weir

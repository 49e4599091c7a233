// The handle of a sample. On top of core/structure.hpp a sample class S provides
//   offer(records)               meets the records, in order
//   records()                    span of the records held
// A sample has one shard: of records dealt out to shards by their hash each shard would be
// sampled fairly, but not their union.
#pragma once

#include <bit>

#include "core/structure.hpp"

namespace weir {

template <class S>
class SampleHandle final : public Sharded<S, SampleHandle<S>, Sample> {
  using Base = Sharded<S, SampleHandle<S>, Sample>;

 public:
  static SampleHandle* make(const StructureInfo& info, const typename S::Shape& shape,
                            const Making& making) {
    if (making.shards != 1)
      throw Error(ErrorCode::Config,
                  std::string(info.name) +
                      " takes 1 shard only: a sample a shard is fair within its shard, "
                      "but all together are not a fair sample of the stream");
    return Base::make(info, shape, making);
  }

  void offer(std::uint64_t record) noexcept override { this->shard(0).offer({&record, 1}); }
  void offer(std::span<const std::uint64_t> records) noexcept override {
    this->shard(0).offer(records);
  }

  [[nodiscard]] std::vector<std::uint64_t> records() const override {
    const auto held = this->all()[0].records();
    return {held.begin(), held.end()};
  }

  // Samples know no secret: records are kept as they came. What must differ is the seed, and
  // the structure sees to that.
  void merge(const Structure& other) override {
    if constexpr (requires(S& a, const S& b) { a.merge(b); }) {
      if (&other.info() != &this->info() || other.parameters() != this->parameters())
        throw Error(ErrorCode::Config,
                    std::string(this->info().name) + ":" + this->parameters() + " and " +
                        other.info().name + ":" + other.parameters() +
                        " cannot be merged: they must be the same structure of the same size");
      this->shard(0).merge(static_cast<const SampleHandle&>(other).all()[0]);
    } else {
      Base::merge(other);
    }
  }

 private:
  friend Base;
  SampleHandle() = default;
  ~SampleHandle() override = default;
};

struct SamplerAccess {
  // What a sampler remembers, as registers; the capacity is the shape's.
  template <class Slots, class F>
  static void registers(Slots& slots, F&& f) {
    SamplerState& state = slots.state_;
    f(state.met), f(state.held), f(state.next), f(state.key), f(state.draws);
    auto weight = std::bit_cast<std::uint64_t>(state.weight);
    f(weight);
    state.weight = std::bit_cast<double>(weight);
  }
};

// Slots(state) refuses a state that no sampler can have. Slots not in use are zero, so that
// equal samples have equal bytes.
template <class Slots>
void verify_sample(const Slots& slots, const std::uint64_t* records) {
  const SamplerState state = Slots(slots.state()).state();
  for (std::uint64_t i = state.held; i < state.capacity; ++i)
    if (records[i] != 0)
      throw Error(ErrorCode::BadState, "a slot that is not in use holds a record");
}

template <class Slots>
void sample_health(const Slots& slots, Health& health) noexcept {
  const SamplerState& state = slots.state();
  health.fill = static_cast<double>(state.held) / static_cast<double>(state.capacity);
  health.records = state.met;
}

// The size of both samples.
struct SampleShape {
  std::uint64_t s = 0;
  template <class V>
  void visit(V& v) {
    v.whole("s", s, 1, max_cells);
  }
};
inline constexpr ParameterInfo sample_parameters[] = {
    {"s", "records of 8 bytes held", "from the memory"},
};
inline void complete_sample(const char* name, Params& params, std::uint64_t bytes) {
  if (params.has("s")) return;
  if (bytes == 0)
    throw Error(ErrorCode::Config, std::string(name) + " needs a size: give the memory or s");
  params.fill("s", bytes / sizeof(std::uint64_t));
}

}  // namespace weir

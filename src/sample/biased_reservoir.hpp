// Biased reservoir (Aggarwal, VLDB 2006, section 2: memoryless exponential bias): a sample of
// the recent past that fades into the distant one.
//
//   s slots, F = held/s the share in use. The bias is lambda = 1/s.
//   offer(x): (1) with probability F x replaces a random record of those held
//             (2) else it takes a free slot
//   One draw, uniform in [0, s), does both: a slot in use is replaced, any other means a free one.
//
// Guarantee: whatever F is, an arrival takes the place of one certain held record with
//   probability F * 1/held = 1/s. So a record a arrivals old is held with probability
//   (1 - 1/s)^a exactly, close to exp(-a/s), from the first record on.
// Predicted: free slots after n records (1 - 1/s)^n s, so that 95 % are in use after 3 s; the
//   mean age of a held record is s - 1 in the steady state.
// Measured (s = 1000, 4000 runs): ages of held records against exp(-a/s), chi-square p = 0.70; the
//   share of each age while the slots still fill is within 4 standard errors at every age.
// Stops working: the bias and the size are tied, lambda = 1/s; a stronger bias would leave slots
//   empty, a weaker one needs more. Records older than 10 s are as good as gone.
#pragma once

#include "core/prefetch.hpp"
#include "sample/sample_handle.hpp"

namespace weir {

class BiasedReservoirSample {
 public:
  using Shape = SampleShape;
  static constexpr const char* no_merge =
      "a record's chance to be held depends on its age, and the order between the records of two "
      "streams is not known; offer both streams to one sample";

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static std::uint64_t bytes(const Shape& shape) noexcept { return shape.s * 8; }

  BiasedReservoirSample(const Shape& shape, std::byte* memory, RecordRandom random)
      : records_(reinterpret_cast<std::uint64_t*>(memory)), slots_(shape.s, random.at(0).next()) {}

  // Every record is written somewhere: choose the slots ahead, and ask for their lines.
  void offer(std::span<const std::uint64_t> records) noexcept {
    pipelined<32, std::uint64_t>(
        records.size(),
        [&](std::size_t, std::uint64_t& slot) {
          slot = *slots_.offer();
          prefetch_line(records_ + slot);
        },
        [&](std::size_t i, std::uint64_t slot) { records_[slot] = records[i]; });
  }
  [[nodiscard]] std::span<const std::uint64_t> records() const noexcept {
    return {records_, slots_.state().held};
  }

  template <class F>
  void registers(F&& f) {
    SamplerAccess::registers(slots_, f);
  }
  void verify() const { verify_sample(slots_, records_); }
  void health(Health& health) const noexcept { sample_health(slots_, health); }

 private:
  std::uint64_t* records_;
  BiasedSlots slots_;
};

}  // namespace weir

// Samples: a fair few of an endless stream, in fixed memory.
//
// Two layers. `ReservoirSlots` and `BiasedSlots` are the algorithms: they say for each record
// which slot it takes, if any. `Reservoir<T>` and `BiasedReservoir<T>` add the slots for any
// record type. The handle `Sample` (made by make_sample) holds 64-bit records, digests or
// positions, in the one block that snapshots save.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "weir/error.hpp"
#include "weir/filter.hpp"

namespace weir {

// What a sampler remembers beside its records; plain numbers, so that it can be stored
// anywhere and put back: a restored sampler goes on as if it had never stopped.
struct SamplerState {
  std::uint64_t capacity = 0;  // s
  std::uint64_t met = 0;       // n, records offered so far
  std::uint64_t held = 0;      // slots in use
  std::uint64_t next = 0;      // ordinal (from 0) of the next record that will be taken; 0 while
                               // the slots fill, and unused by the biased sampler
  std::uint64_t key = 0;       // of the generator
  std::uint64_t draws = 0;     // made so far
  double weight = 0;           // Algorithm L's W; unused by the biased sampler
};

// Uniform sample of s records without knowing the stream's length.
class ReservoirSlots {
 public:
  // Throws Error(Config) when the capacity is 0.
  ReservoirSlots(std::uint64_t capacity, std::uint64_t seed);
  // Throws Error(BadState) when no sampler can have this state.
  explicit ReservoirSlots(const SamplerState& state);

  // The slot the next record takes, or nothing.
  std::optional<std::uint64_t> offer() noexcept;
  // How many of the coming records will certainly be passed over; skip(n) passes over
  // n <= that many at once without looking at them.
  [[nodiscard]] std::uint64_t certain_misses() const noexcept;
  void skip(std::uint64_t records) noexcept;

  // Becomes the sampler of both streams: first calls keep(from, to) for our records that stay,
  // with to = 0, 1, ... and from >= to, then take(from, to) for the other's records that come
  // in. Throws Error(Config) when the capacities differ, Error(Unsupported) when both were made
  // with the same seed: they made the same choices, and both samples together are not uniform.
  using Move = std::function<void(std::uint64_t from, std::uint64_t to)>;
  void merge(const SamplerState& other, const Move& keep, const Move& take);

  [[nodiscard]] const SamplerState& state() const noexcept { return state_; }

 private:
  friend struct SamplerAccess;  // src/sample
  std::uint64_t below(std::uint64_t n) noexcept;
  double unit() noexcept;
  void choose_next() noexcept;
  void leap() noexcept;
  void choose(std::uint64_t wanted, std::uint64_t of, std::uint64_t to, const Move& move);
  SamplerState state_;
};

// Exponentially biased sample: a record that is a records old is held with probability
// (1 - 1/s)^a, so close to exp(-a / s). Every record is taken.
class BiasedSlots {
 public:
  BiasedSlots(std::uint64_t capacity, std::uint64_t seed);
  explicit BiasedSlots(const SamplerState& state);

  // The slot the next record takes. A slot number equal to the number held so far is new.
  std::optional<std::uint64_t> offer() noexcept;

  [[nodiscard]] const SamplerState& state() const noexcept { return state_; }

 private:
  friend struct SamplerAccess;  // src/sample
  SamplerState state_;
};

template <class Slots, class Record>
class RecordSample {
 public:
  RecordSample(std::uint64_t capacity, std::uint64_t seed) : slots_(capacity, seed) {
    records_.reserve(capacity);
  }
  // Goes on where a sampler with this state and these records stopped.
  RecordSample(const SamplerState& state, std::vector<Record> records)
      : slots_(state), records_(std::move(records)) {
    if (records_.size() != state.held)
      throw Error(ErrorCode::BadState, "the sample's records and its state do not belong together");
    records_.reserve(state.capacity);
  }

  // True when the record was taken.
  template <class R>
  bool offer(R&& record) {
    const auto slot = slots_.offer();
    if (!slot) return false;
    if (*slot == records_.size())
      records_.push_back(std::forward<R>(record));
    else
      records_[*slot] = std::forward<R>(record);
    return true;
  }

  // For a source that can leap: how many of the coming records will certainly be passed over,
  // and passing over them.
  [[nodiscard]] std::uint64_t certain_misses() const noexcept { return slots_.certain_misses(); }
  void skip(std::uint64_t records) noexcept { slots_.skip(records); }

  // Becomes the sample of both streams; see ReservoirSlots::merge.
  void merge(RecordSample&& other) {
    slots_.merge(
        other.state(),
        [this](std::uint64_t from, std::uint64_t to) {
          if (from != to) records_[to] = std::move(records_[from]);
        },
        [&](std::uint64_t from, std::uint64_t to) {
          if (to < records_.size())
            records_[to] = std::move(other.records_[from]);
          else
            records_.push_back(std::move(other.records_[from]));
        });
  }

  [[nodiscard]] const std::vector<Record>& records() const noexcept { return records_; }
  // Takes the records out, for records that can only be moved; the sample ends with it.
  [[nodiscard]] std::vector<Record> take() && { return std::move(records_); }
  [[nodiscard]] const SamplerState& state() const noexcept { return slots_.state(); }

 private:
  Slots slots_;
  std::vector<Record> records_;
};

template <class Record>
using Reservoir = RecordSample<ReservoirSlots, Record>;
template <class Record>
using BiasedReservoir = RecordSample<BiasedSlots, Record>;

// The type-erased sample of 64-bit records. It has one shard: samples of a stream dealt out to
// shards would be fair within each shard only.
class Sample : public Structure {
 public:
  virtual void offer(std::uint64_t record) noexcept = 0;
  virtual void offer(std::span<const std::uint64_t> records) noexcept = 0;
  // In slot order.
  [[nodiscard]] virtual std::vector<std::uint64_t> records() const = 0;
};
using SamplePtr = std::unique_ptr<Sample, Release>;

}  // namespace weir

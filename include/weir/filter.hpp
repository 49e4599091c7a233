// The handles: one type-erased object a structure, called once a batch.
//
//   Structure   what all have: a name, parameters, a secret, one block of memory
//   Filter      seen before?   (src/filter)
//   Sketch      how often?     (weir/sketches.hpp)
//   Sample      a fair few     (weir/samplers.hpp)
//
// A handle and everything it owns live in one aligned allocation that never exceeds the
// requested budget. Calls on the way of a record neither allocate nor throw nor lock;
// a handle is used by one thread at a time, except that different shards of a filter may be
// driven by different threads (observe_shard).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "weir/digest.hpp"
#include "weir/plan.hpp"

namespace weir {

struct StructureInfo;  // weir/catalog.hpp

enum class Verdict : std::uint8_t { New = 0, Seen = 1 };

class Structure {
 public:
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;

  [[nodiscard]] virtual const StructureInfo& info() const noexcept = 0;
  // Every parameter with its value, e.g. "k=3,M=65536,mode=tables,pstar=0.03". Together with
  // the name, shards, secret and seed this makes an equal structure.
  [[nodiscard]] virtual std::string parameters() const = 0;
  [[nodiscard]] virtual std::uint32_t shards() const noexcept = 0;
  // Bytes of the one allocation: cells, bookkeeping, this object.
  [[nodiscard]] virtual std::uint64_t memory() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t seed() const noexcept = 0;
  [[nodiscard]] virtual const Digester& digester() const noexcept = 0;
  [[nodiscard]] Digest digest(std::string_view key) const noexcept { return digester()(key); }

  [[nodiscard]] virtual Health health() const = 0;

  // Takes the other's content in. Both must have the same name, parameters, shards and
  // secret (samples: different seeds). Throws Error(Unsupported) with the reason where the
  // mathematics forbids it.
  virtual void merge(const Structure& other) = 0;

  // The cells of all shards, as they are saved. For the checkpoint, tests and the curious.
  [[nodiscard]] virtual std::span<const std::byte> payload() const noexcept = 0;

 protected:
  Structure() = default;
  virtual ~Structure() = default;

 private:
  friend struct Release;
  friend class SnapshotAccess;  // src/checkpoint
  virtual void release() noexcept = 0;
  virtual std::span<std::byte> mutable_payload() noexcept = 0;
  // Counters and generator: what a shard remembers beside its cells.
  [[nodiscard]] virtual std::size_t registers_a_shard() const noexcept = 0;
  virtual void read_registers(std::uint32_t shard, std::span<std::uint64_t> out) const noexcept = 0;
  virtual void write_registers(std::uint32_t shard, std::span<const std::uint64_t> in) noexcept = 0;
  // Throws Error(BadState) when registers and cells cannot belong together.
  virtual void verify() const = 0;
};

struct Release {
  void operator()(Structure* structure) const noexcept { structure->release(); }
};
using StructurePtr = std::unique_ptr<Structure, Release>;

class Filter : public Structure {
 public:
  // Tests and remembers in one step, in the paper's order. The batch forms give bit for bit
  // what the single calls give, for any cut of the stream into batches; out.size() must
  // equal digests.size(). A weight is the record's importance, 1 and up; filters that do
  // not know importance ignore it.
  virtual Verdict observe(Digest digest, std::uint32_t weight = 1) noexcept = 0;
  virtual void observe(std::span<const Digest> digests, std::span<Verdict> out) noexcept = 0;
  virtual void observe(std::span<const Digest> digests, std::span<const std::uint32_t> weights,
                       std::span<Verdict> out) noexcept = 0;

  // Only looks.
  [[nodiscard]] virtual bool contains(Digest digest) const noexcept = 0;
  virtual void contains(std::span<const Digest> digests, std::span<Verdict> out) const noexcept = 0;

  // The shard that owns a digest, and the batch form for digests that all belong to one
  // shard: a thread that owns shards needs no lock.
  [[nodiscard]] virtual std::uint32_t shard_of(Digest digest) const noexcept = 0;
  virtual void shard_of(std::span<const Digest> digests,
                        std::span<std::uint32_t> out) const noexcept = 0;
  virtual void observe_shard(std::uint32_t shard, std::span<const Digest> digests,
                             std::span<Verdict> out) noexcept = 0;
  virtual void observe_shard(std::uint32_t shard, std::span<const Digest> digests,
                             std::span<const std::uint32_t> weights,
                             std::span<Verdict> out) noexcept = 0;

  [[nodiscard]] virtual Prediction predict(const StreamModel& stream) const = 0;

  // Forgets a key that was let in before; false, and nothing changed, when the filter does
  // not contain it. Throws Error(Unsupported) where the structure cannot.
  virtual bool remove(Digest digest) = 0;

  // Ends the current generation, that many times, in every shard: keys age as if as many had gone
  // by. For windows of time. Throws Error(Unsupported) where keys do not age by generations.
  virtual void advance(std::uint32_t generations) = 0;
  virtual void advance_shard(std::uint32_t shard, std::uint32_t generations) = 0;
  // What contains() would say after advance(generations), without doing it.
  [[nodiscard]] virtual bool contains_after(Digest digest, std::uint32_t generations) const = 0;

  // Forgets everything: a shard is as it was made, its counts included.
  virtual void clear_shard(std::uint32_t shard) noexcept = 0;

  // Estimated number of distinct keys held, and held by both of two filters of the same
  // shape and secret. Throws Error(Unsupported) where the structure cannot tell.
  [[nodiscard]] virtual double estimate_keys() const = 0;
  [[nodiscard]] virtual double estimate_intersection(const Filter& other) const = 0;

  // A filter of half the size with the same keys. Throws Error(Unsupported).
  [[nodiscard]] virtual std::unique_ptr<Filter, Release> halved() const = 0;
};
using FilterPtr = std::unique_ptr<Filter, Release>;

}  // namespace weir

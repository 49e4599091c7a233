// Sketches: how often did a key come?
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "weir/filter.hpp"

namespace weir {

// How far an estimate can be from the truth, as things stand.
struct CountError {
  bool never_below = true;  // below saturation of the counters
  double surplus = 0;       // above the truth by more than this
  double chance = 0;        // with at most this probability, for any one key
};

class Sketch : public Structure {
 public:
  // Counts one occurrence (or `times`) and returns the estimate that includes it.
  virtual std::uint64_t add(Digest digest, std::uint64_t times = 1) noexcept = 0;
  // The batch form counts each digest once. Bit for bit what the single calls give; out may
  // be empty (nothing wanted) or as long as digests.
  virtual void add(std::span<const Digest> digests, std::span<std::uint64_t> out) noexcept = 0;

  [[nodiscard]] virtual std::uint64_t estimate(Digest digest) const noexcept = 0;
  virtual void estimate(std::span<const Digest> digests,
                        std::span<std::uint64_t> out) const noexcept = 0;

  // Takes one occurrence (or `times`) back that was added before. Throws Error(Unsupported)
  // where the update rule does not allow it, Error(Config) when more is taken back than can
  // have come; nothing is changed then.
  virtual void remove(Digest digest, std::uint64_t times = 1) = 0;

  // The same for each digest in turn, once. Returns how many were taken back: fewer than all when
  // the next one cannot have come.
  virtual std::size_t remove(std::span<const Digest> digests) = 0;

  // Becomes the sum of `parts`, each taken `weight` times; it may be one of them. They must have
  // the same parameters, shards and secret. Throws Error(Unsupported) where counters do not add up,
  // Error(Config) when one would fall below zero or exceed its maximum; nothing is changed then.
  virtual void set_sum(std::span<const Sketch* const> parts,
                       std::span<const std::int64_t> weights) = 0;

  [[nodiscard]] virtual CountError error() const noexcept = 0;

  // Occurrences added, less those removed.
  [[nodiscard]] virtual std::uint64_t total() const noexcept = 0;
};
using SketchPtr = std::unique_ptr<Sketch, Release>;

}  // namespace weir

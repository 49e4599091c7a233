// The handle of a sketch. On top of core/structure.hpp a sketch class S provides
//   S::Target                    where a key will touch memory; plain data
//   locate(digest, target)       fills the target; depends on the digest only
//   prefetch(target)             asks for the lines
//   add(target, times) -> estimate that includes them
//   estimate(target) -> how often, as far as the sketch can tell
//   total()                      occurrences added, less those removed
//   error()                      how far an estimate can be off
//   S::lookahead                 how many records ahead a batch prefetches
// and, where it can: remove(target, times); where it never can: no_remove, the reason. Where it
// depends on the parameters, remove and merge throw before they change anything. Where counters
// add up: sum_fits(parts, weights), which may throw, and set_sum(parts, weights).
//
// A target follows from the digest alone, so that looking ahead changes no result.
#pragma once

#include "core/structure.hpp"

namespace weir {

// Self is the handle, Face what it is to the outside: Sketch, or one that offers more.
template <class S, class Self, class Face>
class SketchCalls : public Sharded<S, Self, Face> {
 protected:
  using Target = typename S::Target;
  SketchCalls() = default;
  ~SketchCalls() override = default;

 public:
  std::uint64_t add(Digest digest, std::uint64_t times) noexcept override {
    S& shard = this->shard(this->index_of(digest));
    Target target;
    shard.locate(digest, target);
    return shard.add(target, times);
  }
  void add(std::span<const Digest> digests, std::span<std::uint64_t> out) noexcept override {
    if (out.empty())
      add_all(digests, [](std::size_t, std::uint64_t) {});
    else
      add_all(digests, [out](std::size_t i, std::uint64_t estimate) { out[i] = estimate; });
  }

  [[nodiscard]] std::uint64_t estimate(Digest digest) const noexcept override {
    const S& shard = this->all()[this->index_of(digest)];
    Target target;
    shard.locate(digest, target);
    return shard.estimate(target);
  }
  void estimate(std::span<const Digest> digests,
                std::span<std::uint64_t> out) const noexcept override {
    const auto shards = this->all();
    each(
        digests, [&](Digest d) -> const S& { return shards[this->index_of(d)]; },
        [&](const S& shard, std::size_t i, const Target& target) {
          out[i] = shard.estimate(target);
        });
  }

  void remove(Digest digest, std::uint64_t times) override {
    if constexpr (requires(S& s, const Target& t) { s.remove(t, times); }) {
      S& shard = this->shard(this->index_of(digest));
      Target target;
      shard.locate(digest, target);
      shard.remove(target, times);
    } else {
      static_cast<void>(digest), static_cast<void>(times);
      throw Error(ErrorCode::Unsupported, std::string(this->info().name) +
                                              " cannot take an occurrence back: " + S::no_remove);
    }
  }

  std::size_t remove(std::span<const Digest> digests) override {
    for (std::size_t i = 0; i < digests.size(); ++i) {
      if (SketchCalls::estimate(digests[i]) == 0) return i;
      SketchCalls::remove(digests[i], 1);
    }
    return digests.size();
  }

  void set_sum(std::span<const Sketch* const> parts,
               std::span<const std::int64_t> weights) override {
    if constexpr (requires(S& s, std::span<const S* const> p) { s.set_sum(p, weights); }) {
      std::vector<const Self*> same;
      for (const Sketch* const part : parts) same.push_back(&this->of_same_shape(*part, "summed"));
      std::vector<const S*> of_shard(parts.size());
      const auto each_shard = [&](auto use) {
        for (std::uint32_t i = 0; i < this->shards(); ++i) {
          for (std::size_t p = 0; p < parts.size(); ++p) of_shard[p] = &same[p]->all()[i];
          use(this->shard(i));
        }
      };
      bool fits = true;  // all of them, before the first is changed
      each_shard([&](const S& shard) { fits = fits && shard.sum_fits(of_shard, weights); });
      if (!fits)
        throw Error(ErrorCode::Config,
                    "a counter of this sum would fall below zero or exceed its maximum");
      each_shard([&](S& shard) { shard.set_sum(of_shard, weights); });
    } else {
      static_cast<void>(parts), static_cast<void>(weights);
      throw Error(ErrorCode::Unsupported,
                  std::string(this->info().name) + " sketches have no weighted sum");
    }
  }

  [[nodiscard]] CountError error() const noexcept override {
    CountError worst{.never_below = true};
    for (const S& shard : this->all()) {
      const CountError one = shard.error();
      worst.never_below = worst.never_below && one.never_below;
      worst.surplus = std::max(worst.surplus, one.surplus);
      worst.chance = std::max(worst.chance, one.chance);
    }
    return worst;
  }

  [[nodiscard]] std::uint64_t total() const noexcept override {
    std::uint64_t sum = 0;
    for (const S& shard : this->all()) sum += shard.total();
    return sum;
  }

 private:
  template <class Report>
  void add_all(std::span<const Digest> digests, Report report) noexcept {
    const auto count_one = [&](S& shard, std::size_t i, const Target& target) {
      report(i, shard.add(target, 1));
    };
    if (this->shards() == 1) {
      S& only = this->shard(0);
      each(
          digests, [&only](Digest) -> S& { return only; }, count_one);
    } else {
      each(
          digests, [this](Digest d) -> S& { return this->shard(this->index_of(d)); }, count_one);
    }
  }

 protected:
  template <class ShardOf, class Use>
  static void each(std::span<const Digest> digests, ShardOf shard_of, Use use) noexcept {
    pipelined<S::lookahead, Target>(
        digests.size(),
        [&](std::size_t i, Target& target) {
          const S& shard = shard_of(digests[i]);
          shard.locate(digests[i], target);
          shard.prefetch(target);
        },
        [&](std::size_t i, const Target& target) { use(shard_of(digests[i]), i, target); });
  }
};

template <class S>
class SketchHandle final : public SketchCalls<S, SketchHandle<S>, Sketch> {
  friend Sharded<S, SketchHandle<S>, Sketch>;
  SketchHandle() = default;
  ~SketchHandle() override = default;
};

}  // namespace weir

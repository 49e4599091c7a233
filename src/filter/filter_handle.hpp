// The handle of a filter. On top of core/structure.hpp a filter class S provides
//   S::Target                    where a record will touch memory; plain data
//   prepare(digest, weight, target)  fills the target and takes the record's ordinal
//   locate(digest, target)       the same for looking only
//   prefetch(target)             asks for the key's lines
//   prefetch_more(target)        optional: for the other lines that observe() will touch
//   observe(target) -> Verdict   the paper's steps
//   contains(target) -> bool
//   S::predict(shape, stream) -> Prediction     of one shard
//   S::lookahead                 how many records ahead a batch prefetches
//   S::group, observe_group(), tally()   optional, for structures that take several at once
// and, where it can: remove(target), advance(generations) with contains_after(target, generations),
// estimate_keys(), estimate_union(other), halved(shape), fold_from(other).
#pragma once

#include <cmath>

#include "core/structure.hpp"

namespace weir {

template <class S>
class FilterHandle final : public Sharded<S, FilterHandle<S>, Filter> {
  using Base = Sharded<S, FilterHandle<S>, Filter>;
  using Target = typename S::Target;

 public:
  Verdict observe(Digest digest, std::uint32_t weight) noexcept override {
    S& shard = this->shard(this->index_of(digest));
    Target target;
    shard.prepare(digest, weight, target);
    if constexpr (requires { S::group; }) {
      Verdict verdict;
      shard.observe_group(&target, 1, &verdict);
      shard.tally(verdict);
      return verdict;
    } else {
      return shard.observe(target);
    }
  }
  void observe(std::span<const Digest> digests, std::span<Verdict> out) noexcept override {
    observe_all(
        digests, [](std::size_t) { return 1u; }, out);
  }
  void observe(std::span<const Digest> digests, std::span<const std::uint32_t> weights,
               std::span<Verdict> out) noexcept override {
    observe_all(
        digests, [weights](std::size_t i) { return weights[i]; }, out);
  }

  [[nodiscard]] bool contains(Digest digest) const noexcept override {
    const S& shard = this->all()[this->index_of(digest)];
    Target target;
    shard.locate(digest, target);
    return shard.contains(target);
  }
  void contains(std::span<const Digest> digests, std::span<Verdict> out) const noexcept override {
    const auto shards = this->all();
    pipelined<S::lookahead, Target>(
        digests.size(),
        [&](std::size_t i, Target& target) {
          const S& shard = shards[this->index_of(digests[i])];
          shard.locate(digests[i], target);
          shard.prefetch(target);
        },
        [&](std::size_t i, const Target& target) {
          const S& shard = shards[this->index_of(digests[i])];
          out[i] = shard.contains(target) ? Verdict::Seen : Verdict::New;
        });
  }

  [[nodiscard]] std::uint32_t shard_of(Digest digest) const noexcept override {
    return this->index_of(digest);
  }
  void shard_of(std::span<const Digest> digests,
                std::span<std::uint32_t> out) const noexcept override {
    for (std::size_t i = 0; i < digests.size(); ++i) out[i] = this->index_of(digests[i]);
  }
  void observe_shard(std::uint32_t index, std::span<const Digest> digests,
                     std::span<Verdict> out) noexcept override {
    S& shard = this->shard(index);
    observe_by(
        digests, [](std::size_t) { return 1u; }, out, [&shard](Digest) -> S& { return shard; });
  }
  void observe_shard(std::uint32_t index, std::span<const Digest> digests,
                     std::span<const std::uint32_t> weights,
                     std::span<Verdict> out) noexcept override {
    S& shard = this->shard(index);
    observe_by(
        digests, [weights](std::size_t i) { return weights[i]; }, out,
        [&shard](Digest) -> S& { return shard; });
  }

  // A shard sees 1/shards of the keys and of the records.
  [[nodiscard]] Prediction predict(const StreamModel& stream) const override {
    StreamModel part = stream;
    part.records = stream.records / this->shards();
    part.skip = stream.skip / this->shards();
    part.universe = stream.universe / this->shards();
    for (Popularity& p : part.popularity) p.keys /= this->shards(), p.rate *= this->shards();
    for (Distance& d : part.distances) d.records /= this->shards();
    return S::predict(this->shape(), part);
  }

  bool remove(Digest digest) override {
    if constexpr (requires(S& s, Target& t) { s.remove(t); }) {
      S& shard = this->shard(this->index_of(digest));
      Target target;
      shard.locate(digest, target);
      return shard.remove(target);
    } else {
      static_cast<void>(digest);
      unsupported("forget a chosen key; the counting filter can");
    }
  }

  void advance(std::uint32_t generations) override {
    for (std::uint32_t i = 0; i < this->shards(); ++i) advance_shard(i, generations);
  }
  void advance_shard(std::uint32_t index, std::uint32_t generations) override {
    if constexpr (requires(S& s) { s.advance(generations); }) {
      this->shard(index).advance(generations);
    } else {
      static_cast<void>(index), static_cast<void>(generations);
      unsupported("age by generations; the apbf and a2 filters can");
    }
  }
  [[nodiscard]] bool contains_after(Digest digest, std::uint32_t generations) const override {
    if constexpr (requires(const S& s, Target& t) { s.contains_after(t, generations); }) {
      const S& shard = this->all()[this->index_of(digest)];
      Target target;
      shard.locate(digest, target);
      return shard.contains_after(target, generations);
    } else {
      static_cast<void>(digest), static_cast<void>(generations);
      unsupported("age by generations; the apbf and a2 filters can");
    }
  }
  void clear_shard(std::uint32_t index) noexcept override { this->renew(index); }

  [[nodiscard]] double estimate_keys() const override {
    if constexpr (requires(const S& s) { s.estimate_keys(); }) {
      double sum = 0;
      for (const S& shard : this->all()) sum += shard.estimate_keys();
      return sum;
    } else {
      unsupported("estimate how many keys it holds; the bloom filter can");
    }
  }
  // |A and B| = |A| + |B| - |A or B|, each estimated from its share of ones.
  [[nodiscard]] double estimate_intersection(const Filter& other) const override {
    if constexpr (requires(const S& s) { s.estimate_union(s); }) {
      const auto& same = this->of_same_shape(other, "compared");
      double sum = 0;
      for (std::uint32_t i = 0; i < this->shards(); ++i) {
        const S& a = this->all()[i];
        const S& b = same.all()[i];
        sum += a.estimate_keys() + b.estimate_keys() - a.estimate_union(b);
      }
      return std::max(sum, 0.0);
    } else {
      static_cast<void>(other);
      unsupported("estimate an intersection; the bloom filter can");
    }
  }
  [[nodiscard]] FilterPtr halved() const override {
    if constexpr (requires(S& s) { s.fold_from(s); }) {
      auto* const half = FilterHandle::make(this->info(), S::halved(this->shape()), this->making());
      FilterPtr result(half);
      for (std::uint32_t i = 0; i < this->shards(); ++i) half->shard(i).fold_from(this->all()[i]);
      return result;
    } else {
      unsupported("be halved; the bloom filter can");
    }
  }

 private:
  friend Base;
  FilterHandle() = default;
  ~FilterHandle() override = default;

  [[noreturn]] void unsupported(const char* what) const {
    throw Error(ErrorCode::Unsupported, std::string(this->info().name) + " cannot " + what);
  }

  template <class Weight>
  void observe_all(std::span<const Digest> digests, Weight weight,
                   std::span<Verdict> out) noexcept {
    if (this->shards() == 1) {
      S& only = this->shard(0);
      observe_by(digests, weight, out, [&only](Digest) -> S& { return only; });
    } else {
      observe_by(digests, weight, out,
                 [this](Digest d) -> S& { return this->shard(this->index_of(d)); });
    }
  }

  // prepare() takes a record's ordinal when it is called, and targets are used in the order
  // they were prepared, so looking ahead changes no result.
  template <class Weight, class ShardOf>
  void observe_by(std::span<const Digest> digests, Weight weight, std::span<Verdict> out,
                  ShardOf shard_of) noexcept {
    const auto prepare = [&](std::size_t i, Target& target) {
      S& shard = shard_of(digests[i]);
      shard.prepare(digests[i], weight(i), target);
      shard.prefetch(target);
      if constexpr (requires { shard.prefetch_more(target); }) shard.prefetch_more(target);
    };
    if constexpr (requires { S::group; }) {
      observe_in_groups(digests, out, prepare, shard_of);
    } else {
      pipelined<S::lookahead, Target>(digests.size(), prepare, [&](std::size_t i, const Target& t) {
        out[i] = shard_of(digests[i]).observe(t);
      });
    }
  }

  // For structures with several kernels: one indirect call a group, not one a record. Or with a
  // search of many steps: a group is stepped in turn.
  template <class Prepare, class ShardOf>
  void observe_in_groups(std::span<const Digest> digests, std::span<Verdict> out, Prepare prepare,
                         ShardOf shard_of) noexcept {
    constexpr std::size_t ring = S::lookahead + S::group;
    static_assert(ring % S::group == 0);
    Target targets[ring];
    std::size_t prepared = 0;
    for (std::size_t done = 0; done < digests.size();) {
      const std::size_t until = std::min(digests.size(), done + ring);
      for (; prepared < until; ++prepared) prepare(prepared, targets[prepared % ring]);
      const std::size_t count = std::min(S::group, digests.size() - done);
      this->shard(0).observe_group(&targets[done % ring], count, &out[done]);
      for (const std::size_t end = done + count; done < end; ++done)
        shard_of(digests[done]).tally(out[done]);
    }
  }
};

}  // namespace weir

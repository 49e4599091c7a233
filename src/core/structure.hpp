// From a structure's own class to the type-erased handle: memory, shards, batches and
// prefetching live here once, so that a structure's file holds its algorithm only.
//
// A structure S of any kind provides
//   S::Shape                      its parameters, see core/shape.hpp
//   S::bytes(shape)               bytes of cells of one shard
//   S(shape, memory, random)      on zeroed memory of that size
//   registers(f)                  calls f(std::uint64_t&) for what it remembers beside cells
//   verify()                      optional: throws Error(BadState) if registers and cells disagree
//   health(Health&)               fill and fpr
//   merge(other) / no_merge       takes another in, or says why it cannot
// and S::complete(params, request, bytes) fills the gaps of the parameters, where `bytes` is what
// the budget leaves for the cells of one shard (0: no budget was given).
#pragma once

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "core/bits.hpp"
#include "core/memory.hpp"
#include "core/prefetch.hpp"
#include "core/shape.hpp"

namespace weir {

// Everything beside the parameters that makes a structure what it is.
struct Making {
  std::uint32_t shards;
  std::uint64_t seed;
  Digester digester;
  Kernel kernel;
};

struct StructureEntry : StructureInfo {
  void (*complete)(Params&, const Request&, std::uint64_t bytes_a_shard);
  std::uint64_t (*payload_bytes)(const Params&);  // of one shard
  std::uint64_t (*overhead)(std::uint32_t shards);
  StructurePtr (*create)(const Params&, const Making&);
};

inline constexpr std::uint32_t max_shards = 65536;

// The block: [handle][shard objects][cells of shard 0][cells of shard 1]...
template <class S, class Handle, class Base>
class Sharded : public Base {
 public:
  using Shape = typename S::Shape;

  static std::uint64_t overhead(std::uint32_t shards) noexcept {
    return round_up(sizeof(Handle), line_bytes) + round_up(sizeof(S) * shards, line_bytes);
  }

  static Handle* make(const StructureInfo& info, const Shape& shape, const Making& making) {
    const std::uint64_t stride = round_up(S::bytes(shape), line_bytes);
    const std::uint64_t total = overhead(making.shards) + stride * making.shards;
    std::byte* const block = allocate_block(total);
    auto* const handle = new (block) Handle;
    handle->info_ = &info;
    handle->making_ = making;
    handle->shape_ = shape;
    handle->stride_ = stride;
    handle->total_ = total;
    for (std::uint32_t i = 0; i < making.shards; ++i) handle->construct(i);
    return handle;
  }

  [[nodiscard]] const StructureInfo& info() const noexcept override { return *info_; }
  [[nodiscard]] std::string parameters() const override { return write_shape(shape_); }
  [[nodiscard]] std::uint32_t shards() const noexcept override { return making_.shards; }
  [[nodiscard]] std::uint64_t memory() const noexcept override { return total_; }
  [[nodiscard]] std::uint64_t seed() const noexcept override { return making_.seed; }
  [[nodiscard]] const Digester& digester() const noexcept override { return making_.digester; }
  [[nodiscard]] std::span<const std::byte> payload() const noexcept override {
    return {const_cast<Sharded*>(this)->cells_begin(), stride_ * making_.shards};
  }

  [[nodiscard]] Health health() const override {
    Health sum;
    for (const S& shard : all()) {
      Health one;
      shard.health(one);
      sum.fill += one.fill / making_.shards;
      sum.fpr += one.fpr / making_.shards;
      sum.records += one.records;
      sum.seen += one.seen;
    }
    return sum;
  }

  void merge(const Structure& other) override {
    if constexpr (requires(S& a, const S& b) { a.merge(b); }) {
      const auto& same = of_same_shape(other, "merged");
      for (std::uint32_t i = 0; i < making_.shards; ++i) all()[i].merge(same.all()[i]);
    } else {
      static_cast<void>(other);
      throw Error(ErrorCode::Unsupported,
                  std::string(info_->name) + " structures cannot be merged: " + S::no_merge);
    }
  }

 protected:
  Sharded() = default;
  ~Sharded() override = default;

  [[nodiscard]] std::span<S> all() noexcept { return {shards_begin(), making_.shards}; }
  [[nodiscard]] std::span<const S> all() const noexcept {
    return {const_cast<Sharded*>(this)->shards_begin(), making_.shards};
  }
  [[nodiscard]] S& shard(std::uint32_t i) noexcept { return shards_begin()[i]; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] const Making& making() const noexcept { return making_; }

  // Makes a shard anew, on memory that is zero again.
  void renew(std::uint32_t i) noexcept {
    shard(i).~S();
    std::memset(cells_begin() + stride_ * i, 0, stride_);
    construct(i);
  }

  // Shards are chosen by a mix of the digest that no structure uses for its positions.
  [[nodiscard]] std::uint32_t index_of(Digest digest) const noexcept {
    if (making_.shards == 1) return 0;
    return static_cast<std::uint32_t>(reduce(
        fold_multiply(digest ^ 0x8ebc6af09c88c6e3ULL, 0x589965cc75374cc3ULL), making_.shards));
  }

  // The other handle, if it is of the same structure, parameters, shards and secret.
  const Handle& of_same_shape(const Structure& other, const char* verb) const {
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorCode::Config, std::string(info_->name) + " and " +
                                         std::string(other.info().name) + " cannot be " + verb +
                                         ": " + why);
    };
    if (&other.info() != info_) refuse("they are different structures");
    if (other.parameters() != parameters())
      refuse("their parameters differ: " + parameters() + " against " + other.parameters());
    if (other.shards() != making_.shards) refuse("they have different numbers of shards");
    if (other.digester().kind() != making_.digester.kind() ||
        other.digester().secret() != making_.digester.secret())
      refuse("they hash with different secrets; make both with the same seed");
    return static_cast<const Handle&>(other);
  }

 private:
  template <class, class, class>
  friend class Sharded;

  void construct(std::uint32_t i) {
    S* const made = new (shards_begin() + i)
        S(shape_, cells_begin() + stride_ * i, RecordRandom(mix(making_.seed, i + 1)));
    if constexpr (requires { made->use(making_.kernel); }) made->use(making_.kernel);
  }

  S* shards_begin() noexcept {
    return reinterpret_cast<S*>(reinterpret_cast<std::byte*>(static_cast<Handle*>(this)) +
                                round_up(sizeof(Handle), line_bytes));
  }
  std::byte* cells_begin() noexcept {
    return reinterpret_cast<std::byte*>(static_cast<Handle*>(this)) + overhead(making_.shards);
  }

  void release() noexcept override {
    auto* const handle = static_cast<Handle*>(this);
    const std::uint64_t total = total_;
    for (S& shard : all()) shard.~S();
    handle->~Handle();
    free_block(reinterpret_cast<std::byte*>(handle), total);
  }

  std::span<std::byte> mutable_payload() noexcept override {
    return {cells_begin(), stride_ * making_.shards};
  }

  [[nodiscard]] std::size_t registers_a_shard() const noexcept override {
    std::size_t n = 0;
    const_cast<Sharded*>(this)->shard(0).registers([&n](std::uint64_t&) { ++n; });
    return n;
  }
  void read_registers(std::uint32_t i, std::span<std::uint64_t> out) const noexcept override {
    std::size_t next = 0;
    const_cast<Sharded*>(this)->shard(i).registers(
        [&](std::uint64_t& value) { out[next++] = value; });
  }
  void write_registers(std::uint32_t i, std::span<const std::uint64_t> in) noexcept override {
    std::size_t next = 0;
    shard(i).registers([&](std::uint64_t& value) { value = in[next++]; });
  }
  void verify() const override {
    std::uint64_t records = 0;
    for (const S& shard : all()) {
      Health one;
      shard.health(one);
      // Half of the 64 bits are left for what comes, so that no count runs over.
      records += one.records;
      if (one.records >> 63 != 0 || records >> 63 != 0)
        throw Error(ErrorCode::BadState, "no stream is as long as its count of records");
      if constexpr (requires { shard.verify(); }) shard.verify();
    }
  }

  const StructureInfo* info_ = nullptr;
  Making making_{1, 0, Digester::from_secret(HashKind::Xxh3, {}), Kernel::Auto};
  Shape shape_{};
  std::uint64_t stride_ = 0;
  std::uint64_t total_ = 0;
};

template <class S, template <class> class Handle>
constexpr StructureEntry entry(const StructureInfo& info) {
  StructureEntry e{info, nullptr, nullptr, nullptr, nullptr};
  e.complete = [](Params& params, const Request& request, std::uint64_t bytes) {
    S::complete(params, request, bytes);
  };
  e.payload_bytes = [](const Params& params) {
    return round_up(S::bytes(read_shape<typename S::Shape>(params)), line_bytes);
  };
  e.overhead = [](std::uint32_t shards) { return Handle<S>::overhead(shards); };
  e.create = [](const Params& params, const Making& making) {
    return StructurePtr(Handle<S>::make(S::info(), read_shape<typename S::Shape>(params), making));
  };
  return e;
}

// Reads ahead: prepares and prefetches `lookahead` targets before it uses the first, so that
// the memory's latency is paid once a batch and not once a record.
template <std::size_t lookahead, class Target, class Prepare, class Use>
inline void pipelined(std::size_t count, Prepare prepare, Use use) noexcept {
  Target ring[lookahead];
  const std::size_t first = std::min(count, lookahead);
  for (std::size_t i = 0; i < first; ++i) prepare(i, ring[i]);
  for (std::size_t i = 0; i < count; ++i) {
    Target& target = ring[i % lookahead];
    use(i, target);
    if (i + lookahead < count) prepare(i + lookahead, target);
  }
}

}  // namespace weir

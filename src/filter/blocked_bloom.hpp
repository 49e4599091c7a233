// Blocked Bloom filter (Putze, Sanders, Singler, 2007): a Bloom filter that needs one cache
// line a key.
//
//   A digest picks one 64-byte line of eight 64-bit lanes, and k bits in it: probe i goes to lane
//   (start + i) mod 8 with a start drawn from the digest, at one of 64 bits. (Putze's sectored
//   form: consecutive probes never meet in a lane before all eight are used, and a lane is a
//   register's.)
//   observe(x): (1) build x's mask of 512 bits  (2) Seen iff the line holds it  (3) OR it in
//
// Guarantee: no false negative, ever.
// Predicted: lines hold Poisson(n / lines) keys each, so some are overfull and the FPR is above
// that of `bloom` at the same bits a key; predict() sums it exactly (blocked_bloom.cpp).
// Measured (laws, 10 bits a key, k = 6): FPR 1.06 % where 1.06 % was predicted; bloom has 0.82 %.
// Stops working: like bloom, it never forgets. Below an FPR of about 1e-5 the uneven lines
// cost more than twice bloom's memory.
//
// Kernels: scalar, AVX2 and AVX-512 build the mask differently and set the same bits.
#pragma once

#include "filter/filter_handle.hpp"

namespace weir {

class BlockedBloom {
 public:
  static constexpr unsigned max_k = 16;
  struct Shape {
    std::uint64_t lines = 0;
    unsigned k = 0;
    template <class V>
    void visit(V& v) {
      v.whole("lines", lines, 1, max_cells / 512);
      v.whole("k", k, 1, max_k);
    }
  };
  struct Target {
    std::uint64_t* line;
    std::uint64_t bits;
  };
  static constexpr std::size_t lookahead = 32;
  static constexpr std::size_t group = 16;

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static std::uint64_t bytes(const Shape& shape) noexcept { return shape.lines * line_bytes; }
  static Prediction predict(const Shape& shape, const StreamModel& stream);

  BlockedBloom(const Shape& shape, std::byte* memory, RecordRandom random) noexcept;
  void use(Kernel kernel);

  void locate(Digest digest, Target& target) const noexcept {
    target.line = words_ + reduce(digest, lines_) * 8;
    target.bits = Draws(digest).next();
  }
  void prepare(Digest digest, std::uint32_t /*weight*/, Target& target) noexcept {
    locate(digest, target);
  }
  void prefetch(const Target& target) const noexcept { prefetch_line(target.line); }

  // Several targets of any shard with one call into the kernel; the caller tallies.
  void observe_group(const Target* targets, std::size_t count, Verdict* out) const noexcept {
    kernel_(targets, count, k_, out);
  }
  void tally(Verdict verdict) noexcept {
    ++records_;
    seen_ += verdict == Verdict::Seen;
  }
  [[nodiscard]] bool contains(const Target& target) const noexcept;

  template <class F>
  void registers(F&& f) {
    f(records_), f(seen_);
  }
  void verify() const;
  void health(Health& health) const noexcept;
  void merge(const BlockedBloom& other) noexcept;

 private:
  using KernelFunction = void (*)(const Target*, std::size_t, unsigned k, Verdict*) noexcept;

  std::uint64_t* words_;
  std::uint64_t lines_;
  unsigned k_;
  KernelFunction kernel_;
  std::uint64_t records_ = 0, seen_ = 0;
};

}  // namespace weir

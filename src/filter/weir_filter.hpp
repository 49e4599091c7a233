// The weir filter: one short fingerprint a key, one cache line a key, and the memory goes to the
// keys that come again.
//
// Idea. A Bloom filter that forgets keeps a key as k bits and loses it with the first of them. A
// key kept as one fingerprint is lost once, when it is chosen to be; and which key is chosen is
// the whole art, for what a filter misses is what a cache of fingerprints misses.
//   - A digest picks one line of 64 bytes and a bucket in it. The line is a small quotient table:
//     fingerprints sorted by bucket, so that the bucket need not be stored. A key costs the r
//     bits of its remainder and about 2.5 bits of order, and every slot of the line serves every
//     bucket: nothing is forgotten because of a crowded neighbour while the line has room.
//   - While a line fills up its remainders are longer, r(u) = as many bits as u slots leave; each
//     is cut to make room for the next. So the FPR is far below the promised one at first and
//     reaches it when the line is full, and before that nothing at all is forgotten.
//   - In a full line a hand goes round. It forgets the first slot of age 0; a slot that was met
//     again has age 1, is spared once, and made young. Newcomers begin at age 0: the many keys
//     that never come again leave within one round, and those that do come again stay.
//
// A line (weir_line.hpp draws it) has n slots and B buckets; a is the bits of age a slot.
//   observe(x): (1) x's line, bucket and remainder; the slots of the bucket
//               (2) Seen iff one of them holds the remainder: its age goes up, and that is all
//               (3) while fewer than n slots are used: shorten the remainders if need be
//               (4) else the hand finds a slot of age 0, making younger what it passes
//               (5) put the remainder into its bucket, at the age that its importance gives
//   A newcomer begins at age e, 0 unless asked otherwise; importance 1..imax is mapped evenly to
//   the ages 0..2^a - 1, and gives it if it gives more.
//
// Guarantee: the FPR is at most n / (B 2^r) for ever; no false negative before a line is full.
// Predicted: plan/weir_model.hpp. Above an FPR of about 10 % fingerprints that became equal when
// they were cut hold slots for a while, and the first misses come earlier than predicted. Measured:
// docs/weir-filter.md. Stops working: where no key comes again soon (uniform streams far beyond the
// memory) the order and the age buy nothing, and one bare slot a bucket (`qht`) keeps more keys at
// an FPR above about 5 %. A key that comes once is forgotten after a time that is spread evenly
// over one round of the hand; with e = 1 it is spread between one round and two, of rounds as much
// shorter, and with a = 2 and e = 3 between three and four: nearer to a window, and worse on
// streams where most keys never come again.
#pragma once

#include "filter/filter_handle.hpp"
#include "filter/weir_line.hpp"

namespace weir {

class WeirFilter {
 public:
  struct Shape {
    std::uint64_t lines = 0;
    unsigned n = 0, B = 0, a = 0, e = 0;
    std::uint32_t imax = 0;
    template <class V>
    void visit(V& v) {
      v.whole("lines", lines, 1, max_cells / weir_line_bits);
      v.whole("n", n, 1, weir_max_slots);
      v.whole("B", B, 1, weir_line_bits);
      v.whole("a", a, 0, 2);
      v.whole("e", e, 0, 3);
      v.whole("imax", imax, 1, 0xffffffff);
    }
    void check() const;
    // Bits of a remainder in a full line, and the FPR that follows.
    [[nodiscard]] unsigned r() const noexcept;
    [[nodiscard]] double fpr() const noexcept;
    [[nodiscard]] WeirLayout layout() const noexcept { return {n, B, a}; }
    // Importance above imax counts as imax, 0 as 1.
    [[nodiscard]] unsigned enters(std::uint32_t importance) const noexcept {
      const std::uint64_t bounded = std::clamp<std::uint64_t>(importance, 1, imax);
      return std::max(e, static_cast<unsigned>(((bounded - 1) << a) / imax));
    }
  };
  using Target = WeirTarget;
  static constexpr std::size_t lookahead = 32;
  static constexpr std::size_t group = 16;

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static std::uint64_t bytes(const Shape& shape) noexcept { return shape.lines * line_bytes; }
  static Prediction predict(const Shape& shape, const StreamModel& stream);

  WeirFilter(const Shape& shape, std::byte* memory, RecordRandom random) noexcept;
  void use(Kernel kernel);

  void locate(Digest digest, Target& target) const noexcept {
    const std::uint64_t fingerprint = Draws(digest).next();
    target.line = words_ + reduce(digest, shape_.lines) * 8;
    target.bucket = static_cast<std::uint32_t>(reduce(fingerprint, shape_.B));
    target.remainder = static_cast<std::uint32_t>(fingerprint);
    target.enters = shape_.e;
  }
  void prepare(Digest digest, std::uint32_t weight, Target& target) noexcept {
    locate(digest, target);
    if (shape_.imax > 1) target.enters = shape_.enters(weight);
  }
  void prefetch(const Target& target) const noexcept { prefetch_line(target.line); }

  // Several targets of any shard with one call into the kernel; the caller tallies.
  void observe_group(const Target* targets, std::size_t count, Verdict* out) const noexcept {
    kernel_.observe(layout_, targets, count, out);
  }
  void tally(Verdict verdict) noexcept {
    ++records_;
    seen_ += verdict == Verdict::Seen;
  }
  [[nodiscard]] bool contains(const Target& target) const noexcept {
    return kernel_.contains(layout_, target);
  }

  template <class F>
  void registers(F&& f) {
    f(records_), f(seen_);
  }
  void verify() const;
  void health(Health& health) const noexcept;
  static constexpr const char* no_merge =
      "which of two full lines' keys to forget depends on the order in which both streams came";

 private:
  Shape shape_;
  WeirLayout layout_;
  WeirKernel kernel_;
  std::uint64_t* words_;
  std::uint64_t records_ = 0, seen_ = 0;
};

}  // namespace weir

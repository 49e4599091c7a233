// QHT: quotient hash table (Geraud, Lombard-Platet, Naccache, 2019).
//
//   n buckets of b places for fingerprints of f bits (the paper calls a bucket a cell and a place a
//   bucket). A key's bucket and its fingerprint, one of V = 2^f - 1 values, come from its digest;
//   0 marks an empty place. For every record:
//   (1) Seen iff its fingerprint is in its bucket; then nothing changes
//   (2) else it is stored in the first empty place of the bucket
//   (3) or, if none is empty, over a uniformly chosen one
//
// Guarantee: the FPR never exceeds b/V, since a bucket never holds a value twice; f is the smallest
// that keeps the requested one. A record touches one bucket, mostly one line.
// Predicted: plan/qht_model.hpp. Measured on the stream of RSBF's Table 2 (100,000 records over
// 173,463 keys, 65,536 bits, three seeds), b = 1 and f = 4, as 8 % yields: FNR 63.4 %, FPR 5.26 %
// where 62.9 % and 5.24 % were predicted. RSBF shows FNR 74.7 % at FPR 8.3 %.
//
// Choice of b: each doubling costs a bit a fingerprint, and a full bucket forgets no later for it.
// Where the stream does not fit, b = 1 is best, so it is the default. Measured FNR:
//                                                      b = 1    b = 2    b = 4    b = 8
//   the stream above, FPR 5.3 to 5.8 %                 63.4 %   67.1 %   70.7 %   73.7 %
//   100 KiB, FPR 1.6 %, 1.5 million keys, steady       88.7 %   90.0 %   91.1 %   91.9 %
//   100 KiB, 150,000 records over 60,000 keys          14.9 %    7.1 %    3.1 %    1.2 %
// Where it fits, as in the last row, more places lose fewer keys to neighbours.
// Stops working: a place is written over after n b further new records on average, and by chance,
// so at b = 1 keys are lost long before the table is full. f is whole: the FPR may be half of the
// requested one, at the cost of a bit a fingerprint. Below 2.3e-10 b (f = 32) the FPR stays there.
#pragma once

#include <cstring>

#include "filter/filter_handle.hpp"

namespace weir {

class Qht {
 public:
  static constexpr unsigned max_b = 64, max_f = 32;
  struct Shape {
    std::uint64_t n = 0;
    unsigned b = 0, f = 0;
    template <class V>
    void visit(V& v) {
      v.whole("n", n, 1, max_cells);
      v.whole("b", b, 1, max_b);
      v.whole("f", f, 1, max_f);
    }
    void check() const;
    [[nodiscard]] std::uint64_t values() const noexcept { return (std::uint64_t{1} << f) - 1; }
  };
  struct Target {
    std::uint64_t first;  // place of its bucket
    std::uint32_t fingerprint;
    std::uint32_t loser;  // the place to write over
  };
  static constexpr std::size_t lookahead = 32;

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static std::uint64_t bytes(const Shape& shape) noexcept {
    return round_up((shape.n * shape.b * shape.f + 7) / 8, line_bytes);
  }
  static Prediction predict(const Shape& shape, const StreamModel& stream);

  Qht(const Shape& shape, std::byte* memory, RecordRandom random) noexcept
      : shape_(shape), memory_(memory), random_(random) {}

  void locate(Digest digest, Target& target) const noexcept {
    Draws draws(digest);
    target.first = draws.below(shape_.n) * shape_.b;
    target.fingerprint = static_cast<std::uint32_t>(1 + draws.below(shape_.values()));
  }
  void prepare(Digest digest, std::uint32_t /*weight*/, Target& target) noexcept {
    locate(digest, target);
    target.loser =
        shape_.b == 1 ? 0 : static_cast<std::uint32_t>(random_.at(records_).below(shape_.b));
    ++records_;
  }
  void prefetch(const Target& target) const noexcept {
    const std::uint64_t begin = target.first * shape_.f / 8;
    const std::uint64_t end = ((target.first + shape_.b) * shape_.f - 1) / 8;
    for (std::uint64_t line = begin / line_bytes; line <= end / line_bytes; ++line)
      prefetch_line(memory_ + line * line_bytes);
  }
  [[nodiscard]] bool contains(const Target& target) const noexcept {
    for (unsigned j = 0; j < shape_.b; ++j)
      if (get(target.first + j) == target.fingerprint) return true;
    return false;
  }
  Verdict observe(const Target& target) noexcept {
    if (shape_.b == 1) return observe_only_place(target);
    unsigned place = target.loser;  // (3)
    for (unsigned j = 0; j < shape_.b; ++j) {
      const std::uint32_t held = get(target.first + j);
      if (held == target.fingerprint) {  // (1)
        ++seen_;
        return Verdict::Seen;
      }
      if (held == 0) {  // (2); the places behind the first empty one are empty, too
        place = j;
        ++held_;
        break;
      }
    }
    word(target.first + place).set(target.fingerprint);
    return Verdict::New;
  }

  template <class F>
  void registers(F&& f) {
    f(records_), f(seen_), f(held_);
  }
  void verify() const;
  void health(Health& health) const noexcept;
  static constexpr const char* no_merge =
      "a bucket has room for b fingerprints, not for those of both";

 private:
  // The steps where b = 1: the fingerprint stands there afterwards, whatever did before, so there
  // is no branch that the processor would have to foresee.
  Verdict observe_only_place(const Target& target) noexcept {
    Word only = word(target.first);
    const std::uint32_t held = only.get();
    const bool seen = held == target.fingerprint;
    seen_ += seen;
    held_ += held == 0;
    only.set(target.fingerprint);
    return seen ? Verdict::Seen : Verdict::New;
  }

  // A fingerprint is read and written through eight bytes that lie in its line, if it does: those
  // at its first bit, or the last of the line. Others would be waited for, as nobody asked for
  // their line.
  class Word {
   public:
    Word(std::byte* memory, std::uint64_t place, const Shape& shape) noexcept
        : mask_(shape.values()) {
      const std::uint64_t bit = place * shape.f, byte = bit / 8;
      const std::uint64_t last = byte / line_bytes * line_bytes + line_bytes - sizeof word_;
      const bool crosses = bit % (line_bytes * 8) + shape.f > line_bytes * 8;
      const std::uint64_t begin = byte > last && !crosses ? last : byte;
      at_ = memory + begin;
      shift_ = static_cast<unsigned>(bit - begin * 8);
      std::memcpy(&word_, at_, sizeof word_);
    }
    [[nodiscard]] std::uint32_t get() const noexcept {
      return static_cast<std::uint32_t>(word_ >> shift_ & mask_);
    }
    void set(std::uint32_t fingerprint) noexcept {
      word_ = (word_ & ~(mask_ << shift_)) | std::uint64_t{fingerprint} << shift_;
      std::memcpy(at_, &word_, sizeof word_);
    }

   private:
    std::uint64_t mask_, word_;
    std::byte* at_;
    unsigned shift_;
  };
  [[nodiscard]] Word word(std::uint64_t place) const noexcept { return {memory_, place, shape_}; }
  [[nodiscard]] std::uint32_t get(std::uint64_t place) const noexcept { return word(place).get(); }

  Shape shape_;
  std::byte* memory_;
  RecordRandom random_;
  std::uint64_t records_ = 0, seen_ = 0, held_ = 0;
};

}  // namespace weir

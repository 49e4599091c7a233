// Bloom filter (Bloom, CACM 1970; the slides of Ferragina and of Bhattacharya).
//
//   m bits, k probes a key. A key is Seen iff its k bits are all set.
//   observe(x): (1) read x's k bits  (2) set them
//
// Guarantee: no false negative, ever.
// Predicted: after n distinct keys a share 1 - (1 - 1/m)^(kn) of bits is set and a new key is
// called Seen with probability fill^k; the best k is ln 2 * m/n, and then FPR = 0.6185^(m/n).
// Measured (laws, 10 bits a key, k = 7): FPR 0.82 % where 0.82 % was predicted.
// Stops working: it never forgets, so on an endless stream fill and FPR go to 1. Each probe is
// a cache line of its own; blocked-bloom needs one a key for a slightly higher FPR.
//
// Positions: m = q * 2^a with q odd or small; a probe draws a 64-bit h and takes
//   position = (h scaled to [0, q)) + q * (low a bits of h).
// So the two halves of the array differ in the highest of the low bits only. Halving ORs the
// halves and masks that bit, and gives bit for bit the filter built at half the size (slides,
// "Bloom filter tricks"). Union is OR. Both keep the guarantee; the FPR is that of the fill.
#pragma once

#include "filter/filter_handle.hpp"

namespace weir {

class Bloom {
 public:
  static constexpr unsigned max_k = 32;
  struct Shape {
    std::uint64_t m = 0;
    unsigned k = 0;
    template <class V>
    void visit(V& v) {
      v.whole("m", m, 64, max_cells);
      v.whole("k", k, 1, max_k);
    }
  };
  struct Target {
    std::uint64_t position[max_k];
  };
  static constexpr std::size_t lookahead = 8;

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static std::uint64_t bytes(const Shape& shape) noexcept { return (shape.m + 63) / 64 * 8; }
  static Prediction predict(const Shape& shape, const StreamModel& stream);
  static Shape halved(const Shape& shape);

  Bloom(const Shape& shape, std::byte* memory, RecordRandom random) noexcept;

  void locate(Digest digest, Target& target) const noexcept {
    Draws draws(digest);
    for (unsigned i = 0; i < k_; ++i) {
      const std::uint64_t h = draws.next();
      target.position[i] = reduce(h, q_) + q_ * (h & low_mask_);
    }
  }
  void prepare(Digest digest, std::uint32_t /*weight*/, Target& target) noexcept {
    locate(digest, target);
  }
  void prefetch(const Target& target) const noexcept {
    for (unsigned i = 0; i < k_; ++i) prefetch_line(&words_[target.position[i] >> 6]);
  }
  Verdict observe(const Target& target) noexcept {
    std::uint64_t fresh = 0;
    for (unsigned i = 0; i < k_; ++i) {
      std::uint64_t& word = words_[target.position[i] >> 6];
      const std::uint64_t bit = std::uint64_t{1} << (target.position[i] & 63);
      fresh += (word & bit) == 0;  // (1)
      word |= bit;                 // (2)
    }
    ones_ += fresh;
    ++records_;
    seen_ += fresh == 0;
    return fresh == 0 ? Verdict::Seen : Verdict::New;
  }
  [[nodiscard]] bool contains(const Target& target) const noexcept {
    std::uint64_t all = 1;
    for (unsigned i = 0; i < k_; ++i)
      all &= words_[target.position[i] >> 6] >> (target.position[i] & 63);
    return all != 0;
  }

  template <class F>
  void registers(F&& f) {
    f(ones_), f(records_), f(seen_);
  }
  void verify() const;
  void health(Health& health) const noexcept;

  void merge(const Bloom& other) noexcept;
  [[nodiscard]] double estimate_keys() const noexcept;
  [[nodiscard]] double estimate_union(const Bloom& other) const noexcept;
  void fold_from(const Bloom& twice) noexcept;

 private:
  [[nodiscard]] double keys_for(std::uint64_t ones) const noexcept;
  [[nodiscard]] std::uint64_t word_count() const noexcept { return (m_ + 63) / 64; }

  std::uint64_t* words_;
  std::uint64_t m_, q_, low_mask_;
  unsigned k_;
  std::uint64_t ones_ = 0, records_ = 0, seen_ = 0;
};

}  // namespace weir

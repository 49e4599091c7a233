// Counting Bloom filter (Fan, Cao, Almeida, Broder, 1998/2000): a Bloom filter one can
// take keys out of.
//
//   m counters of 4 bits, k probes a key. A key is Seen iff none of its counters is 0.
//   observe(x): (1) Seen iff all of x's counters are above 0
//               (2) if New, add 1 to each; a counter at 15 stays there for good
//   remove(x):  (3) if x is contained, subtract 1 from each counter that is not at 15
//
// A repeat adds nothing, so one remove() undoes any number of observe()s of a key.
// Guarantee: no false negative as long as only keys that were called New are removed.
// Removing a stranger: if the filter does not contain it, nothing happens and remove() says
// false. If the stranger is a false positive (probability fill^k), its counters belong to
// other keys, and those sharing one that drops to 0 are forgotten. tests/filter shows both.
// Predicted: fill and FPR as for bloom with the same m and k. With the best k a counter
// overflows with probability below 1.37e-15 m (Fan et al.), and then only never empties.
// Measured (laws, 10 counters a key, k = 7): FPR 0.82 % where 0.82 % was predicted.
// Stops working: four times bloom's memory; without removals it fills up like bloom.
#pragma once

#include "core/cells.hpp"
#include "filter/filter_handle.hpp"

namespace weir {

class Counting {
 public:
  static constexpr unsigned max_k = 32;
  static constexpr unsigned counter_bits = 4, counter_max = 15;
  using Counters = BasicCells<counter_bits>;
  struct Shape {
    std::uint64_t m = 0;
    unsigned k = 0;
    template <class V>
    void visit(V& v) {
      v.whole("m", m, 1, max_cells);
      v.whole("k", k, 1, max_k);
    }
  };
  struct Target {
    std::uint64_t position[max_k];
  };
  static constexpr std::size_t lookahead = 8;

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static std::uint64_t bytes(const Shape& shape) noexcept {
    return Counters::bytes(shape.m, counter_bits);
  }
  static Prediction predict(const Shape& shape, const StreamModel& stream);

  Counting(const Shape& shape, std::byte* memory, RecordRandom random) noexcept
      : counters_(memory, counter_bits), m_(shape.m), k_(shape.k) {
    static_cast<void>(random);
  }

  void locate(Digest digest, Target& target) const noexcept {
    Draws draws(digest);
    for (unsigned i = 0; i < k_; ++i) target.position[i] = draws.below(m_);
  }
  void prepare(Digest digest, std::uint32_t /*weight*/, Target& target) noexcept {
    locate(digest, target);
  }
  void prefetch(const Target& target) const noexcept {
    for (unsigned i = 0; i < k_; ++i) counters_.prefetch(target.position[i]);
  }
  [[nodiscard]] bool contains(const Target& target) const noexcept {
    bool all = true;
    for (unsigned i = 0; i < k_; ++i) all &= counters_.get(target.position[i]) != 0;
    return all;
  }
  Verdict observe(const Target& target) noexcept;
  bool remove(const Target& target) noexcept;

  template <class F>
  void registers(F&& f) {
    f(nonzero_), f(records_), f(seen_), f(removed_);
  }
  void verify() const;
  void health(Health& health) const noexcept;
  static constexpr const char* no_merge =
      "a key held by both would be counted twice, and one removal would no longer forget it";

 private:
  Counters counters_;
  std::uint64_t m_;
  unsigned k_;
  std::uint64_t nonzero_ = 0, records_ = 0, seen_ = 0, removed_ = 0;
};

}  // namespace weir

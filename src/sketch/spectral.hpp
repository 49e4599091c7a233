// Spectral Bloom filter (Cohen, Matias, SIGMOD 2003, sections 2 and 3; Ferragina's slides):
// a Bloom filter with counters in place of bits, which tells how often a key came.
//
//   m counters of `bits` bits, k probes a key; m_x is the least of x's counters, f_x the truth.
//   rule=minimum-selection   add:      (1) raise all k counters
//                            estimate: (2) m_x
//                            remove:   (3) lower all k counters
//   rule=minimal-increase    add:      (4) raise only the counters below m_x + times, to it
//                            estimate: (2)
//   rule=recurring-minimum   a second, smaller filter of m/2 counters beside the m
//                            add:      (1), then
//                                      (5) x is in the second filter: raise it there too
//                                      (6) else, if m_x is now a single minimum among x's
//                                          counters: put x there with the value m_x
//                            estimate: (7) m_x if it recurs, else the second filter's value
//                                      if there is one, at most m_x
//                            remove:   (3), and (8) from the second filter if x is there
//   Two liberties in this rule. The paper does (5) for a single minimum only, and offers a
//   further Bloom filter that marks the keys once moved; here the second filter marks them
//   itself. Without either, a key's value there stands still while its minimum recurs, and
//   underestimates when it is asked again. In (7) the paper returns the second filter's value
//   as it is; the first filter is an upper bound, so the smaller of both is never worse.
//
// Guarantee: minimum selection and minimal increase never underestimate (below saturation, see
//   counters.hpp); minimum selection also after removals of what was added. Minimal increase
//   and recurring minimum are never above minimum selection of the same m. Recurring minimum
//   promises no bound from below: x may seem to be in the second filter because of others, is
//   then not put there, and its value there lacks what came before.
// Removal: minimal increase refuses. A counter that was not raised for x, because another key
//   held it up, would be lowered for x and fall below that other key's count.
// Merge: minimum selection adds counters and equals the filter of the joined stream, bit for
//   bit. Minimal increase adds too: each counter stays at or above f_x + g_x, so the promise
//   holds, but the estimates may lie above those of one filter over both streams. Recurring
//   minimum refuses: a key may be in the second filter on one side only.
// Predicted: an estimate is wrong with the Bloom filter's probability (1 - (1 - 1/m)^(kn))^k,
//   n the distinct keys, under minimum selection; less under the others.
// Measured (20,000 keys, 400,000 records by Zipf's law with exponent 1, k = 5, kn/m = 0.7, mean of
//   5 seeds; 2.79 % predicted): wrong are 2.72 % of the keys with minimum selection, 0.86 % with
//   minimal increase, 1.59 % with recurring minimum of the same m, where 0.001 % are too small
//   (with (5) for single minima only: 1.95 % and 0.44 %). But the second filter costs half as much
//   again: with the same bytes for both, recurring minimum errs on 6.2 % and minimum
//   selection is better. Where nothing is removed, minimal increase is the best at equal bytes.
// Stops working: it never forgets; with n far above m ln 2 / k every estimate is wrong.
//
// health(): records counts calls of add, and seen those that found an estimate above 0; fpr is the
// chance of that for a key never added. total() is the sum of the occurrences.
#pragma once

#include "sketch/counters.hpp"
#include "sketch/sketch_handle.hpp"

namespace weir {

class Spectral {
 public:
  static constexpr unsigned max_k = 32;
  enum class Rule : std::uint8_t { MinimumSelection, MinimalIncrease, RecurringMinimum };
  static constexpr const char* rule_names[] = {"minimum-selection", "minimal-increase",
                                               "recurring-minimum"};
  struct Shape {
    std::uint64_t m = 0;
    unsigned k = 0;
    Rule rule = Rule::MinimumSelection;
    Width bits = Width::Bits32;
    template <class V>
    void visit(V& v) {
      v.whole("m", m, 2, max_cells);
      v.whole("k", k, 1, max_k);
      v.choice("rule", rule, rule_names);
      v.choice("bits", bits, width_names);
    }
    void check() const;
    // Counters of the second filter.
    [[nodiscard]] std::uint64_t second() const noexcept {
      return rule == Rule::RecurringMinimum ? m / 2 : 0;
    }
  };
  struct Target {
    std::uint64_t position[max_k];
    std::uint64_t second[max_k];  // with recurring minimum only
  };
  static constexpr std::size_t lookahead = 8;

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static std::uint64_t bytes(const Shape& shape) noexcept {
    return (shape.m + shape.second()) * width_bytes(shape.bits);
  }

  Spectral(const Shape& shape, std::byte* memory, RecordRandom random) noexcept;

  void locate(Digest digest, Target& target) const noexcept {
    Draws draws(digest);
    for (unsigned i = 0; i < k_; ++i) target.position[i] = draws.below(first_.count());
    if (rule_ != Rule::RecurringMinimum) return;
    for (unsigned i = 0; i < k_; ++i) target.second[i] = draws.below(second_.count());
  }
  void prefetch(const Target& target) const noexcept {
    for (unsigned i = 0; i < k_; ++i) first_.prefetch(target.position[i]);
    if (rule_ != Rule::RecurringMinimum) return;
    for (unsigned i = 0; i < k_; ++i) second_.prefetch(target.second[i]);
  }

  std::uint64_t add(const Target& target, std::uint64_t times) noexcept;
  [[nodiscard]] std::uint64_t estimate(const Target& target) const noexcept;
  void remove(const Target& target, std::uint64_t times);
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  // The chance that others have touched all k counters of a key.
  [[nodiscard]] CountError error() const noexcept;

  template <class F>
  void registers(F&& f) {
    f(nonzero_), f(second_nonzero_), f(total_), f(records_), f(seen_);
  }
  void verify() const;
  void health(Health& health) const noexcept;
  void merge(const Spectral& other);

 private:
  void add_to_second(const Target& target, std::uint64_t times) noexcept;

  Counters first_, second_;
  unsigned k_;
  Rule rule_;
  std::uint64_t nonzero_ = 0, second_nonzero_ = 0;
  std::uint64_t total_ = 0, records_ = 0, seen_ = 0;
};

}  // namespace weir

// The arithmetic of the Age-Partitioned Bloom filter: its FPR, its sizes, its predictions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "weir/plan.hpp"

namespace weir {

// The chance that k consecutive slices match a stranger, from the fills r_i by age i. The paper's
// recursion is F(0, 0) with F(k, i) = 1, F(a, i) = r_i F(a+1, i+1) + (1 - r_i) F(0, i+1), and 0
// where too few slices are left. This is the same, summed over where the youngest matching run
// begins: at j iff slices j..j+k-1 match, j-1 does not, and no run ended before that. starts[j], if
// there is room, becomes the chance of that.
double apbf_fpr(std::span<const double> fills, unsigned k, std::span<double> starts = {});

// The highest it gets, with g new keys in every generation: at the end of a generation, all slices
// in use.
double apbf_full_fpr(unsigned k, unsigned l, double m, double g);

struct ApbfPlan {
  unsigned k = 0, l = 0;
  std::uint64_t m = 0, g = 0;
  double fpr = 1;
};
struct ApbfWish {
  unsigned least_k, most_k, least_l, most_l;
  double fpr;
  std::uint64_t m = 0;      // bits a slice; 0: from `lines`
  std::uint64_t lines = 0;  // of 511 bits, for all slices
  std::uint64_t g = 0;      // 0: free
};
// The longest window l g at that FPR. Nothing when there is none.
std::optional<ApbfPlan> longest_window(const ApbfWish& wish);
// The least FPR with a window of at least that many records.
std::optional<ApbfPlan> least_fpr(const ApbfWish& wish, std::uint64_t window);
// The smallest one with that window at that FPR.
std::optional<ApbfPlan> least_memory(const ApbfWish& wish, std::uint64_t window);

struct ApbfModel {
  unsigned k, l;
  double m, g;
  bool count_insertions, refresh;
};
Prediction predict_apbf(const ApbfModel& model, const StreamModel& stream);

}  // namespace weir

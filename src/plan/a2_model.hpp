// The arithmetic of A2, two Bloom filters that take turns: FPR, sizes, predictions.
#pragma once

#include <cstdint>

#include "weir/plan.hpp"

namespace weir {

// A bound, both buffers full and without a common key: 1 - (1 - f)^2 with f = (1 - (1 -
// 1/m)^(kg))^k.
double a2_full_fpr(unsigned k, double m, double g);
// The most insertions a generation at that FPR; 0 when there is none.
std::uint64_t a2_capacity(unsigned k, double m, double fpr);
// The k of 1..most with the largest capacity, and the one with the least FPR at g insertions.
unsigned a2_probes(double m, double fpr, unsigned most);
unsigned a2_probes_for(double m, std::uint64_t g, unsigned most);
// The fewest bits a buffer, in whole units, for g insertions at that FPR.
std::uint64_t a2_bits(unsigned k, std::uint64_t g, double fpr, std::uint64_t unit);

struct A2Model {
  unsigned k;
  double m, g;
  bool count_insertions, refresh;
};
Prediction predict_a2(const A2Model& model, const StreamModel& stream);

}  // namespace weir

#include "plan/weir_hand.hpp"

#include <algorithm>
#include <cmath>

namespace weir {
namespace {

double poisson(std::size_t h, double x) {
  double p = std::exp(-x);
  for (std::size_t i = 1; i <= h; ++i) p *= x / static_cast<double>(i);
  return p;
}
// The mean of poisson(h, y) over y uniform in (0, x): (1 - sum of poisson(0..h, x)) / x.
double mean_poisson(std::size_t h, double x) {
  if (x < 1e-6) return h == 0 ? 1 - x / 2 : 0;
  double rest = 1;
  for (std::size_t i = 0; i <= h; ++i) rest -= poisson(i, x);
  return rest / x;
}

}  // namespace

double WeirHand::held_time(double x) const {
  double time = 0, sum = 0;
  for (std::size_t age = 0; age < entering_.size(); ++age) {
    if (entering_[age] > 0) time += entering_[age] * x * rounds(x, age);
    sum += entering_[age];
  }
  return std::min(time / sum, 1e12);
}

// Mean number of rounds from entering at `age` to the pass that ends it.
double WeirHand::rounds(double x, std::size_t age) const {
  const std::size_t top = entering_.size() - 1;
  if (top == 0) return 0.5;
  x = std::min(x, 25.0);  // beyond that it is held for ever, and the equations lose their digits
  // passes[g]: mean further passes of the hand after one that left age g. Hits within T are
  // Poisson; an age of 0 at the next pass ends it. passes is solved from its own equations
  // passes[g] = 1 + sum over ages g' >= 1 of P(g -> g') passes[g' - 1], by elimination.
  const auto to = [&](std::size_t g, std::size_t g2, bool first) {
    // Chance of ages going from g to g2 between passes; `first`: over a uniform part of T.
    if (g2 < g) return 0.0;
    const auto chance = [&](std::size_t h) { return first ? mean_poisson(h, x) : poisson(h, x); };
    if (g2 < top) return chance(g2 - g);
    double rest = 1;
    for (std::size_t h = 0; h + g < top; ++h) rest -= chance(h);
    return std::max(0.0, rest);
  };
  double matrix[4][5] = {};
  for (std::size_t g = 0; g <= top; ++g) {
    matrix[g][g] += 1;
    matrix[g][top + 1] = 1;
    for (std::size_t g2 = 1; g2 <= top; ++g2) matrix[g][g2 - 1] -= to(g, g2, false);
  }
  for (std::size_t i = 0; i <= top; ++i)
    for (std::size_t j = 0; j <= top; ++j) {
      if (i == j) continue;
      const double factor = matrix[j][i] / matrix[i][i];
      for (std::size_t c = i; c <= top + 1; ++c) matrix[j][c] -= factor * matrix[i][c];
    }
  double sum = 0.5;
  for (std::size_t g2 = 1; g2 <= top; ++g2)
    sum += to(age, g2, true) * matrix[g2 - 1][top + 1] / matrix[g2 - 1][g2 - 1];
  return std::min(sum, 1e12);
}

}  // namespace weir

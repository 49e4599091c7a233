// How surprising a chi-square statistic is.
#pragma once

#include <cmath>

namespace weir::lab {

// Chance that a chi-square variable of this many degrees of freedom is `statistic` or more:
// the regularised incomplete gamma function Q(freedom/2, statistic/2), by its series below the
// mean and by its continued fraction (Lentz) above.
inline double chi_square_p(double statistic, double freedom) {
  const double a = freedom / 2, x = statistic / 2;
  if (x <= 0) return 1;
  const double scale = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (double n = a + 1; term > sum * 1e-15; ++n) sum += term *= x / n;
    return 1 - scale * sum;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;
  for (int i = 1; i < 100000; ++i) {
    const double step = -i * (i - a);
    b += 2;
    d = 1 / (step * d + b);
    c = b + step / c;
    fraction *= d * c;
    if (std::fabs(d * c - 1) < 1e-14) break;
  }
  return scale * fraction;
}

}  // namespace weir::lab

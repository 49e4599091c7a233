// What a quotient hash table shows on a uniform stream, on the way and in the steady state.
//
// In each of n buckets each of the V values of a fingerprint has had nu = (keys met) / (n V) keys
// so far, Poisson. So it was met with probability 1 - exp(-nu), and D values of the bucket were, D
// binomial. A bucket never empties a place and never holds a value twice, so it holds min(D, b):
//   FPR(t) = E min(D, b) / V,   fill(t) = E min(D, b) / b
// A record comes back to a bucket where D' of the V - 1 other values were met. If D' < b nothing
// was ever written over. Otherwise writing over places at random holds a set of b values with a
// probability proportional to the product of their numbers of keys (every exchange of two values
// is as frequent as its reverse). Its own value has c = 1 + nu keys on average, the others that
// were met a = nu / (1 - exp(-nu)) each, and it is missing with probability
//   x a / (c b + x a),   x = D' + 1 - b
// Means stand for the numbers of keys here: the FNR is within 1 % of what was measured for an
// FPR up to 6 %, within 2 % up to 30 %.
#pragma once

#include "weir/plan.hpp"

namespace weir {

struct QhtModel {
  double n;    // buckets
  unsigned b;  // places a bucket
  double V;    // values of a fingerprint
};

Prediction predict_qht(const QhtModel& model, const StreamModel& stream);

}  // namespace weir

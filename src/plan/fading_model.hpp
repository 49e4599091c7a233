// What fading cells (SBF, IBF-2C, IBF-MC, IBF-H) show on a uniform stream: the Markov chain of one
// cell, solved numerically, on the way and in the steady state.
#pragma once

#include <vector>

#include "weir/plan.hpp"

namespace weir {

struct FadingModel {
  double m;                    // cells
  unsigned K, P;               // probes, decrements
  std::vector<double> shares;  // of keys that set value 1, 2, ..., M
};

// P uniformly random cells lose 1 a record (SBF, IBF-2C, IBF-MC).
//
// Look back from now. A cell is 0 iff no key of it is alive, and a key of value v whose last
// record came tau records ago is alive iff the cell lost fewer than v since. Going back, losses
// come at rate b = P/m, and last records of keys of the cell at rate lambda u exp(-u tau), with
// lambda = K U/m keys a cell and u = 1/U. So with x_v(tau) the chance of v losses and of no key
// met alive within tau,
//   dx_v/dtau = b x_(v-1) - (b + lambda u exp(-u tau) W_v) x_v,   W_v = share of values above v,
// and P(cell is 0 at time t) = sum x_v(t). This holds for any number of keys a cell, also where
// the paper's chain, which gives every cell the same traffic, does not.
Prediction predict_fading(const FadingModel& model, const StreamModel& stream);

// P nonzero cells lose 1 a record, chosen with probability proportional to 1/value (IBF-H).
//
// The loss rate of a cell depends on its value and on all others: b_v = P / (m v s), s the mean
// of 1/value over all cells, zero cells counting 0. Cells differ by how many keys of each value
// they have; some hundred kinds of cell, drawn evenly from these Poisson numbers, stand for all.
// Forward, the chain of each kind is integrated together and gives s(t); backward from a
// moment, the chance that a cell is 0 then, given its value before. Where records set less than P
// in all nothing is kept, and the model only says so.
Prediction predict_fading_by_value(const FadingModel& model, const StreamModel& stream);

}  // namespace weir

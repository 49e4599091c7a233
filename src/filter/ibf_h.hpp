// IBF-H: importance-aware insertion and importance-aware deletion (Bhoraskar et al., 2013).
//
//   As IBF-MC, but the P cells that lose 1 are chosen among the nonzero ones, with probability
//   inversely proportional to their value, one after the other.
//   For every record: (1) Seen iff none of its K cells is 0  (2) P cells, chosen by 1/value,
//   lose 1  (3) its K cells are raised to f(importance), never lowered.  (fading_cells.hpp)
//
// The choice in (2) is O(1) expected: draw a cell, accept with probability 1/value; where nonzero
// cells are rare core/marked_index.hpp finds one.
// Guarantee: memory and FPR stay bounded. Since no decrement is wasted on a zero cell, P in all
// leave the filter with every record: it holds fewer keys than IBF-MC at the same P.
// Predicted: the chain of one cell with rates that depend on its value and on the state of
// all, solved numerically in plan/fading_model.hpp.
// Measured (laws, steady state, 43,690 cells, K = 5, P = 10): fill, FPR and FNR within 5 % of the
// chain. Stops working: if records set less than P in all (K f(importance) < P) nothing is kept.
#pragma once

#include "filter/ibf_policy.hpp"

namespace weir {

struct IbfHPolicy {
  using Shape = IbfShape;
  static constexpr bool weighted_choice = true;
  static unsigned value(const Shape& shape, std::uint32_t importance) noexcept {
    return shape.f(importance);
  }
  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static Prediction predict(const Shape& shape, const StreamModel& stream);
};
using IbfH = FadingCells<IbfHPolicy>;

}  // namespace weir

// IBF-MC: importance-aware Bloom filter with M classes (Bhoraskar et al., 2013, III-B).
//
//   As IBF-2C, but a record sets f(importance), any value from 1 to M.
//   For every record: (1) Seen iff none of its K cells is 0  (2) P random cells lose 1
//   (3) its K cells are raised to f(importance), never lowered.  (filter/fading_cells.hpp)
//
// Guarantee: memory and FPR stay bounded; a key of value v survives until one of its cells has
// lost v.
// Predicted: the Markov chain of one cell (Fig. 2), solved numerically for any importance
// distribution and any length of stream in plan/fading_model.hpp.
// Measured (laws, steady state, 43,690 cells, K = 5, P = 10): fill, FPR and FNR within 3 % of the
// chain. Stops working: keys of value 1 die with the first decrement of any of their K cells, so
// the unimportant half of a stream is hardly deduplicated; FNR overall is above IBF-2C's.
#pragma once

#include "filter/ibf_policy.hpp"

namespace weir {

struct IbfMcPolicy {
  using Shape = IbfShape;
  static constexpr bool weighted_choice = false;
  static unsigned value(const Shape& shape, std::uint32_t importance) noexcept {
    return shape.f(importance);
  }
  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static Prediction predict(const Shape& shape, const StreamModel& stream);
};
using IbfMc = FadingCells<IbfMcPolicy>;

}  // namespace weir

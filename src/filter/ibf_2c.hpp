// IBF-2C: importance-aware Bloom filter with two classes (Bhoraskar et al., 2013, III-A).
//
//   A stable Bloom filter whose records set M if important, M/2 (rounded down) otherwise.
//   For every record: (1) Seen iff none of its K cells is 0  (2) P random cells lose 1
//   (3) its K cells are raised to M or M/2, never lowered.  (filter/fading_cells.hpp)
//   Important: f(importance) > M/2. The printed `else` of Algorithm 1 would also promote an
//   unimportant record whose cell stands at M/2 or above to M; the text says otherwise, and
//   we follow the text.
//
// Guarantee: memory and FPR stay bounded; an important key outlives about twice as many
// decrements of a cell as an unimportant one.
// Predicted: the Markov chain of one cell (Fig. 1), solved numerically for any importance
// distribution and any length of stream in plan/fading_model.hpp.
// Measured (laws, steady state, 43,690 cells, K = 5, P = 10): fill, FPR and FNR within 3 % of the
// chain. Stops working: FN and FP of unimportant keys pay for it; with all keys of one class it is
// the stable Bloom filter.
#pragma once

#include "filter/ibf_policy.hpp"

namespace weir {

struct Ibf2cPolicy {
  using Shape = IbfShape;
  static constexpr bool weighted_choice = false;
  static unsigned value(const Shape& shape, std::uint32_t importance) noexcept {
    return 2 * shape.f(importance) > shape.top ? shape.top : std::max(shape.top / 2, 1u);
  }
  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static Prediction predict(const Shape& shape, const StreamModel& stream);
};
using Ibf2c = FadingCells<Ibf2cPolicy>;

}  // namespace weir

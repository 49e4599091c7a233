// Stable Bloom filter (Deng, Rafiei, SIGMOD 2006): a Bloom filter that forgets.
//
//   m cells of d bits, Max = 2^d - 1 (or less), K probes, P decrements. For every record:
//   (1) Seen iff none of its K cells is 0
//   (2) decrement P cells chosen at random, each if > 0
//   (3) set its K cells to Max
//   The steps stand in filter/fading_cells.hpp, which the IBFs share.
//
// Guarantee: the FPR never exceeds FPS, however long the stream.
// Predicted: in the steady state a share Z = (1 + 1/(P (1/K - 1/m)))^-Max of cells is 0 and
// FPR <= (1 - Z)^K; the whole way there, and FNR, from plan/fading_model.hpp. P follows from FPS
// by the same formula solved for P; for Max = 1 the FNR is lowest near K = 0.435 log2(1/FPS).
// Measured on the stream of Table 2 (65,536 bits, K = 2, P = 4): FNR 74.2 %, FPR 8.0 % where
// 74.1 % and 8.05 % were predicted and 74.37 % / 8.093 % are printed.
// Stops working: a key is forgotten after about m / (K P) records at Max = 1; repeats
// further apart are missed. A record touches K + P lines, most of them for forgetting: P grows
// as the FPR falls, 6 at 10 %, 19 at 0.1 %.
#pragma once

#include "filter/fading_cells.hpp"

namespace weir {

struct StablePolicy {
  struct Shape {
    std::uint64_t m = 0;
    unsigned K = 0, P = 0, top = 0;
    template <class V>
    void visit(V& v) {
      v.whole("m", m, 2, max_cells);
      v.whole("K", K, 1, fading_max_probes);
      v.whole("P", P, 1, fading_max_decrements);
      v.whole("Max", top, 1, 255);
    }
    void check() const;
  };
  static constexpr bool weighted_choice = false;
  static unsigned value(const Shape& shape, std::uint32_t) noexcept { return shape.top; }

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static Prediction predict(const Shape& shape, const StreamModel& stream);
};
using Stable = FadingCells<StablePolicy>;

// P that keeps the stable FPR at fps.
double stable_decrements(double fps, double K, double Max, double m);
// Share of zeros in the steady state.
double stable_zeros(double P, double K, double Max, double m);

}  // namespace weir

// What the three importance-aware filters (Bhoraskar, Gabale, Kulkarni, Kulkarni, 2013) share:
// parameters and the map from importance to a value.
//
//   m cells of d bits, M = 2^d - 1, K probes, P decrements; a record's importance 1..imax is
//   mapped to f(importance) in 1..M, evenly.
#pragma once

#include "filter/fading_cells.hpp"

namespace weir {

struct IbfShape {
  std::uint64_t m = 0;
  unsigned K = 0, P = 0, top = 0;
  std::uint32_t imax = 0;
  template <class V>
  void visit(V& v) {
    v.whole("m", m, 2, max_cells);
    v.whole("K", K, 1, fading_max_probes);
    v.whole("P", P, 1, fading_max_decrements);
    v.whole("M", top, 1, 255);
    v.whole("imax", imax, 1, 0xffffffff);
  }
  void check() const;

  // f: 1..imax -> 1..M, evenly; above imax counts as imax, 0 as 1.
  [[nodiscard]] unsigned f(std::uint32_t importance) const noexcept {
    const std::uint64_t bounded = std::clamp<std::uint64_t>(importance, 1, imax);
    return static_cast<unsigned>((bounded * top + imax - 1) / imax);
  }
};

// Defaults of the paper's experiments: d = 3, K = 5, P = 10; m from the memory.
void complete_ibf(const char* name, Params& params, std::uint64_t bytes, bool with_index);

// Share of records that set each value 1..M.
template <class Policy>
std::vector<double> value_shares(const IbfShape& shape, const StreamModel& stream) {
  std::vector<double> shares(shape.top, 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < stream.importance.size(); ++i) {
    shares[Policy::value(shape, static_cast<std::uint32_t>(i + 1)) - 1] += stream.importance[i];
    sum += stream.importance[i];
  }
  if (sum <= 0) shares[Policy::value(shape, 1) - 1] = sum = 1;
  for (double& share : shares) share /= sum;
  return shares;
}

inline constexpr ParameterInfo ibf_parameters[] = {
    {"m", "cells", "from the memory"},           {"K", "probes a key", "5"},
    {"P", "cells decremented a record", "10"},   {"M", "largest value of a cell", "7"},
    {"d", "bits a cell, sets M = 2^d - 1", "3"}, {"imax", "importance that maps to M", "M"},
};

}  // namespace weir

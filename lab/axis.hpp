// Where an axis begins and ends, and what stands at its ticks.
//
//   linear  steps of 1, 2, 2.5 or 5 times a power of ten, about five of them; large and very small
//           figures are counted in millions or in 10⁻⁵, which goes to the axis' label
//   log     decades, with 2 and 5 between them where there are few
#pragma once

#include <string>
#include <vector>

namespace weir::lab {

struct Tick {
  double at = 0;      // as drawn
  std::string label;  // empty: a small tick between two named ones
};

struct Axis {
  double low = 0, high = 1;  // as drawn: values divided by `unit`
  double unit = 1;
  std::string unit_name;  // "millions"; empty where the unit is 1
  bool log = false;
  std::vector<Tick> ticks;

  // Whether a value has a place: finite, and on a log axis not below its end.
  [[nodiscard]] bool holds(double value) const;
};

// Of values that are shown; those that have no place on a log axis are left out. With `round` the
// axis ends at ticks, as the vertical one does.
Axis axis_of(const std::vector<double>& values, bool log, bool round);

}  // namespace weir::lab

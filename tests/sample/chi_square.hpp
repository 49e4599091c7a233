// How surprising a chi-square statistic may be in a test.
#pragma once

#include "chance.hpp"

namespace weir::test {

using lab::chi_square_p;

// Below this a test fails: with fixed seeds an honest sampler had one chance in a thousand to
// fail a test when its seeds were written down, and none since.
inline constexpr double surprising = 0.001;

}  // namespace weir::test

// What a filter that is in use has probably missed.
#pragma once

#include <optional>

#include "weir/filter.hpp"

namespace weir {

// Of the repeats, the share let through, if keys came uniformly at random: the number of
// different keys is the one under which the filter would have called as many records repeats as it
// did. Nothing where no such number exists, as on a stream without repeats, or where it is not
// found in time: some filters need long to predict. The search begins at the number that would be
// right if the filter had not erred. `patience` is in seconds of own work.
std::optional<double> expected_fnr(const Structure& structure, double patience);

}  // namespace weir

// Streams by their numbers of distinct keys; above all the uniform ones: U keys, each record one of
// them, independently.
//
// There record i is a first occurrence with probability (1 - 1/U)^(i-1), so what a filter shows on
// the whole stream is an average of what it shows at a moment, weighted with that. The averages
// are integrals over a grid that is finer at the start of the stream, where most happens.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <vector>

#include "weir/plan.hpp"

namespace weir {

[[nodiscard]] bool is_uniform(const StreamModel& stream);
// Throws Error(Unsupported) where it is not.
void require_uniform(const StreamModel& stream);

// Moments skip = t_0 < t_1 < ... < t_n = records at which a model is evaluated.
std::vector<double> stream_grid(const StreamModel& stream, std::size_t points);

// Averages of f over [skip, records) weighted with the density of first occurrences
// (repeats = false) or of repeats; values are f at the grid's points.
double stream_average(const StreamModel& stream, const std::vector<double>& grid,
                      const std::vector<double>& values, bool repeats);

// Share of the repeats on the grid that are missed; missed(t) is the chance that record t is a
// repeat and missed.
double missed_share(const StreamModel& stream, const std::vector<double>& grid,
                    const std::function<double(double t)>& missed);

// Expected distinct keys after t records.
double distinct_keys(const StreamModel& stream, double t);

// The filters that only fill up: fill and FPR follow from the number of distinct keys.
Prediction predict_never_forgetting(const StreamModel& stream,
                                    const std::function<double(double keys)>& fill,
                                    const std::function<double(double keys)>& fpr);

// Bloom's formulas: fill 1 - (1 - 1/m)^(kn), FPR fill^k.
Prediction predict_bloom(double m, unsigned k, const StreamModel& stream);

}  // namespace weir

// Streams whose records have an importance from 1 to 50: the IBF paper's three synthetic ones
// (section IV-D), and files of keys and weights.
//
//   synthetic: a universe of keys, as many of each importance; each record draws its key
//     independently, all keys equally likely, or likelier or less likely in proportion to their
//     importance. The universe follows from the share of records that are to be repeats.
//   files: the weight becomes an importance in one of the paper's two ways (section IV-E): in
//     proportion, capped at the 90th percentile of the keys' weights; or by percentile, so that
//     all importances have equally many keys.
#pragma once

#include "stream.hpp"

namespace weir::lab {

inline constexpr std::uint32_t most_important = 50;

enum class Favour { None, Important, Unimportant };  // whose keys are likelier

// Keys for which `records` records hold that expected share of repeats. Throws Error(Config) where
// even one key of each importance is too many.
std::uint64_t universe_for(Favour favour, double repeats, std::uint64_t records);

// Key k has importance 1 + k % 50. `universe` is rounded down to a multiple of 50.
std::unique_ptr<Stream> importance_stream(Favour favour, std::uint64_t universe,
                                          std::uint64_t seed);

enum class Ranking { Proportion, Percentile };

// A trace with weights, which become importances.
Trace with_importance(Trace trace, Ranking ranking);
// The records of a trace in their order; ends with it. The trace must outlive the stream.
std::unique_ptr<Stream> recorded(const Trace& trace);

// Whether the first line of a file has a tab: a key and a weight. Throws Error(Io).
bool has_weights(const std::string& path);

}  // namespace weir::lab

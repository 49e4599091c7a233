// Stream models as a line of text, for people who know their stream.
//
//   uniform:U=1e6                          each record one of U keys
//   zipf:U=1e6,s=1.1                       the key of rank i with a probability as 1/i^s
//   fixed:d=5000,again=0.3                 of the records a share `again` has its key come again,
//   geometric:mean=5000,again=0.3          at a distance of this law, in records; the others are
//   pareto:least=100,shape=1.1,again=0.3   the last of their key
#pragma once

#include <string_view>

#include "weir/plan.hpp"

namespace weir {

// Without a number of records. Throws Error(Config).
StreamModel parse_stream(std::string_view text);

// The same stream by a part 1/s of its keys, as a filter of 1/s of the size meets it.
StreamModel scaled_down(const StreamModel& stream, double s);

}  // namespace weir

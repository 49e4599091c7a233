// What a job is, and whether its options make sense together.
#pragma once

#include "weir/dedup.hpp"

namespace weir {

// Throws Error(Config).
void check_options(const Structure& structure, const DedupOptions& options);

}  // namespace weir

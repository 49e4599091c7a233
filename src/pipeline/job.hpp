// What a job is, and whether its options make sense together.
#pragma once

#include "weir/dedup.hpp"

namespace weir {

// What there is to read and where to write. Throws Error(Config), Error(Io).
void check_reading(const DedupOptions& options);

// That, and the rest. Throws Error(Config).
void check_options(const Structure& structure, const DedupOptions& options);

}  // namespace weir

// What the filters of a window (apbf, a2) say when the memory does not hold the window.
#pragma once

#include "weir/catalog.hpp"

namespace weir {

// Throws Error(Config): `held` records is the longest window, `window` was asked for and needs
// `bytes` of memory, everything included (0: no memory does). Windows are those of a shard.
[[noreturn]] void refuse_window(const char* name, const Request& request, std::uint64_t held,
                                std::uint64_t window, std::uint64_t bytes);

}  // namespace weir

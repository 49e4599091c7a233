// What the filters of a window (apbf, a2) say when the memory does not hold the window.
#pragma once

#include "weir/catalog.hpp"

namespace weir {

// Records of a stream that a shard must have room for, and the other way round: what falls to a
// shard wavers about its share, here by up to three standard deviations.
std::uint64_t share_of_shard(std::uint64_t records, std::uint32_t shards) noexcept;
std::uint64_t share_of_stream(std::uint64_t held, std::uint32_t shards) noexcept;

// Throws Error(Config): `held` records is the longest window, `window` was asked for and needs
// `bytes` of memory, everything included (0: no memory does). Windows are those of a shard; where
// the stream counts them (`by_stream`), its own are told.
[[noreturn]] void refuse_window(const char* name, const Request& request, std::uint64_t held,
                                std::uint64_t window, std::uint64_t bytes, bool by_stream);

}  // namespace weir

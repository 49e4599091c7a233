// One aligned, zeroed allocation a structure, with huge pages where the system gives them
// (worth a factor of two on large filters, see docs/performance.md).
//
// From 2 MiB on the block is mapped at a huge-page boundary, so it is zero without being touched
// and resident only as far as it is used. Address space is reserved to find the boundary, but
// never more memory than asked for. Smaller blocks come from operator new. A program may give an
// allocator of its own (weir/memory.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace weir {

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t page_bytes = 4096;

// The largest block that costs at most `budget` bytes: mapped blocks cost whole pages.
std::uint64_t largest_block(std::uint64_t budget) noexcept;

// Aligned to a cache line at least. Throws Error(NoMemory).
std::byte* allocate_block(std::uint64_t bytes);
void free_block(std::byte* block, std::uint64_t bytes) noexcept;

// Has the system clear one of `parts` parts of a mapped block, instead of page by page when it is
// first touched; until `stop` says so. Advice: where the system cannot, nothing happens.
void populate_part(std::span<const std::byte> block, unsigned part, unsigned parts,
                   const std::function<bool()>& stop) noexcept;

// Of the whole machine; 0 where the system does not say.
std::uint64_t memory_of_this_machine() noexcept;

inline std::uint64_t round_up(std::uint64_t n, std::uint64_t to) noexcept {
  return (n + to - 1) / to * to;
}

}  // namespace weir

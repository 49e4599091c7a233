// Where structures take their memory from, for a program that keeps account of it by itself: a
// server whose own allocator must know of every byte.
#pragma once

#include <cstdint>

namespace weir {

struct BlockAllocator {
  // Zeroed and aligned to 64 bytes, or null.
  void* (*allocate)(std::uint64_t bytes) noexcept;
  void (*release)(void* block, std::uint64_t bytes) noexcept;
  // The largest block that costs at most `budget` bytes, a multiple of 64.
  std::uint64_t (*largest)(std::uint64_t budget) noexcept;
};

// For the whole program; to be called before the first structure is made.
void use_allocator(const BlockAllocator& allocator) noexcept;

}  // namespace weir

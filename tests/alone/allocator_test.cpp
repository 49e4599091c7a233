// A program's own allocator gets every block of every structure, and gets it back.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "weir/catalog.hpp"
#include "weir/memory.hpp"
#include "weir/snapshot.hpp"

namespace weir {
namespace {

std::map<void*, std::uint64_t> held;
bool refuses = false;

void* allocate(std::uint64_t bytes) noexcept {
  if (refuses) return nullptr;
  void* const block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  std::memset(block, 0, bytes);
  held[block] = bytes;
  return block;
}
void release(void* block, std::uint64_t bytes) noexcept {
  EXPECT_EQ(held.at(block), bytes);
  held.erase(block);
  std::free(block);
}
std::uint64_t largest(std::uint64_t budget) noexcept { return budget / 8192 * 8192; }

TEST(OwnAllocator, HoldsEveryStructureWithinItsBudget) {
  use_allocator({allocate, release, largest});
  for (const StructureInfo* info : catalog()) {
    for (const std::uint64_t memory : {std::uint64_t{100'000}, std::uint64_t{5'000'000}}) {
      const StructurePtr made = make_structure(info->name, {.memory = memory, .seed = 1});
      ASSERT_EQ(held.size(), 1u) << info->name;
      EXPECT_EQ(held.begin()->second, made->memory());
      EXPECT_LE(made->memory(), largest(memory - budget_reserve));
      const StructurePtr copy = copy_of(*made);
      EXPECT_EQ(held.size(), 2u);
    }
    EXPECT_TRUE(held.empty()) << info->name;
  }
}

TEST(OwnAllocator, SaysSoWhenItHasNoMore) {
  use_allocator({allocate, release, largest});
  refuses = true;
  try {
    make_structure("weir", {.memory = 100'000});
    ADD_FAILURE() << "it was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::NoMemory);
  }
  refuses = false;
}

}  // namespace
}  // namespace weir

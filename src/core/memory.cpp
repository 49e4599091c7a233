#include "core/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "weir/error.hpp"
#include "weir/memory.hpp"

namespace weir {
namespace {

constexpr std::uint64_t huge_page = 2 << 20;

BlockAllocator foreign{};  // unless it was given, blocks are our own

[[noreturn]] void no_memory(std::uint64_t bytes) {
  const auto pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  const std::string all =
      pages > 0 && size > 0 ? " (the machine has " + std::to_string(pages * size) + ")" : "";
  throw Error(ErrorCode::NoMemory, "the system does not give " + std::to_string(bytes) +
                                       " bytes of memory" + all + "; ask for less");
}

// A huge-page boundary with room for `bytes`: reserve address space only, then open the
// aligned part and give the rest back.
std::byte* map_aligned(std::uint64_t bytes) {
  const std::uint64_t reserved = bytes + huge_page;
  if (reserved < bytes) no_memory(bytes);
  void* const whole =
      mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) no_memory(bytes);
  const auto start = reinterpret_cast<std::uintptr_t>(whole);
  const std::uintptr_t aligned = round_up(start, huge_page);
  std::byte* const block = static_cast<std::byte*>(whole) + (aligned - start);
  if (aligned > start) munmap(whole, aligned - start);
  if (const std::uint64_t rest = start + reserved - (aligned + bytes)) munmap(block + bytes, rest);
  if (mmap(block, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
      MAP_FAILED) {
    munmap(block, bytes);
    no_memory(bytes);
  }
  madvise(block, bytes, MADV_HUGEPAGE);  // advice: a refusal costs speed only
  return block;
}

}  // namespace

void use_allocator(const BlockAllocator& allocator) noexcept { foreign = allocator; }

std::uint64_t largest_block(std::uint64_t budget) noexcept {
  if (foreign.largest != nullptr) return foreign.largest(budget);
  if (budget < huge_page) return budget / line_bytes * line_bytes;
  return budget / page_bytes * page_bytes;
}

std::byte* allocate_block(std::uint64_t bytes) {
  if (foreign.allocate != nullptr) {
    void* const block = foreign.allocate(bytes);
    if (block == nullptr) no_memory(bytes);
    return static_cast<std::byte*>(block);
  }
  if (bytes >= huge_page) return map_aligned(round_up(bytes, page_bytes));
  void* const block = ::operator new(bytes, std::align_val_t{line_bytes}, std::nothrow);
  if (block == nullptr) no_memory(bytes);
  std::memset(block, 0, bytes);
  return static_cast<std::byte*>(block);
}

void free_block(std::byte* block, std::uint64_t bytes) noexcept {
  if (foreign.release != nullptr)
    foreign.release(block, bytes);
  else if (bytes >= huge_page)
    munmap(block, round_up(bytes, page_bytes));
  else
    ::operator delete(block, std::align_val_t{line_bytes});
}

void populate_part(std::span<const std::byte> block, unsigned part, unsigned parts,
                   const std::function<bool()>& stop) noexcept {
#if defined(MADV_POPULATE_WRITE)  // Linux 5.14
  constexpr std::uint64_t step = 32 * huge_page;
  const auto begin = reinterpret_cast<std::uintptr_t>(block.data());
  const auto bound = [&](unsigned i) {
    return (begin + block.size() / parts * i) / huge_page * huge_page;
  };
  std::uint64_t at =
      std::max<std::uint64_t>(bound(part), begin / huge_page * huge_page + huge_page);
  for (const std::uint64_t end = bound(part + 1); at < end && !stop(); at += step)
    if (::madvise(reinterpret_cast<void*>(at), std::min(step, end - at), MADV_POPULATE_WRITE) != 0)
      return;
#else
  static_cast<void>(block), static_cast<void>(part), static_cast<void>(parts),
      static_cast<void>(stop);
#endif
}

std::uint64_t memory_of_this_machine() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size)
             : 0;
}

}  // namespace weir

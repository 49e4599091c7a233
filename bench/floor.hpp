// The floor: what the machine itself charges for the lines a structure touches.
//
// A bare loop that takes the same digests as the structure, and for each key reads and writes
// one word in each of L random 64-byte lines of a block as large as the structure's, from the
// same allocator and so on the same kind of pages. It asks for a line 32 lines ahead. Nothing
// is hashed: the lines of a key are digest, digest + step, digest + 2 step, ..., scaled.
#pragma once

#include <sys/mman.h>

#include <span>

#include "core/bits.hpp"
#include "core/memory.hpp"
#include "core/prefetch.hpp"
#include "weir/digest.hpp"

namespace bench {

enum class Pages { Huge, Small };

class Floor {
 public:
  explicit Floor(std::uint64_t bytes, Pages pages = Pages::Huge)
      : bytes_(bytes), block_(weir::allocate_block(bytes)) {
    if (pages == Pages::Small && bytes >= 2 << 20) madvise(block_, bytes, MADV_NOHUGEPAGE);
    for (std::uint64_t i = 0; i < bytes; i += weir::page_bytes) block_[i] = std::byte{1};
  }
  ~Floor() { weir::free_block(block_, bytes_); }
  Floor(const Floor&) = delete;
  Floor& operator=(const Floor&) = delete;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  void touch(std::span<const weir::Digest> digests, unsigned lines_a_key) noexcept {
    if (lines_a_key == 1)
      touch_lines(digests, [] { return 1u; });
    else if (lines_a_key > 1)
      touch_lines(digests, [lines_a_key] { return lines_a_key; });
  }

 private:
  static constexpr std::size_t ahead = 32;

  template <class Lines>
  void touch_lines(std::span<const weir::Digest> digests, Lines lines_a_key) noexcept {
    auto* const words = reinterpret_cast<std::uint64_t*>(block_);
    const std::uint64_t lines = bytes_ / weir::line_bytes;
    std::uint64_t nowhere = 0;
    std::uint64_t* ring[ahead];
    for (auto& line : ring) line = &nowhere;
    std::size_t at = 0;
    for (const weir::Digest digest : digests) {
      const std::uint64_t step = digest << 32 | digest >> 32 | 1;
      std::uint64_t h = digest;
      for (unsigned j = 0; j < lines_a_key(); ++j, h += step, at = (at + 1) % ahead) {
        *ring[at] += digest;
        ring[at] = words + weir::reduce(h, lines) * 8;
        weir::prefetch_line(ring[at]);
      }
    }
    for (auto* const line : ring) *line += 1;
  }

  std::uint64_t bytes_;
  std::byte* block_;
};

}  // namespace bench

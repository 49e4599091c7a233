// A signature as librsync holds it.
#pragma once

#include <librsync.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "weir/sync.hpp"

namespace weir {

struct Signature::Loaded {
  std::unique_ptr<rs_signature_t, decltype(&rs_free_sumset)> sums{nullptr, &rs_free_sumset};
  std::optional<FileSum> basis;
  std::uint64_t blocks = 0;
  std::uint32_t magic = 0, block = 0, strong = 0;
};

// What librsync sees of a file at once: several blocks, or it copies them about; but no more memory
// than needed for blocks that only a forged signature has.
inline std::size_t window_for(std::uint32_t block) {
  return std::clamp<std::size_t>(std::size_t{4} * block, 256 << 10, 4 << 20);
}

}  // namespace weir

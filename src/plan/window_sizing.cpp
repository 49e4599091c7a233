#include "plan/window_sizing.hpp"

#include <cmath>
#include <cstdio>
#include <string>

namespace weir {

std::uint64_t share_of_shard(std::uint64_t records, std::uint32_t shards) noexcept {
  if (shards == 1) return records;
  const double share = static_cast<double>(records) / shards;
  return static_cast<std::uint64_t>(std::ceil(share + 3 * std::sqrt(share)));
}

std::uint64_t share_of_stream(std::uint64_t held, std::uint32_t shards) noexcept {
  if (shards == 1) return held;
  const double root = (std::sqrt(9 + 4 * static_cast<double>(held)) - 3) / 2;
  return static_cast<std::uint64_t>(root * root * shards);
}

void refuse_window(const char* name, const Request& request, std::uint64_t held,
                   std::uint64_t window, std::uint64_t bytes, bool by_stream) {
  const auto told = [&](std::uint64_t records) {
    return std::to_string(by_stream ? share_of_stream(records, request.shards)
                                    : records * request.shards);
  };
  char fpr[32];
  std::snprintf(fpr, sizeof fpr, "%g", request.fpr);
  std::string text = std::string(name) + " with an FPR of " + fpr + " in " +
                     std::to_string(request.memory) + " bytes holds a window of " + told(held) +
                     " records";
  if (bytes != 0)
    text += "; a window of " + told(window) + " records needs " + std::to_string(bytes) + " bytes";
  throw Error(ErrorCode::Config, text);
}

}  // namespace weir

#include "plan/window_sizing.hpp"

#include <cstdio>
#include <string>

namespace weir {

void refuse_window(const char* name, const Request& request, std::uint64_t held,
                   std::uint64_t window, std::uint64_t bytes) {
  char fpr[32];
  std::snprintf(fpr, sizeof fpr, "%g", request.fpr);
  std::string text = std::string(name) + " with an FPR of " + fpr + " in " +
                     std::to_string(request.memory) + " bytes holds a window of " +
                     std::to_string(held * request.shards) + " records";
  if (bytes != 0)
    text += "; a window of " + std::to_string(window * request.shards) + " records needs " +
            std::to_string(bytes) + " bytes";
  throw Error(ErrorCode::Config, text);
}

}  // namespace weir

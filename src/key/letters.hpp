// Letters of ASCII, whatever the locale.
#pragma once

#include <span>

namespace weir {

inline void lower(std::span<char> text) noexcept {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
}

}  // namespace weir

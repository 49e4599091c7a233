// Asks for a cache line that will be written soon.
//
// GCC takes a function that does nothing but prefetch for one without effects, and drops calls
// of it that it has not inlined; all prefetching of a batch vanishes silently. The empty
// statement below is an effect it must keep. It costs no instruction.
#pragma once

namespace weir {

inline void prefetch_line(const void* address) noexcept {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

}  // namespace weir

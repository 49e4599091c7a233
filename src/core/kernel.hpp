// Which kernels this CPU can run.
#pragma once

#include "weir/catalog.hpp"

namespace weir {

inline bool cpu_has(Kernel kernel) noexcept {
  switch (kernel) {
    case Kernel::Auto:
    case Kernel::Scalar:
      return true;
#if defined(__x86_64__)
    case Kernel::Avx2:
      return __builtin_cpu_supports("avx2") != 0;
    case Kernel::Avx512:
      return __builtin_cpu_supports("avx512f") != 0;
#else
    default:
      break;
#endif
  }
  return false;
}

inline Kernel best_kernel() noexcept {
  if (cpu_has(Kernel::Avx512)) return Kernel::Avx512;
  return cpu_has(Kernel::Avx2) ? Kernel::Avx2 : Kernel::Scalar;
}

}  // namespace weir

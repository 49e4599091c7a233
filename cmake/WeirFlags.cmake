# Warnings, sanitizers and the base instruction set. Wider SIMD kernels carry target attributes and
# are chosen at run time, so one binary runs everywhere.

# x86-64-v2 (every x86 since 2009) has the popcount instruction, which every count of cells uses.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-march=x86-64-v2)
endif()

# weir_warnings(TARGET [TEST]): tests are spared -Wconversion.
function(weir_warnings target)
  # GCC 12 takes plain structs that another function fills for uninitialised.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow
                                           $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(NOT "TEST" IN_LIST ARGN)
    # Clang counts every index under -Wconversion, GCC does not.
    target_compile_options(${target} PRIVATE -Wconversion
                                             $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)
  endif()
  if(WEIR_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

set(sanitizers ${WEIR_SANITIZE})
if(WEIR_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "WEIR_FUZZ needs Clang: use the preset `fuzz`.")
  endif()
  set(sanitizers fuzzer-no-link,address,undefined)
endif()
if(sanitizers)
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${sanitizers})
endif()

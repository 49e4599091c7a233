# bench/NAME.cpp becomes the executable bench-NAME. Google Benchmark is linked where it is found.
find_package(benchmark QUIET)
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.cpp)

foreach(source IN LISTS bench_sources)
  cmake_path(GET source STEM name)
  add_executable(bench-${name} ${source})
  target_link_libraries(bench-${name} PRIVATE weir-internals)
  if(benchmark_FOUND)
    target_link_libraries(bench-${name} PRIVATE benchmark::benchmark)
  endif()
  weir_warnings(bench-${name} TEST)
endforeach()

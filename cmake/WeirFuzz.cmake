# fuzz/fuzz_NAME.cpp defines LLVMFuzzerTestOneInput.
#   WEIR_FUZZ: executable fuzz_NAME, driven by libFuzzer
#   otherwise: executable replay_NAME, and test fuzz-corpus.NAME over fuzz/corpus/NAME/
file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/fuzz_*.cpp)
file(GLOB corpora LIST_DIRECTORIES true CONFIGURE_DEPENDS fuzz/corpus/*)

foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM stem)
  string(REGEX REPLACE "^fuzz_" "" name ${stem})
  set(corpus ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})

  if(WEIR_FUZZ)
    set(target fuzz_${name})
    add_executable(${target} ${source})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    set(target replay_${name})
    add_executable(${target} ${source} fuzz/replay_main.cpp)
    if(corpus IN_LIST corpora)
      add_test(NAME fuzz-corpus.${name} COMMAND ${target} ${corpus})
      set_tests_properties(fuzz-corpus.${name} PROPERTIES LABELS "fast;fuzz-corpus" TIMEOUT 600)
    endif()
  endif()
  target_link_libraries(${target} PRIVATE weir-cli-parts)
  weir_warnings(${target} TEST)
endforeach()

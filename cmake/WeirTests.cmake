# tests/**/*.cpp     one GoogleTest executable, weir-tests
# tests/alone/*.cpp  one executable each: they replace operator new, mmap and the like
# tests/cli/*.sh|py  one test each, with WEIR, WEIR_SOURCE_DIR and WEIR_BUILD_DIR in the environment
# tests/redis/*.py   the same against a server with the module; support/direct.cpp is the library
#                    called directly
# tests/install/     an outside program, built against an installed tree
#
# Labels: `slow` for suites named Slow* and scripts named slow*, `fast` for the others. The
# sanitizer presets run `fast`.
# Files under tests/fixtures/ are data and never compiled.
include(GoogleTest)
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)

function(weir_add_gtest target)
  add_executable(${target} ${ARGN})
  target_include_directories(${target} PRIVATE tests)
  target_compile_definitions(${target} PRIVATE
    WEIR_SOURCE_DIR="${PROJECT_SOURCE_DIR}" WEIR_BINARY="$<TARGET_FILE:weir-cli>")
  target_link_libraries(${target} PRIVATE
    weir-cli-parts GTest::gmock GTest::gtest GTest::gmock_main rapidcheck_gtest)
  weir_warnings(${target} TEST)
  add_dependencies(${target} weir-cli)
  # A sanitizer takes long to start: there a test of ctest is not one of GoogleTest but a share.
  if(WEIR_SANITIZE)
    set(shares 12)
    math(EXPR last "${shares} - 1")
    foreach(share RANGE ${last})
      add_test(NAME ${target}.${share} COMMAND ${target} --gtest_brief=1 --gtest_filter=-Slow*:*/Slow*)
      set_tests_properties(${target}.${share} PROPERTIES LABELS fast TIMEOUT 900
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${shares};GTEST_SHARD_INDEX=${share}")
    endforeach()
    return()
  endif()
  set(fast_filter "-Slow*:*/Slow*")  # Prefix/Suite is how parameterised suites are named
  set(slow_filter "Slow*:*/Slow*")
  foreach(speed fast slow)
    gtest_discover_tests(${target} TEST_FILTER ${${speed}_filter} NO_PRETTY_VALUES
      DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${speed} TIMEOUT 600)
  endforeach()
endfunction()

file(GLOB_RECURSE test_sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS tests/*.cpp)
list(FILTER test_sources EXCLUDE REGEX "^tests/(alone|install|fixtures|redis)/")
weir_add_gtest(weir-tests ${test_sources})

set(script_environment
  WEIR=$<TARGET_FILE:weir-cli> WEIR_SOURCE_DIR=${PROJECT_SOURCE_DIR}
  WEIR_BUILD_DIR=${PROJECT_BINARY_DIR})

# weir_add_scripts(FOLDER): tests/FOLDER/*.sh|py
function(weir_add_scripts folder)
  file(GLOB script_tests CONFIGURE_DEPENDS tests/${folder}/*.sh tests/${folder}/*.py)
  foreach(script IN LISTS script_tests)
    cmake_path(GET script STEM name)
    cmake_path(GET script EXTENSION LAST_ONLY extension)
    if(extension STREQUAL ".py")
      set(interpreter python3)
    else()
      set(interpreter bash)
    endif()
    set(speed fast)
    if(name MATCHES "^slow")
      set(speed slow)
    endif()
    add_test(NAME ${folder}.${name} COMMAND ${interpreter} ${script})
    set_tests_properties(${folder}.${name} PROPERTIES
      ENVIRONMENT "${script_environment}" LABELS ${speed} TIMEOUT 600)
  endforeach()
endfunction()
weir_add_scripts(cli)

if(WEIR_REDIS AND NOT WEIR_SANITIZE MATCHES "thread")
  # The server itself is not sanitized: it gets the runtime by hand.
  if(WEIR_SANITIZE)
    set(preload "")
    foreach(library asan ubsan)
      execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${library}.so
                      OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
      string(APPEND preload "${path} ")
    endforeach()
    list(APPEND script_environment "WEIR_PRELOAD=${preload}")
  endif()
  weir_add_scripts(redis)
  add_executable(weir-direct tests/redis/support/direct.cpp)
  target_link_libraries(weir-direct PRIVATE weir)
  weir_warnings(weir-direct TEST)
  add_library(weir-redis-other MODULE tests/redis/support/other.cpp integrations/redis/api.cpp)
  set_target_properties(weir-redis-other PROPERTIES PREFIX "")
  target_include_directories(weir-redis-other PRIVATE integrations/redis)
  weir_warnings(weir-redis-other TEST)
endif()

# These replace functions that a sanitizer replaces too, or link without its runtime.
if(NOT WEIR_SANITIZE)
  file(GLOB alone_sources CONFIGURE_DEPENDS tests/alone/*.cpp)
  foreach(source IN LISTS alone_sources)
    cmake_path(GET source STEM name)
    weir_add_gtest(weir-alone-${name} ${source})
  endforeach()

  add_test(NAME install.outside-program
           COMMAND bash ${PROJECT_SOURCE_DIR}/tests/install/run.sh)
  set_tests_properties(install.outside-program PROPERTIES
    ENVIRONMENT "${script_environment};CMAKE=${CMAKE_COMMAND};CXX=${CMAKE_CXX_COMPILER}"
    LABELS fast TIMEOUT 600)
endif()

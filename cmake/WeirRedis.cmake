# integrations/redis/*.cpp  the module weir.so. Nothing of it is visible but the two names that the
#                           server calls, so that it meets no other module's symbols.
file(GLOB redis_sources CONFIGURE_DEPENDS integrations/redis/*.cpp)
add_library(weir-redis MODULE ${redis_sources})
set_target_properties(weir-redis PROPERTIES OUTPUT_NAME weir PREFIX ""
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_include_directories(weir-redis PRIVATE
  integrations/redis src ${PROJECT_BINARY_DIR}/generated ${XXHASH_INCLUDE_DIR})
target_link_libraries(weir-redis PRIVATE weir)
target_link_options(weir-redis PRIVATE
  LINKER:--version-script=${PROJECT_SOURCE_DIR}/integrations/redis/weir.map)
set_target_properties(weir-redis PROPERTIES
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/integrations/redis/weir.map)
weir_warnings(weir-redis)
install(TARGETS weir-redis LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/weir)

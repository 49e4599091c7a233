# cmake --install: headers, library, command with its pages and completions, and what
# find_package(weir) and pkg-config read.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weir)

install(TARGETS weir EXPORT weir-targets)
install(DIRECTORY include/weir TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(EXPORT weir-targets NAMESPACE weir:: DESTINATION ${package_dir})
if(WEIR_ENGINE)
  install(TARGETS weir-engine weir-exchange EXPORT weir-engine-targets)
  install(EXPORT weir-engine-targets NAMESPACE weir:: DESTINATION ${package_dir})
endif()
if(WEIR_CLI)
  install(TARGETS weir-cli)
  if(BUILD_SHARED_LIBS)
    file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(weir-cli PROPERTIES INSTALL_RPATH $ORIGIN/${bin_to_lib})
  endif()

  # Manual pages and completions are what the command says about itself, so it must run here.
  if(NOT CMAKE_CROSSCOMPILING)
    set(pages ${PROJECT_BINARY_DIR}/pages)
    set(bash_file bash-completion/completions/weir)
    set(zsh_file zsh/site-functions/_weir)
    set(fish_file fish/vendor_completions.d/weir.fish)
    add_custom_command(OUTPUT ${pages}/man/man1/weir.1
      COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}/man/man1
        ${pages}/bash-completion/completions ${pages}/zsh/site-functions
        ${pages}/fish/vendor_completions.d
      COMMAND weir-cli completions bash > ${pages}/${bash_file}
      COMMAND weir-cli completions zsh > ${pages}/${zsh_file}
      COMMAND weir-cli completions fish > ${pages}/${fish_file}
      COMMAND weir-cli man --folder ${pages}/man/man1
      DEPENDS weir-cli COMMENT "Writing manual pages and completions" VERBATIM)
    add_custom_target(weir-pages ALL DEPENDS ${pages}/man/man1/weir.1)
    install(DIRECTORY ${pages}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
    foreach(file IN ITEMS ${bash_file} ${zsh_file} ${fish_file})
      cmake_path(GET file PARENT_PATH folder)
      install(FILES ${pages}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
    endforeach()
  endif()
endif()

configure_package_config_file(cmake/weir-config.cmake.in weir-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(weir-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weir-config.cmake
              ${PROJECT_BINARY_DIR}/weir-config-version.cmake
        DESTINATION ${package_dir})

# A static libweir leaves libsodium to its user, so plain `pkg-config --libs` must name it.
if(BUILD_SHARED_LIBS)
  set(pc_requires Requires.private)
else()
  set(pc_requires Requires)
endif()
file(RELATIVE_PATH pc_to_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
configure_file(cmake/weir.pc.in weir.pc @ONLY)
if(WEIR_ENGINE)
  set(pc_engine_requires weir)
  if(NOT BUILD_SHARED_LIBS)
    string(APPEND pc_engine_requires ", zlib, libzstd, simdjson")
    set(pc_exchange_libs " -lrsync")
  endif()
  configure_file(cmake/weir-engine.pc.in weir-engine.pc @ONLY)
  configure_file(cmake/weir-exchange.pc.in weir-exchange.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weir-engine.pc ${PROJECT_BINARY_DIR}/weir-exchange.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
install(FILES ${PROJECT_BINARY_DIR}/weir.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

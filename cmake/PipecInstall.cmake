# What `cmake --install` puts where: the runtime for embedding, as the package
# `pipec` with the target pipec::runtime, and the compiler's program.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(PIPEC_RUNTIME_LIBRARIES runtime schedule kernels onednn base schema)
foreach(name IN LISTS PIPEC_RUNTIME_LIBRARIES)
  set_target_properties(pipec_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS pipec_${name} EXPORT pipecTargets COMPONENT runtime
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/pipec COMPONENT runtime
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(PIPEC_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/pipec)
install(EXPORT pipecTargets NAMESPACE pipec:: COMPONENT runtime
  DESTINATION ${PIPEC_CMAKE_DIR})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/pipecConfig.cmake.in
  ${PROJECT_BINARY_DIR}/pipecConfig.cmake
  INSTALL_DESTINATION ${PIPEC_CMAKE_DIR})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/pipecConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/pipecConfig.cmake
  ${PROJECT_BINARY_DIR}/pipecConfigVersion.cmake
  COMPONENT runtime DESTINATION ${PIPEC_CMAKE_DIR})

# Its libraries (LLVM, oneDNN) are found where they were found at build time.
if(TARGET pipec)
  set_target_properties(pipec PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS pipec COMPONENT compiler
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# Here and not in test/: it needs the rules above.
if(PIPEC_BUILD_TESTS)
  add_subdirectory(${PROJECT_SOURCE_DIR}/test/install ${PROJECT_BINARY_DIR}/test/install)
endif()

# What `cmake --install` puts where. Component runtime: the library, as libpipec.so for C and whatever calls C, and static
# for C++, with CMake's package `pipec` and pkg-config's files. Component compiler: the command.
#
# Both can be moved: oneDNN, which is not of the system, lies beside them in lib/pipec and is found from where they are.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(PipecShared)

set(PIPEC_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/pipec)
set(PIPEC_PRIVATE_LIBDIR ${CMAKE_INSTALL_LIBDIR}/pipec)
set(PIPEC_DOCDIR ${CMAKE_INSTALL_DATADIR}/doc/pipec)

# The static libraries.
set(PIPEC_RUNTIME_LIBRARIES runtime schedule kernels onednn base schema)
foreach(name IN LISTS PIPEC_RUNTIME_LIBRARIES)
  set_target_properties(pipec_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS pipec_${name} EXPORT pipecTargets COMPONENT runtime
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(EXPORT pipecTargets NAMESPACE pipec:: COMPONENT runtime DESTINATION ${PIPEC_CMAKE_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/pipec COMPONENT runtime
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# The shared library: an export of its own, which needs no other package and no C++.
set_target_properties(pipec_shared PROPERTIES INSTALL_RPATH "$ORIGIN/pipec")
install(TARGETS pipec_shared EXPORT pipecSharedTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT runtime)
install(EXPORT pipecSharedTargets NAMESPACE pipec:: COMPONENT runtime DESTINATION ${PIPEC_CMAKE_DIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pipecConfig.cmake.in ${PROJECT_BINARY_DIR}/pipecConfig.cmake
  INSTALL_DESTINATION ${PIPEC_CMAKE_DIR} PATH_VARS PIPEC_PRIVATE_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pipecConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pipecConfig.cmake ${PROJECT_BINARY_DIR}/pipecConfigVersion.cmake
  COMPONENT runtime DESTINATION ${PIPEC_CMAKE_DIR})

# pkg-config: pipec for C, pipec-runtime for C++.
file(RELATIVE_PATH PIPEC_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PIPEC_PC_TO_PREFIX ${PIPEC_PC_TO_PREFIX})
set(PIPEC_PC_ONEDNN "")
if(PIPEC_ENABLE_ONEDNN)
  set(PIPEC_PC_ONEDNN "-L\${libdir}/pipec -l:libdnnl.so.3 -Wl,-rpath,\${libdir}/pipec -lgomp")
endif()
foreach(name pipec pipec-runtime)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc COMPONENT runtime DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# The command: LLVM's libraries are the system's, where they were at build time.
set(components runtime)
if(TARGET pipec)
  list(APPEND components compiler)
  file(RELATIVE_PATH to_private /${CMAKE_INSTALL_BINDIR} /${PIPEC_PRIVATE_LIBDIR})
  set_target_properties(pipec PROPERTIES INSTALL_RPATH "$ORIGIN/${to_private};${LLVM_LIBRARY_DIR}")
  install(TARGETS pipec COMPONENT compiler RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# What both need, for whoever installs one of them alone.
foreach(component IN LISTS components)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE COMPONENT ${component} DESTINATION ${PIPEC_DOCDIR})
  if(PIPEC_ENABLE_ONEDNN)
    install(FILES $<TARGET_FILE:DNNL::dnnl> RENAME libdnnl.so.3 COMPONENT ${component}
      DESTINATION ${PIPEC_PRIVATE_LIBDIR} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    install(DIRECTORY ${PIPEC_PYTHON_ENV}/share/doc/dnnl COMPONENT ${component} DESTINATION ${PIPEC_DOCDIR} OPTIONAL)
  endif()
endforeach()

# Here and not in test/: it needs the rules above.
if(PIPEC_BUILD_TESTS)
  add_subdirectory(${PROJECT_SOURCE_DIR}/test/install ${PROJECT_BINARY_DIR}/test/install)
endif()

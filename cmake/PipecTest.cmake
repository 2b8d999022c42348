# GoogleTest executables.
find_package(GTest REQUIRED)

# What tools/check builds under the sanitizers: all unit tests, or those of the runtime alone.
add_custom_target(unit_tests)
add_custom_target(runtime_tests)

# pipec_gtest(NAME sources... [LINK libs...]): an executable with GoogleTest's
# main, and a test of the same name that runs all of it. Sources name their
# headers relative to the root.
function(pipec_gtest name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main)
  target_compile_options(${name} PRIVATE -O0) # built more often than they wait
  add_test(NAME ${name} COMMAND ${name})
  add_dependencies(unit_tests ${name})
  set(labels unit)
  if(NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "/test/unit/(ir|passes|frontends|compiler)")
    list(APPEND labels runtime)
    add_dependencies(runtime_tests ${name})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
endfunction()

# GoogleTest executables.
find_package(GTest REQUIRED)

# What tools/check builds under the sanitizers: all unit tests, or those of the runtime alone.
add_custom_target(unit_tests)
add_custom_target(runtime_tests)

# pipec_gtest(NAME sources... [SHARDS n] [LINK libs...]): an executable with GoogleTest's
# main, and a test of the same name that runs all of it. With SHARDS, for what takes longest,
# n tests NAME_0 .. that share it and are started before the others. Sources name their
# headers relative to the root.
function(pipec_gtest name)
  cmake_parse_arguments(ARG "" "SHARDS" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main)
  target_compile_options(${name} PRIVATE -O0) # built more often than they wait
  add_dependencies(unit_tests ${name})
  set(labels unit)
  if(NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "/test/unit/(ir|passes|frontends|compiler)")
    list(APPEND labels runtime)
    add_dependencies(runtime_tests ${name})
  endif()
  if(NOT ARG_SHARDS)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${labels}")
    return()
  endif()
  math(EXPR last "${ARG_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}_${shard} COMMAND ${name})
    set_tests_properties(${name}_${shard} PROPERTIES LABELS "${labels}" COST 1000
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# Compiler settings of the whole tree and the helper that declares a library.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(PIPEC_CCACHE ccache)
if(PIPEC_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PIPEC_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${PIPEC_CCACHE})
endif()

# Decision 6 (the same bits however a model is cut) forbids contraction across operations.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -ffp-contract=off)
if(PIPEC_WERROR)
  add_compile_options(-Werror)
endif()
foreach(sanitizer IN LISTS PIPEC_SANITIZE)
  add_compile_options(-fsanitize=${sanitizer} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${sanitizer})
endforeach()

if(PIPEC_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()

# pipec_library(NAME sources... [LINK libs...]): a static library `pipec_NAME`
# with the alias `pipec::NAME`; headers are included relative to the root.
function(pipec_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(pipec_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(pipec::${name} ALIAS pipec_${name})
  target_include_directories(pipec_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
    $<INSTALL_INTERFACE:include>)
  target_link_libraries(pipec_${name} PUBLIC ${ARG_LINK})
endfunction()

# Protobuf sources are generated beside the build, without our warnings.
# pipec_proto(TARGET file.proto IMPORT_DIR dir)
function(pipec_proto target proto import_dir)
  get_filename_component(stem ${proto} NAME_WE)
  set(out ${CMAKE_CURRENT_BINARY_DIR})
  add_custom_command(
    OUTPUT ${out}/${stem}.pb.cc ${out}/${stem}.pb.h
    COMMAND protobuf::protoc --cpp_out=${out} -I ${import_dir} ${proto}
    DEPENDS ${proto} VERBATIM)
  add_library(${target} STATIC ${out}/${stem}.pb.cc ${out}/${stem}.pb.h)
  target_include_directories(${target} SYSTEM PUBLIC
    $<BUILD_INTERFACE:${out}>)
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
  target_compile_options(${target} PRIVATE -w)
endfunction()

# libpipec.so: the C interface with all that it needs of ours, and no other symbol. What C programs and those of other
# languages load; C++ links the static libraries.
add_library(pipec_shared SHARED ${PROJECT_SOURCE_DIR}/runtime/capi/shared.cpp)
# Symbols that only callers name are taken out of the static library as a whole.
target_link_libraries(pipec_shared PRIVATE
  -Wl,--whole-archive $<TARGET_FILE:pipec_runtime> -Wl,--no-whole-archive pipec_runtime
  -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/pipec.map)
target_include_directories(pipec_shared INTERFACE $<INSTALL_INTERFACE:include>)
add_dependencies(pipec_shared pipec_runtime)
set_target_properties(pipec_shared PROPERTIES
  OUTPUT_NAME pipec
  VERSION ${PROJECT_VERSION}
  SOVERSION 1 # PIPEC_ABI_VERSION
  LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/pipec.map
  EXPORT_NAME pipec)

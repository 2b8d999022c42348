# Everything that is not ours, found in one place. tools/setup installs it.
set(PIPEC_PYTHON_ENV ${PROJECT_SOURCE_DIR}/.venv CACHE PATH
  "Python environment with oneDNN, the ONNX schema, lit, numpy and safetensors (tools/setup makes it)")
list(PREPEND CMAKE_PREFIX_PATH ${PIPEC_PYTHON_ENV})

find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(nlohmann_json REQUIRED)

if(PIPEC_ENABLE_ONEDNN)
  find_package(dnnl CONFIG REQUIRED PATHS ${PIPEC_PYTHON_ENV}/lib/cmake/dnnl)
  set_target_properties(DNNL::dnnl PROPERTIES MAP_IMPORTED_CONFIG_DEBUG RELEASE)
endif()

if(PIPEC_BUILD_COMPILER)
  find_package(CLI11 REQUIRED)
  find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-22)
  list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
  include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  file(GLOB PIPEC_ONNX_PROTO
    ${PIPEC_PYTHON_ENV}/lib/python3*/site-packages/onnx/onnx-ml.proto)
  if(NOT PIPEC_ONNX_PROTO)
    message(FATAL_ERROR "The ONNX schema (onnx-ml.proto of PyPI's onnx) is not in ${PIPEC_PYTHON_ENV}; run tools/setup")
  endif()
endif()

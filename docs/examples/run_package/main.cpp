// Runs a package once on inputs of ones and prints its outputs.
// Usage: run_package model.pipe. Tests: test/install.
#include "pipec/session.h"

#include <algorithm>
#include <cstdio>

namespace {

int fail(const pipec::Status &status) {
  std::fprintf(stderr, "run_package: %s\n", status.message().c_str());
  return 1;
}

void fillWithOnes(pipec::Tensor &tensor) {
  if (tensor.dtype() == pipec::DType::F32)
    std::fill_n(tensor.as<float>(), tensor.numElements(), 1.0f);
  else if (tensor.dtype() == pipec::DType::I64)
    std::fill_n(tensor.as<int64_t>(), tensor.numElements(), 1);
  else // all zero bytes are a zero of every element type
    std::fill_n(tensor.as<char>(), tensor.byteSize(), 0);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    return fail(pipec::invalidArgument("usage: run_package model.pipe"));

  auto package = pipec::Package::open(argv[1]);
  if (!package.ok())
    return fail(package.status());
  auto session = pipec::Session::create(*package, {});
  if (!session.ok())
    return fail(session.status());

  pipec::TensorMap inputs; // one microbatch of the first size compiled
  for (const pipec::InputInfo &info : package->inputs()) {
    auto tensor = pipec::Tensor::allocate(info.types[0]);
    if (!tensor.ok())
      return fail(tensor.status());
    fillWithOnes(*tensor);
    inputs.emplace(info.name, *tensor);
  }

  auto outputs = (*session)->run(inputs, {});
  if (!outputs.ok())
    return fail(outputs.status());
  for (const auto &[name, tensor] : *outputs) {
    std::printf("%s: %s", name.c_str(), tensor.type().str().c_str());
    if (tensor.dtype() == pipec::DType::F32)
      for (int64_t i = 0; i < std::min<int64_t>(tensor.numElements(), 8); ++i)
        std::printf(" %g", static_cast<double>(tensor.as<float>()[i]));
    std::printf("\n");
  }
  return 0;
}

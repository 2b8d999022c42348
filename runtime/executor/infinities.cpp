// See infinities.h. Tests: test/unit/runtime/NumericsTest.cpp,
// test/e2e/cli/check-numerics.test.
#include "runtime/executor/infinities.h"

#include "runtime/device/cpu/cpu_device.h"

namespace pipec {

TensorMap asInputs(const TensorMap &batch) {
  TensorMap named;
  for (const auto &[name, tensor] : batch)
    named["input '" + name + "'"] = tensor;
  return named;
}

Status withInfinities(const Status &status, const TensorMap &tensors) {
  auto says = [&](const char *text) {
    return status.message().find(text) != std::string::npos;
  };
  // An infinity is made of finite numbers, and a NaN that came in is named.
  const bool isOpen = status.getCode() == StatusCode::NumericError &&
                      !says("infinity in ") && !says("reads it from ") &&
                      !says("comes in by ");
  if (!isOpen)
    return status;
  std::string names;
  for (const auto &[name, tensor] : tensors)
    if (classifyOnHost(tensor.view()).infinity)
      names += (names.empty() ? "" : ", ") + name;
  return names.empty()
             ? status
             : numericError(status.message() +
                            "; likely made of the infinity read from " + names);
}

} // namespace pipec

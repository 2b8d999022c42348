// Elementwise comparison in double.
// Tests: test/e2e/cli.
#include "tools/pipec/Compare.h"

#include "runtime/base/printable.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace pipec::tool {
namespace {

double elementAsDouble(const Tensor &tensor, int64_t i) {
  switch (tensor.dtype()) {
  case DType::F32:
    return tensor.as<float>()[i];
  case DType::F64:
    return tensor.as<double>()[i];
  case DType::F16:
    return halfToFloat(tensor.as<uint16_t>()[i]);
  case DType::BF16:
    return bfloat16ToFloat(tensor.as<uint16_t>()[i]);
  default:
    return 0;
  }
}

struct Difference {
  double largest = 0;
  bool within = true;
};

Difference compare(const Tensor &got, const Tensor &expected,
                   const Tolerance &tolerance) {
  Difference result;
  if (!isFloat(expected.dtype())) {
    result.within =
        std::memcmp(got.data(), expected.data(), expected.byteSize()) == 0;
    result.largest = result.within ? 0 : INFINITY;
    return result;
  }
  for (int64_t i = 0; i < expected.numElements(); ++i) {
    double a = elementAsDouble(got, i), b = elementAsDouble(expected, i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    double difference = std::fabs(a - b);
    result.within &=
        difference <= tolerance.absolute + tolerance.relative * std::fabs(b);
    if (!(difference <= result.largest))
      result.largest = difference;
  }
  return result;
}

} // namespace

StatusOr<std::string> compareOutputs(const TensorMap &got,
                                     const TensorMap &expected,
                                     const Tolerance &tolerance) {
  std::string failures, lines;
  auto fail = [&](const std::string &text) {
    failures += (failures.empty() ? "" : "; ") + text;
  };
  for (const auto &[name, want] : expected) {
    auto found = got.find(name);
    if (found == got.end()) {
      std::string there;
      for (const auto &[output, tensor] : got)
        there += (there.empty() ? "" : ", ") + output;
      fail("there is no output '" + name + "' to compare; there is " + there);
      continue;
    }
    if (found->second.type() != want.type()) {
      fail("output '" + name + "' is " + found->second.type().str() +
           ", expected " + want.type().str());
      continue;
    }
    Difference difference = compare(found->second, want, tolerance);
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", difference.largest);
    lines += "  " + printable(name) + "  largest difference from expected " +
             text + ": equal within the tolerance\n";
    if (!difference.within)
      fail("output '" + name + "' differs from the expected one by up to " +
           text);
  }
  if (!failures.empty())
    return invalidArgument(failures);
  return lines;
}

} // namespace pipec::tool

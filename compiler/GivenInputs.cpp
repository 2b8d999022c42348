// See GivenInputs.h. Tests: test/unit/compiler/GivenInputsTest.cpp,
// test/e2e/cli/inputs.test.
#include "compiler/GivenInputs.h"

#include "runtime/base/input_text.h"

#include "llvm/ADT/STLExtras.h"

namespace pipec {
namespace {

using Port = frontend::ModelInterface::Port;

/// "f32[batch x 3]"; an unnamed dimension is a "?".
std::string declaredType(const Port &port) {
  std::string text(dtypeName(port.dtype));
  if (!port.hasShape)
    return text + " of any shape";
  text += "[";
  for (const auto &[axis, dim] : llvm::enumerate(port.shape))
    text += (axis ? " x " : "") + (dim.size >= 0 ? std::to_string(dim.size)
                                   : dim.symbol.empty() ? "?"
                                                        : dim.symbol);
  return text + "]";
}

bool fits(const Port &port, const TensorType &type) {
  if (port.dtype != type.dtype)
    return false;
  if (!port.hasShape)
    return true;
  if (static_cast<int64_t>(port.shape.size()) != type.rank())
    return false;
  for (size_t axis = 1; axis < port.shape.size(); ++axis)
    if (port.shape[axis].size >= 0 && port.shape[axis].size != type.shape[axis])
      return false;
  return true;
}

} // namespace

Status checkGivenInputs(const frontend::ModelInterface &model,
                        const CompileOptions &options) {
  if (!options.given)
    return {};
  const GivenInputs &given = *options.given;
  auto about = [&](const std::string &text) {
    return invalidArgument(given.from.empty() ? text
                                              : given.from + ": " + text);
  };
  InputTexts expected, got;
  for (const Port &port : model.inputs)
    expected[port.name] = declaredType(port);
  for (const auto &[name, type] : given.types)
    got[name] = type.str();
  if (std::string text = inputMismatch(expected, got, false); !text.empty())
    return about(text);
  for (const Port &port : model.inputs)
    if (!fits(port, given.types.at(port.name)))
      return about(wrongInput(port.name, expected[port.name], got[port.name]));
  return {};
}

} // namespace pipec

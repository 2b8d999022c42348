// See input_text.h. Tests: test/unit/runtime/InputTest.cpp,
// test/unit/compiler/GivenInputsTest.cpp, test/e2e/cli/inputs.test.
#include "runtime/base/input_text.h"

namespace pipec {
namespace {

constexpr size_t kShown = 24;

std::string listed(const InputTexts &inputs) {
  std::string text;
  size_t count = 0;
  for (const auto &[name, type] : inputs) {
    if (count++ == kShown)
      return text + " and " + std::to_string(inputs.size() - kShown) + " more";
    text += (text.empty() ? "'" : ", '") + name + "'" +
            (type.empty() ? "" : " " + type);
  }
  return text.empty() ? "none" : text;
}

} // namespace

std::string inputMismatch(const InputTexts &expected, const InputTexts &given,
                          bool surplusIsWrong) {
  InputTexts missing, surplus;
  for (const auto &input : expected)
    if (!given.count(input.first))
      missing.insert(input);
  for (const auto &[name, type] : given)
    if (surplusIsWrong && !expected.count(name))
      surplus[name] = "";
  if (missing.empty() && surplus.empty())
    return "";
  std::string text = "inputs do not match";
  if (!missing.empty())
    text += "; missing: " + listed(missing);
  if (!surplus.empty())
    text += "; surplus: " + listed(surplus);
  return text + "; given: " + listed(given) + "; expected: " + listed(expected);
}

std::string wrongInput(const std::string &name, const std::string &expected,
                       const std::string &got) {
  return "input '" + name + "': expected " + expected + ", got " + got;
}

} // namespace pipec

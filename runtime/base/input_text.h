// How inputs that do not match are spoken of: one text for packages, whose
// inputs have types, and for model files, whose dimensions may have names.
#ifndef PIPEC_RUNTIME_BASE_INPUT_TEXT_H
#define PIPEC_RUNTIME_BASE_INPUT_TEXT_H

#include <map>
#include <string>
#include <vector>

namespace pipec {

/// Types by name, as text: "f32[Nx4]".
using InputTexts = std::map<std::string, std::string>;

/// "inputs do not match; missing: 'y' i64[4]; surplus: 'z'; given: 'x' f32[4]
/// and 'z' f32[2]; expected: ...", of long lists the beginning. Empty
/// where nothing is missing and nothing is surplus.
std::string inputMismatch(const InputTexts &expected, const InputTexts &given,
                          bool surplusIsWrong);

/// "input 'x': expected f32[Nx4], got f64[2x4]".
std::string wrongInput(const std::string &name, const std::string &expected,
                       const std::string &got);

} // namespace pipec

#endif // PIPEC_RUNTIME_BASE_INPUT_TEXT_H

// Small text helpers of the frontend's messages.
//
// In: names and shapes. Out: strings for messages. Tests: through the messages
// of the importer's tests.
#ifndef PIPEC_FRONTENDS_COMMON_TEXT_H
#define PIPEC_FRONTENDS_COMMON_TEXT_H

#include "runtime/base/op.h"

namespace pipec::frontend {

/// "model.onnx: node 'node_relu' (Relu, module fc, net.py:3)": the place of a
/// node, for messages.
std::string placeOf(const std::string &path, const Origin &origin);
/// "[2, 3]".
std::string shapeText(const std::vector<int64_t> &shape);
/// "a, b, c".
std::string joined(const std::vector<std::string> &parts,
                   const char *separator = ", ");
/// "; did you mean a or b?" for the names nearest to `name`, "" where none is
/// near.
std::string didYouMean(const std::string &name,
                       const std::vector<std::string> &known);
bool startsWith(const std::string &text, const std::string &prefix);
bool endsWith(const std::string &text, const std::string &suffix);
/// The part behind the last '.', or all of it.
std::string leafName(const std::string &dotted);
/// The part before the last '.', or "".
std::string parentName(const std::string &dotted);
/// "fc.weight" of "fc" and "weight"; at the root the name alone.
std::string inModule(const std::string &module, const std::string &leaf);

} // namespace pipec::frontend

#endif

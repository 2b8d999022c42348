// Sizes of graph inputs: declared, given and bound, unified.
//
// In: the model's interface, ImportOptions. Out: a static type per input.
// Tests: test/unit/frontends/InputShapesTest.cpp.
#ifndef PIPEC_FRONTENDS_COMMON_INPUTSHAPES_H
#define PIPEC_FRONTENDS_COMMON_INPUTSHAPES_H

#include "frontends/onnx/metadata/Model.h"

namespace pipec::onnx {

using Shape = std::vector<int64_t>;

/// Errors (InvalidArgument) name input, dimension, symbol, the sizes that
/// clash, and what to do.
StatusOr<std::vector<TensorType>> bindInputs(const Model &model,
                                             const ImportOptions &options);

} // namespace pipec::onnx

#endif

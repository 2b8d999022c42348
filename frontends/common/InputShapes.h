// Sizes of graph inputs: declared, given and bound, unified.
//
// In: a model's interface, ImportOptions. Out: a static type per input.
// Tests: test/unit/frontends/InputShapesTest.cpp.
#ifndef PIPEC_FRONTENDS_COMMON_INPUTSHAPES_H
#define PIPEC_FRONTENDS_COMMON_INPUTSHAPES_H

#include "frontends/common/OpenedModel.h"

namespace pipec::frontend {

using Shape = std::vector<int64_t>;

/// `path`: of the model file. Errors (InvalidArgument) name it, input,
/// dimension, symbol, the sizes that clash, and what to do.
StatusOr<std::vector<TensorType>> bindInputs(const std::string &path,
                                             const ModelInterface &interface,
                                             const ImportOptions &options);

} // namespace pipec::frontend

#endif

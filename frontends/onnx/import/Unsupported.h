// Operators that no importer takes.
//
// In: an opened Model. Out: ok, or one error with all of them and what can be
// done. Tests: test/unit/frontends/UnsupportedTest.cpp.
#ifndef PIPEC_FRONTENDS_ONNX_IMPORT_UNSUPPORTED_H
#define PIPEC_FRONTENDS_ONNX_IMPORT_UNSUPPORTED_H

#include "frontends/onnx/metadata/Model.h"

namespace pipec::onnx {

/// Each operator with its number of nodes and the place of the first; then, a
/// line a kind of operator, what a user can do.
Status checkSupported(const Model &model);

} // namespace pipec::onnx

#endif

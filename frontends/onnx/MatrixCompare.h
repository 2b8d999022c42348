// Whether two stored matrices hold the same bytes, however large they are.
//
// In: two TensorSources of rank 2. Out: yes or no. Works in blocks and gives
// the pages of mapped files back, so that the memory it takes does not grow
// with the matrices. Tests: test/unit/frontends/MatrixCompareTest.cpp,
// test/conformance/large_weights.py.
#ifndef PIPEC_FRONTENDS_ONNX_MATRIXCOMPARE_H
#define PIPEC_FRONTENDS_ONNX_MATRIXCOMPARE_H

#include "frontends/onnx/TensorSource.h"

#include <functional>

namespace pipec::onnx {

/// Whether a[i][j] is b[i][j], or b[j][i] with `transposed`. A sample of the
/// elements comes first; `before` is called where all have to be compared.
bool sameMatrix(const TensorSource &a, const TensorSource &b, bool transposed,
                const std::function<void()> &before = {});

} // namespace pipec::onnx

#endif

// dot_general's dimensions, checked and grouped. Used by the reference and the
// oneDNN kernel.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_DOT_DIMS_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_DOT_DIMS_H

#include "runtime/kernels/reference/support.h"

namespace pipec::reference {

/// Batch, free and contracted dimensions of both operands, with their strides
/// in elements.
struct DotDims {
  Shape batch, lhsFree, rhsFree, contract;
  Shape lhsBatchStrides, lhsFreeStrides, lhsContractStrides;
  Shape rhsBatchStrides, rhsFreeStrides, rhsContractStrides;
  int64_t b = 1, m = 1, n = 1, k = 1; // products of the groups
};

/// Reads and checks a dot_general: arity, element types, dimension lists and
/// result type.
StatusOr<DotDims> readDotDims(const OpDesc &op);

} // namespace pipec::reference

#endif

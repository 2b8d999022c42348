// Elementwise kernels from row functions: the loops over broadcast dimensions
// exist once, an op gives the code for one contiguous row. Private to the
// kernels.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_ELEMENTWISE_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_ELEMENTWISE_H

#include "runtime/kernels/reference/strided.h"

namespace pipec::reference {

using UnaryRow = void (*)(void *out, const void *in, int64_t n);
/// `aFixed`, `bFixed`: the operand is one element, used for the whole row.
/// Never both unless n is 1.
using BinaryRow = void (*)(void *out, const void *a, const void *b, int64_t n,
                           bool aFixed, bool bFixed);

/// Checks shapes; the result has element type `resultType`.
KernelOr makeUnary(const OpDesc &op, DType resultType, UnaryRow row);
KernelOr makeBinary(const OpDesc &op, DType resultType, BinaryRow row);

/// F::apply(x) on each element, in Compute<T>, rounded to R once.
template <typename F, typename T, typename R>
void unaryRow(void *out, const void *in, int64_t n) {
  R *__restrict r = static_cast<R *>(out);
  const T *x = static_cast<const T *>(in);
  for (int64_t i = 0; i < n; ++i)
    r[i] = store<R>(F::apply(load(x[i])));
}

/// F::apply(a, b) on each pair of elements, in Compute<T>, rounded to R once.
template <typename F, typename T, typename R>
void binaryRow(void *out, const void *a, const void *b, int64_t n, bool aFixed,
               bool bFixed) {
  R *__restrict r = static_cast<R *>(out);
  const T *x = static_cast<const T *>(a), *y = static_cast<const T *>(b);
  if (aFixed) {
    const auto fixed = load(*x);
    for (int64_t i = 0; i < n; ++i)
      r[i] = store<R>(F::apply(fixed, load(y[i])));
  } else if (bFixed) {
    const auto fixed = load(*y);
    for (int64_t i = 0; i < n; ++i)
      r[i] = store<R>(F::apply(load(x[i]), fixed));
  } else {
    for (int64_t i = 0; i < n; ++i)
      r[i] = store<R>(F::apply(load(x[i]), load(y[i])));
  }
}

/// A factory of the op F for operands of the classes `Classes`, the result
/// being of the operands' type.
template <unsigned Classes, typename F>
KernelOr unaryFactory(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  const DType dtype = op.inputs[0].dtype;
  return dispatch<Classes>(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return makeUnary(op, dtype, unaryRow<F, T, T>);
  });
}

template <unsigned Classes, typename F>
KernelOr binaryFactory(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  const DType dtype = op.inputs[0].dtype;
  return dispatch<Classes>(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return makeBinary(op, dtype, binaryRow<F, T, T>);
  });
}

/// As binaryFactory, for integer ops whose bits do not depend on signedness:
/// half the code.
template <typename F> KernelOr wrappingIntFactory(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  const DType dtype = op.inputs[0].dtype;
  if (!isSignedInt(dtype) && !isUnsignedInt(dtype))
    return dispatch<0>(
        dtype, [](auto) { return KernelOr(internalError("no class")); });
  return dispatchWidth(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return makeBinary(op, dtype, binaryRow<F, T, T>);
  });
}

} // namespace pipec::reference

#endif

// The geometry of convolutions and pooling: attributes read and checked, one to
// three spatial dimensions seen as three. Used by the reference and the oneDNN
// kernels.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_WINDOW_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_WINDOW_H

#include "runtime/kernels/reference/support.h"

#include <array>

namespace pipec::reference {

using Size3 = std::array<int64_t, 3>;

/// Sizes per spatial dimension, leading ones filled up with 1 (padding with 0).
struct Window {
  size_t spatialDims = 0; // as the op has them
  int64_t batch = 0, channels = 0, outChannels = 0, groups = 1;
  Size3 in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, strides{1, 1, 1},
      dilations{1, 1, 1};
  Size3 low{0, 0, 0}, high{0, 0, 0}, outputPadding{0, 0, 0};

  int64_t inSize() const { return in[0] * in[1] * in[2]; }
  int64_t outSize() const { return out[0] * out[1] * out[2]; }
  int64_t kernelSize() const { return kernel[0] * kernel[1] * kernel[2]; }
};

/// Each reads and checks everything: arity, element types, attributes, result
/// type.
StatusOr<Window> readConvolution(const OpDesc &op);
StatusOr<Window> readConvTranspose(const OpDesc &op);
StatusOr<Window> readPooling(const OpDesc &op);
/// Of a pool's gradient: `input` is the pool's operand, `grad` the type of its
/// result's gradient.
StatusOr<Window> readPoolingGrad(const OpDesc &op, const TensorType &input,
                                 const TensorType &grad);

/// The o in [first, last) of `size` results for which o * stride + offset lies
/// in [0, limit).
struct Span {
  int64_t first, last;
};
Span spanInside(int64_t size, int64_t stride, int64_t offset, int64_t limit);

} // namespace pipec::reference

#endif

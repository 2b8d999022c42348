// A batched matrix product as one oneDNN primitive. Private to the oneDNN
// kernels.
#ifndef PIPEC_RUNTIME_KERNELS_ONEDNN_MATMUL_H
#define PIPEC_RUNTIME_KERNELS_ONEDNN_MATMUL_H

#include "runtime/kernels/onednn/library.h"

namespace pipec::onednn {

/// Where one of the three matrices lies: strides in elements.
struct MatrixLayout {
  Dims batchStrides; // as many as batch sizes
  int64_t rowStride, columnStride;
};

struct MatmulShape {
  dnnl::memory::data_type type;
  Dims batch;
  int64_t m, n, k;
  MatrixLayout a, b, c; // [batch, m, k], [batch, k, n], [batch, m, n]
};

class Matmul {
public:
  /// Throws dnnl::error where the library has no fast code for the shape.
  explicit Matmul(const MatmulShape &shape);
  size_t scratchBytes() const { return scratch; }
  /// Throws dnnl::error.
  void run(const void *a, const void *b, void *c, void *scratchpad,
           dnnl::stream &stream);

private:
  Step step;
  size_t scratch = 0;
};

} // namespace pipec::onednn

#endif

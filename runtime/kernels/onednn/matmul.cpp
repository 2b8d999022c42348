// Matrix products by oneDNN. In: sizes and strides of plain or transposed
// matrices. Out: a primitive that reads and writes them where they lie.
// Tests: test/unit/kernels/OneDnnTest.cpp.
#include "runtime/kernels/onednn/matmul.h"

namespace pipec::onednn {
namespace {

MemoryDesc describe(const MatmulShape &shape, const MatrixLayout &layout,
                    int64_t rows, int64_t columns) {
  Dims sizes = shape.batch, strides = layout.batchStrides;
  sizes.insert(sizes.end(), {rows, columns});
  // A single row or column has no stride of its own: take the one that makes
  // the matrix dense.
  int64_t row = layout.rowStride, column = layout.columnStride;
  if (rows == 1)
    row = column == 1 ? columns : 1;
  if (columns == 1)
    column = 1;
  strides.insert(strides.end(), {row, column});
  return MemoryDesc(sizes, shape.type, strides);
}

} // namespace

Matmul::Matmul(const MatmulShape &shape) {
  const dnnl::matmul::primitive_desc desc(
      engine(), describe(shape, shape.a, shape.m, shape.k),
      describe(shape, shape.b, shape.k, shape.n),
      describe(shape, shape.c, shape.m, shape.n), attributes());
  if (isSlow(desc.impl_info_str()))
    throw dnnl::error(dnnl_unimplemented, "only slow code for this layout");
  step = Step(dnnl::matmul(desc));
  step.argument(DNNL_ARG_SRC, desc.src_desc());
  step.argument(DNNL_ARG_WEIGHTS, desc.weights_desc());
  step.argument(DNNL_ARG_DST, desc.dst_desc());
  step.argument(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
  scratch = desc.scratchpad_desc().get_size();
}

void Matmul::run(const void *a, const void *b, void *c, void *scratchpad,
                 dnnl::stream &stream) {
  step.bind(DNNL_ARG_SRC, a);
  step.bind(DNNL_ARG_WEIGHTS, b);
  step.bind(DNNL_ARG_DST, c);
  step.bind(DNNL_ARG_SCRATCHPAD, scratchpad);
  step.run(stream);
}

} // namespace pipec::onednn

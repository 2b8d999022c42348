// dot_general by oneDNN's matmul, f32 and bf16. In: operands plain, transposed
// or with batch dimensions anywhere. Out: [batch, m, n], dense.
//
// Batch, free and contracted dimensions are each folded to one where strides
// allow; an operand that does not fold to a matrix with one contiguous
// dimension is packed into scratch first. Products below kLeast multiply-adds
// stay with the reference kernel, which is faster there: the choice follows
// from the shape alone. Tests: test/unit/kernels/OneDnnTest.cpp.
#include "runtime/kernels/onednn/matmul.h"
#include "runtime/kernels/reference/dot_dims.h"
#include "runtime/kernels/reference/strided.h"

namespace pipec::onednn {
namespace {

using reference::DotDims;
using reference::LoopNest;
using reference::Shape;
using reference::StridedCopy;

constexpr int64_t kLeast = 4096;
constexpr size_t kMostBatchDims = 4;

// The stride of several dimensions as one; nothing where they do not lie like
// one.
bool fold(const Shape &sizes, const Shape &strides, int64_t &stride) {
  LoopNest<1> nest;
  nest.sizes = sizes;
  nest.strides = {strides};
  nest.simplify();
  stride = nest.strides[0].back();
  return nest.sizes.size() == 1;
}

// One operand: read in place, or packed to [batch, rows, columns].
struct Operand {
  MatrixLayout layout;
  bool packed = false;
  StridedCopy copy;
  int64_t elements = 0;
  size_t at = 0; // of the packed array in scratch

  Operand(const DotDims &d, const Shape &batchStrides, const Shape &rows,
          const Shape &rowStrides, const Shape &columns,
          const Shape &columnStrides, int64_t rowCount, int64_t columnCount,
          size_t width) {
    const bool rowsFold = fold(rows, rowStrides, layout.rowStride);
    const bool columnsFold = fold(columns, columnStrides, layout.columnStride);
    const bool unit = rowCount == 1 || columnCount == 1 ||
                      layout.rowStride == 1 || layout.columnStride == 1;
    layout.batchStrides.assign(batchStrides.begin(), batchStrides.end());
    elements = d.b * rowCount * columnCount;
    if (rowsFold && columnsFold && unit)
      return;
    packed = true;
    Shape sizes = d.batch, strides = batchStrides;
    sizes.insert(sizes.end(), rows.begin(), rows.end());
    sizes.insert(sizes.end(), columns.begin(), columns.end());
    strides.insert(strides.end(), rowStrides.begin(), rowStrides.end());
    strides.insert(strides.end(), columnStrides.begin(), columnStrides.end());
    copy =
        StridedCopy(sizes, reference::rowMajorStrides(sizes), strides, width);
    layout.rowStride = columnCount;
    layout.columnStride = 1;
    layout.batchStrides.clear();
    for (int64_t stride : reference::rowMajorStrides(d.batch))
      layout.batchStrides.push_back(stride * rowCount * columnCount);
  }

  const void *get(const void *data, char *scratch) {
    if (!packed)
      return data;
    copy.run(scratch + at, data);
    return scratch + at;
  }
};

class DotKernel final : public Kernel {
public:
  DotKernel(const OpDesc &op, const DotDims &d, size_t width)
      : name(reference::opText(op)), stream(engine()),
        lhs(d, d.lhsBatchStrides, d.lhsFree, d.lhsFreeStrides, d.contract,
            d.lhsContractStrides, d.m, d.k, width),
        rhs(d, d.rhsBatchStrides, d.contract, d.rhsContractStrides, d.rhsFree,
            d.rhsFreeStrides, d.k, d.n, width),
        matmul(shapeOf(op, d)) {
    for (Operand *operand : {&lhs, &rhs})
      if (operand->packed)
        operand->at = width == 2 ? plan.add<uint16_t>(operand->elements)
                                 : plan.add<float>(operand->elements);
    scratchpad = plan.add<char>(static_cast<int64_t>(matmul.scratchBytes()));
  }

  bool fits() const { return plan.fits(); }
  size_t scratchBytes() const override { return plan.bytes(); }

  Status run(const std::vector<TensorView> &in,
             const std::vector<TensorView> &out, void *memory) override {
    return guardedRun(name, [&] {
      char *scratch = static_cast<char *>(memory);
      const void *a = lhs.get(in[0].data, scratch),
                 *b = rhs.get(in[1].data, scratch);
      matmul.run(a, b, out[0].data, scratch + scratchpad, stream);
    });
  }

private:
  MatmulShape shapeOf(const OpDesc &op, const DotDims &d) const {
    LoopNest<3> batch; // what all three agree on is folded
    batch.sizes = d.batch;
    batch.strides[0] = reference::rowMajorStrides(d.batch);
    for (int64_t &stride : batch.strides[0])
      stride *= d.m * d.n;
    batch.strides[1].assign(lhs.layout.batchStrides.begin(),
                            lhs.layout.batchStrides.end());
    batch.strides[2].assign(rhs.layout.batchStrides.begin(),
                            rhs.layout.batchStrides.end());
    batch.simplify();
    const auto type = op.inputs[0].dtype == DType::F32
                          ? dnnl::memory::data_type::f32
                          : dnnl::memory::data_type::bf16;
    MatmulShape shape{type,
                      {},
                      d.m,
                      d.n,
                      d.k,
                      {{}, lhs.layout.rowStride, lhs.layout.columnStride},
                      {{}, rhs.layout.rowStride, rhs.layout.columnStride},
                      {{}, d.n, 1}};
    if (d.b == 1)
      return shape;
    if (batch.sizes.size() > kMostBatchDims)
      throw dnnl::error(dnnl_unimplemented, "too many batch dimensions");
    shape.batch = batch.sizes;
    shape.c.batchStrides = batch.strides[0];
    shape.a.batchStrides = batch.strides[1];
    shape.b.batchStrides = batch.strides[2];
    return shape;
  }

  std::string name;
  dnnl::stream stream;
  Operand lhs, rhs;
  Matmul matmul;
  reference::ScratchPlan plan;
  size_t scratchpad = 0;
};

bool supportsDot(const OpDesc &op) {
  return op.inputs.size() == 2 && (op.inputs[0].dtype == DType::F32 ||
                                   op.inputs[0].dtype == DType::BF16);
}

StatusOr<std::unique_ptr<Kernel>> makeDot(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const DotDims d, reference::readDotDims(op));
  if (static_cast<__int128>(d.b) * d.m * d.n * d.k < kLeast)
    return unsupported("too small to gain by oneDNN");
  return guardedMake([&]() -> StatusOr<std::unique_ptr<Kernel>> {
    auto kernel =
        std::make_unique<DotKernel>(op, d, byteSize(op.inputs[0].dtype));
    if (!kernel->fits())
      return resourceExhausted(
          "needs more than 2^62 bytes of temporary memory");
    return std::unique_ptr<Kernel>(std::move(kernel));
  });
}

} // namespace

void registerDot(KernelRegistry &registry) {
  registry.add("dot_general", KernelSet::OneDnn, makeDot, supportsDot);
}

} // namespace pipec::onednn

// gather, gather_elements, gather_nd: reading at computed positions. In: an
// operand of any element type and i32 or i64 indices. Out: the elements or
// slices they name; an index out of range is an error that names the op.
// Tests: test/unit/kernels/GatherTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/indexing.h"

#include <algorithm>
#include <cstring>

namespace pipec::reference {
namespace {

KernelOr makeGather(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  PIPEC_RETURN_IF_ERROR(checkIndexType(op, 1));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const int64_t dim, dimAttr(op, "dim", type.rank()));
  const Shape &from = op.inputs[1].shape;
  Shape shape(type.shape.begin(), type.shape.begin() + dim);
  shape.insert(shape.end(), from.begin(), from.end());
  shape.insert(shape.end(), type.shape.begin() + dim + 1, type.shape.end());
  PIPEC_RETURN_IF_ERROR(checkResult(op, {type.dtype, shape}));
  const int64_t outer = numElements(type.shape, 0, dim), size = type.shape[dim],
                count = op.inputs[1].numElements();
  const auto bytes =
      static_cast<size_t>(numElements(type.shape, dim + 1, type.shape.size())) *
      byteSize(type.dtype);
  return makeKernel([=, name = opText(op)](const Run &run) {
    const Indices indices(run.inputs[1]);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = resolveIndex(indices[i], size);
      if (index < 0)
        return indexError(name, indices[i], i, size);
      for (int64_t o = 0; o < outer && bytes; ++o)
        std::memcpy(run.out<char>() + (o * count + i) * bytes,
                    run.in<char>(0) + (o * size + index) * bytes, bytes);
    }
    return Status();
  });
}

KernelOr makeGatherElements(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  PIPEC_RETURN_IF_ERROR(checkIndexType(op, 1));
  const TensorType &type = op.inputs[0], &indexType = op.inputs[1];
  PIPEC_ASSIGN_OR_RETURN(const int64_t dim, dimAttr(op, "dim", type.rank()));
  PIPEC_RETURN_IF_ERROR(checkResult(op, {type.dtype, indexType.shape}));
  PIPEC_ASSIGN_OR_RETURN(LoopNest<2> nest,
                         elementPositions(type, indexType, dim));
  const int64_t size = type.shape[dim], step = rowMajorStrides(type.shape)[dim];
  return dispatchWidth(type.dtype, [&](auto tag) {
    using U = typename decltype(tag)::type;
    return makeKernel([=, name = opText(op)](const Run &run) mutable {
      const Indices indices(run.inputs[1]);
      const U *in = run.in<U>(0);
      U *out = run.out<U>();
      Status status;
      nest.forEach([&](const std::array<int64_t, 2> &at) {
        for (int64_t i = 0; i < nest.inner() && status.ok(); ++i) {
          const int64_t index = resolveIndex(indices[at[0] + i], size);
          if (index < 0)
            status = indexError(name, indices[at[0] + i], at[0] + i, size);
          else
            out[at[0] + i] = in[at[1] + i * nest.innerStride(1) + index * step];
        }
      });
      return status;
    });
  });
}

KernelOr makeGatherNd(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  PIPEC_RETURN_IF_ERROR(checkIndexType(op, 1));
  const TensorType &type = op.inputs[0];
  const Shape &from = op.inputs[1].shape;
  PIPEC_ASSIGN_OR_RETURN(const int64_t batchDims,
                         attrOr<int64_t>(op, "batch_dims", 0));
  const int64_t rank = type.rank();
  const int64_t k = from.empty() ? -1 : from.back();
  if (k < 0 || batchDims < 0 ||
      batchDims >= static_cast<int64_t>(from.size()) || batchDims > rank ||
      k > rank - batchDims ||
      !std::equal(from.begin(), from.begin() + batchDims, type.shape.begin()))
    return invalidArgument("indices " + op.inputs[1].str() + " do not fit " +
                           type.str() + " with " + std::to_string(batchDims) +
                           " batch dimensions");
  Shape shape(from.begin(), from.end() - 1);
  shape.insert(shape.end(), type.shape.begin() + batchDims + k,
               type.shape.end());
  PIPEC_RETURN_IF_ERROR(checkResult(op, {type.dtype, shape}));

  const Shape strides = rowMajorStrides(type.shape);
  PositionReader reader;
  reader.sizes.assign(type.shape.begin() + batchDims,
                      type.shape.begin() + batchDims + k);
  reader.strides.assign(strides.begin() + batchDims,
                        strides.begin() + batchDims + k);
  reader.op = opText(op);
  const int64_t batches = numElements(from, 0, batchDims),
                rows = numElements(from, batchDims, from.size() - 1);
  const int64_t batchStep = numElements(type.shape, batchDims, rank);
  const size_t width = byteSize(type.dtype);
  const auto bytes =
      static_cast<size_t>(numElements(type.shape, batchDims + k, rank)) * width;
  return makeKernel([=](const Run &run) {
    const Indices indices(run.inputs[1]);
    for (int64_t row = 0; row < batches * rows; ++row) {
      PIPEC_ASSIGN_OR_RETURN(const int64_t at, reader.offset(indices, row));
      const int64_t from = (row / rows) * batchStep + at;
      if (bytes)
        std::memcpy(run.out<char>() + row * bytes,
                    run.in<char>(0) + from * width, bytes);
    }
    return Status();
  });
}

} // namespace

StatusOr<LoopNest<2>> elementPositions(const TensorType &operand,
                                       const TensorType &indices, int64_t dim) {
  bool fits = operand.rank() == indices.rank();
  for (int64_t d = 0; fits && d < operand.rank(); ++d)
    fits = d == dim || indices.shape[d] <= operand.shape[d];
  if (!fits)
    return invalidArgument("indices " + indices.str() + " do not fit " +
                           operand.str() + " beside dim " +
                           std::to_string(dim));
  LoopNest<2> nest;
  nest.sizes = indices.shape;
  nest.strides = {rowMajorStrides(indices.shape),
                  rowMajorStrides(operand.shape)};
  nest.strides[1][dim] = 0;
  nest.simplify();
  return nest;
}

void registerGather(KernelRegistry &registry) {
  registry.add("gather", KernelSet::Reference, makeGather);
  registry.add("gather_elements", KernelSet::Reference, makeGatherElements);
  registry.add("gather_nd", KernelSet::Reference, makeGatherNd);
}

} // namespace pipec::reference

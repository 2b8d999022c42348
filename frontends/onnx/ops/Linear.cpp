// Matrix products of ONNX.
//
// In: MatMul, Gemm. Out: `pipe.dot_general`; a weight that the file has
// transposed is read in PyTorch's orientation and contracted along its other
// dimension. Tests: test/unit/frontends/ImportTest.cpp.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

namespace pipec::onnx {
namespace {

std::optional<Shape> broadcastShapes(const Shape &a, const Shape &b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1,
            y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

Shape withBatch(const Shape &batch, const Val &matrix) {
  Shape shape = batch;
  shape.push_back(matrix.dim(matrix.rank() - 2));
  shape.push_back(matrix.dim(matrix.rank() - 1));
  return shape;
}

/// Product of stacks of matrices, [..., M, K] x [..., K, N].
Val batchedProduct(NodeContext &c, const Val &a, const Val &b) {
  Shape batchA(a.shape().begin(), a.shape().end() - 2),
      batchB(b.shape().begin(), b.shape().end() - 2);
  auto batch = broadcastShapes(batchA, batchB);
  if (!c.require(batch.has_value(), "the stacks " + shapeText(a.shape()) +
                                        " and " + shapeText(b.shape()) +
                                        " do not broadcast"))
    return Val();
  int64_t n = static_cast<int64_t>(batch->size());
  Val left = c.e.broadcast(a, withBatch(*batch, a)),
      right = c.e.broadcast(b, withBatch(*batch, b));
  return c.e.dot(left, right, iotaShape(n), iotaShape(n), {n + 1}, {n});
}

void importMatMul(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  Val a = c.in(0), b = c.in(1);
  if (!c.require(a.rank() > 0 && b.rank() > 0, "a scalar is no matrix"))
    return;
  int64_t inner = a.dim(a.rank() - 1),
          rows = b.dim(b.rank() > 1 ? b.rank() - 2 : 0);
  if (!c.require(inner == rows, "cannot multiply " + shapeText(a.shape()) +
                                    " by " + shapeText(b.shape()) + ": " +
                                    std::to_string(inner) + " columns meet " +
                                    std::to_string(rows) + " rows"))
    return;
  if (b.rank() <= 2) {
    Val weight = c.transposedWeight(1);
    c.out(0, weight ? c.e.dot(a, weight, {}, {}, {a.rank() - 1}, {1})
                    : c.e.dot(a, b, {}, {}, {a.rank() - 1}, {0}));
  } else if (a.rank() == 1) {
    Shape shape(b.shape().begin(), b.shape().end() - 2);
    shape.push_back(b.dim(b.rank() - 1));
    c.out(0,
          c.e.reshape(batchedProduct(c, c.e.reshape(a, {1, inner}), b), shape));
  } else {
    c.out(0, batchedProduct(c, a, b));
  }
}

void importGemm(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  Val a = c.in(0), b = c.in(1);
  if (!c.require(a.rank() == 2 && b.rank() == 2,
                 "the operands " + shapeText(a.shape()) + " and " +
                     shapeText(b.shape()) + " are no matrices"))
    return;
  int64_t alongA = c.intAttr("transA", 0) ? 0 : 1,
          alongB = c.intAttr("transB", 0) ? 1 : 0;
  if (!c.require(a.dim(alongA) == b.dim(alongB),
                 "cannot multiply " + shapeText(a.shape()) + " by " +
                     shapeText(b.shape()) + ": " +
                     std::to_string(a.dim(alongA)) + " meets " +
                     std::to_string(b.dim(alongB))))
    return;
  if (Val weight = c.transposedWeight(0)) {
    a = weight;
    alongA = 1 - alongA;
  }
  if (Val weight = c.transposedWeight(1)) {
    b = weight;
    alongB = 1 - alongB;
  }
  // f16 and bf16: in f32, and rounded once at the end, as PyTorch's addmm.
  const double alpha = c.floatAttr("alpha", 1.0);
  const DType dtype = a.dtype();
  const bool isHalf = dtype == DType::F16 || dtype == DType::BF16;
  const DType inner = isHalf && (c.has(2) || alpha != 1) ? DType::F32 : dtype;
  Val result =
      c.e.mulNumber(c.e.dot(c.e.convert(a, inner), c.e.convert(b, inner), {},
                            {}, {alongA}, {alongB}),
                    alpha);
  if (c.has(2) && result) {
    const double beta = c.floatAttr("beta", 1.0);
    if (!c.require(broadcastShapes(c.in(2).shape(), result.shape()) ==
                       result.shape(),
                   "C " + shapeText(c.in(2).shape()) +
                       " does not broadcast to " + shapeText(result.shape())))
      return;
    if (beta != 0) // else C is not read, whatever it holds
      result =
          c.e.add(result, c.e.mulNumber(c.e.convert(c.in(2), inner), beta));
  }
  c.out(0, c.e.convert(result, dtype));
}

constexpr OpEntry kTable[] = {{"MatMul", 13, importMatMul},
                              {"Gemm", 13, importGemm}};

} // namespace

OpTable linearOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx

// Normalisations, softmax, attention and dropout: inference and cost.
// Tests: test/ir/norm-*.mlir.
#include "ir/NormOps.h"
#include "ir/ShapeInference.h"

#include "mlir/IR/Builders.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace pipec::pipe;

#define GET_OP_CLASSES
#include "ir/NormOps.cpp.inc"

void PipeDialect::registerNormOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/NormOps.cpp.inc"
      >();
}

// Flops an element, besides the exponential: subtractions, sums, divisions.
static constexpr int64_t kSoftmaxFlops = kTranscendentalFlops + 4;
static constexpr int64_t kNormFlops = 8;    // mean, variance, scale and shift
static constexpr int64_t kRmsNormFlops = 4; // mean of squares and scale
static constexpr int64_t kBatchNormFlops = 4;

// ---- softmax

static LogicalResult inferSoftmax(const Inference &infer, Value operand,
                                  int64_t dim, SmallVectorImpl<Type> &types) {
  if (failed(infer.checkDim(dim, shapeOf(operand).size())))
    return failure();
  types.push_back(operand.getType());
  return success();
}
PIPE_INFER_RETURN_TYPES(SoftmaxOp) {
  return inferSoftmax(infer, adaptor.getOperand(), adaptor.getDim(), types);
}
PIPE_INFER_RETURN_TYPES(LogSoftmaxOp) {
  return inferSoftmax(infer, adaptor.getOperand(), adaptor.getDim(), types);
}
int64_t SoftmaxOp::getFlops() {
  return elementwiseFlops(getOperation(), kSoftmaxFlops);
}
int64_t LogSoftmaxOp::getFlops() {
  return elementwiseFlops(getOperation(), kSoftmaxFlops);
}

// ---- normalisations

// Scale and bias (each may be null) have the shape of dimensions axis.. .
static LogicalResult inferAxisNorm(const Inference &infer, Value operand,
                                   Value scale, Value bias, int64_t axis,
                                   double epsilon,
                                   SmallVectorImpl<Type> &types) {
  ShapeRef shape = shapeOf(operand);
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
    return infer.error("axis ", axis, " is out of range for rank ",
                       shape.size());
  ShapeRef normalised = shape.drop_front(axis);
  if (failed(infer.checkEpsilon(epsilon)) ||
      failed(infer.checkSameElementType({operand, scale, bias})) ||
      (scale && failed(infer.checkShape("scale", scale, normalised))) ||
      (bias && failed(infer.checkShape("bias", bias, normalised))))
    return failure();
  types.push_back(operand.getType());
  return success();
}

PIPE_INFER_RETURN_TYPES(LayerNormOp) {
  return inferAxisNorm(infer, adaptor.getOperand(), adaptor.getScale(),
                       adaptor.getBias(), adaptor.getAxis(),
                       adaptor.getEpsilon().convertToDouble(), types);
}
PIPE_INFER_RETURN_TYPES(RmsNormOp) {
  return inferAxisNorm(infer, adaptor.getOperand(), adaptor.getScale(), {},
                       adaptor.getAxis(),
                       adaptor.getEpsilon().convertToDouble(), types);
}

// N C *, and values of C elements each (null ones are skipped).
static LogicalResult
inferChannelNorm(const Inference &infer, Value operand,
                 llvm::ArrayRef<std::pair<StringRef, Value>> channelValues,
                 double epsilon, SmallVectorImpl<Type> &types) {
  ShapeRef shape = shapeOf(operand);
  if (shape.size() < 2)
    return infer.error("operand must have rank 2 or more, got ",
                       operand.getType());
  if (failed(infer.checkEpsilon(epsilon)))
    return failure();
  for (auto [name, value] : channelValues)
    if (value && (failed(infer.checkSameElementType({operand, value})) ||
                  failed(infer.checkShape(name, value, {shape[1]}))))
      return failure();
  types.push_back(operand.getType());
  return success();
}

PIPE_INFER_RETURN_TYPES(GroupNormOp) {
  if (failed(inferChannelNorm(
          infer, adaptor.getOperand(),
          {{"scale", adaptor.getScale()}, {"bias", adaptor.getBias()}},
          adaptor.getEpsilon().convertToDouble(), types)))
    return failure();
  int64_t channels = shapeOf(adaptor.getOperand())[1];
  int64_t groups = adaptor.getGroups();
  if (groups < 1 || channels % groups != 0)
    return infer.error("groups must be positive and divide the ", channels,
                       " channels, got ", groups);
  return success();
}
PIPE_INFER_RETURN_TYPES(BatchNormOp) {
  return inferChannelNorm(infer, adaptor.getOperand(),
                          {{"scale", adaptor.getScale()},
                           {"bias", adaptor.getBias()},
                           {"mean", adaptor.getMean()},
                           {"variance", adaptor.getVariance()}},
                          adaptor.getEpsilon().convertToDouble(), types);
}

int64_t LayerNormOp::getFlops() {
  return elementwiseFlops(getOperation(), kNormFlops);
}
int64_t RmsNormOp::getFlops() {
  return elementwiseFlops(getOperation(), kRmsNormFlops);
}
int64_t GroupNormOp::getFlops() {
  return elementwiseFlops(getOperation(), kNormFlops);
}
int64_t BatchNormOp::getFlops() {
  return elementwiseFlops(getOperation(), kBatchNormFlops);
}

// ---- attention

static LogicalResult checkMask(const Inference &infer, Value query, Value mask,
                               ShapeRef scores) {
  Type elementType = elementTypeOf(mask);
  if (!elementType.isInteger(1) && elementType != elementTypeOf(query))
    return infer.error("mask must be of bool or ", elementTypeOf(query),
                       ", got ", mask.getType());
  ShapeRef shape = shapeOf(mask);
  bool fits = shape.size() <= scores.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits =
        shape[i] == 1 || shape[i] == scores[scores.size() - shape.size() + i];
  if (!fits)
    return infer.error("mask must broadcast to ", listStr(scores), ", got ",
                       mask.getType());
  return success();
}

PIPE_INFER_RETURN_TYPES(AttentionOp) {
  Value query = adaptor.getQuery(), key = adaptor.getKey(),
        value = adaptor.getValue(), mask = adaptor.getMask();
  if (failed(infer.checkRank("query", query, 4, 4)) ||
      failed(infer.checkRank("key", key, 4, 4)) ||
      failed(infer.checkRank("value", value, 4, 4)) ||
      failed(infer.checkSameElementType({query, key, value})))
    return failure();
  ShapeRef q = shapeOf(query), k = shapeOf(key), v = shapeOf(value);
  if (k[0] != q[0] || k[3] != q[3])
    return infer.error("query and key must agree in batch and last dimension, "
                       "got ",
                       query.getType(), " and ", key.getType());
  if (k.take_front(3) != v.take_front(3))
    return infer.error("key and value must agree in batch, heads and length, "
                       "got ",
                       key.getType(), " and ", value.getType());
  if (k[1] < 1 || q[1] % k[1] != 0)
    return infer.error("the ", q[1],
                       " query heads must be a multiple of the key heads, got ",
                       k[1]);
  if (!std::isfinite(adaptor.getScale().convertToDouble()))
    return infer.error("scale must be finite");
  if (mask && failed(checkMask(infer, query, mask, {q[0], q[1], q[2], k[2]})))
    return failure();
  return infer.finish({q[0], q[1], q[2], v[3]}, elementTypeOf(query), types);
}

int64_t AttentionOp::getFlops() {
  int64_t queries = elementsOf(getQuery().getType());
  int64_t keys = getKey().getType().getDimSize(2);
  RankedTensorType query = getQuery().getType();
  int64_t scores = saturatingProduct(
      {query.getDimSize(0), query.getDimSize(1), query.getDimSize(2), keys});
  return saturatingSum({saturatingProduct({2, queries, keys}),
                        saturatingProduct({2, elementsOf(getType()), keys}),
                        saturatingProduct({scores, kSoftmaxFlops})});
}

// ---- dropout

PIPE_INFER_RETURN_TYPES(DropoutOp) {
  double ratio = adaptor.getRatio().convertToDouble();
  if (!(ratio >= 0 && ratio <= 1))
    return infer.error("ratio must be from 0 to 1, got ", ratio);
  auto stream = static_cast<int64_t>(adaptor.getStream());
  if (stream < 0 || stream > std::numeric_limits<uint32_t>::max())
    return infer.error("stream must be a 32-bit number, got ", stream);
  if (Value key = adaptor.getKey();
      key && failed(infer.checkShape("key", key, {3})))
    return failure();
  types.push_back(adaptor.getOperand().getType());
  return success();
}

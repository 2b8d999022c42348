// Literals and data movement: inference, cost, the verifiers of `constant`
// and `iota`. Folders are in Folders.cpp.
// Tests: test/ir/shape-*.mlir.
#include "ir/ShapeOps.h"
#include "ir/ShapeInference.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pipec::pipe;

#define GET_OP_CLASSES
#include "ir/ShapeOps.cpp.inc"

void PipeDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/ShapeOps.cpp.inc"
      >();
}

// ---- inference

PIPE_INFER_RETURN_TYPES(ReshapeOp) {
  Value operand = adaptor.getOperand();
  ShapeRef shape = adaptor.getShape();
  if (failed(infer.checkAtLeast("shape", shape, 0)))
    return failure();
  std::optional<int64_t> from = checkedElements(shapeOf(operand));
  std::optional<int64_t> to = checkedElements(shape);
  if (!from || !to || *from != *to)
    return infer.error("cannot make shape ", listStr(shape), " of ",
                       operand.getType(), ": the numbers of elements differ");
  return infer.finish(shape, elementTypeOf(operand), types);
}

PIPE_INFER_RETURN_TYPES(TransposeOp) {
  Value operand = adaptor.getOperand();
  ShapeRef shape = shapeOf(operand), permutation = adaptor.getPermutation();
  if (failed(infer.checkLength("permutation", permutation, shape.size())))
    return failure();
  llvm::SmallVector<bool> seen(shape.size(), false);
  Shape result;
  for (int64_t dim : permutation) {
    if (failed(infer.checkDim(dim, shape.size())))
      return failure();
    if (seen[dim])
      return infer.error("permutation names dim ", dim,
                         " twice: ", listStr(permutation));
    seen[dim] = true;
    result.push_back(shape[dim]);
  }
  return infer.finish(result, elementTypeOf(operand), types);
}

PIPE_INFER_RETURN_TYPES(BroadcastOp) {
  Value operand = adaptor.getOperand();
  ShapeRef from = shapeOf(operand), to = adaptor.getShape();
  if (failed(infer.checkAtLeast("shape", to, 0)))
    return failure();
  bool fits = from.size() <= to.size();
  for (size_t i = 0; fits && i < from.size(); ++i)
    fits = from[i] == 1 || from[i] == to[to.size() - from.size() + i];
  if (!fits)
    return infer.error("cannot stretch ", operand.getType(), " to shape ",
                       listStr(to));
  return infer.finish(to, elementTypeOf(operand), types);
}

PIPE_INFER_RETURN_TYPES(SliceOp) {
  Value operand = adaptor.getOperand();
  ShapeRef shape = shapeOf(operand);
  ShapeRef starts = adaptor.getStarts(), limits = adaptor.getLimits(),
           strides = adaptor.getStrides();
  int64_t rank = shape.size();
  if (failed(infer.checkLength("starts", starts, rank)) ||
      failed(infer.checkLength("limits", limits, rank)) ||
      failed(infer.checkLength("strides", strides, rank)) ||
      failed(infer.checkAtLeast("strides", strides, 1)))
    return failure();
  Shape result;
  for (int64_t d = 0; d < rank; ++d) {
    if (starts[d] < 0 || starts[d] > limits[d] || limits[d] > shape[d])
      return infer.error("needs 0 <= start <= limit <= size in dim ", d,
                         ", got start ", starts[d], ", limit ", limits[d],
                         ", size ", shape[d]);
    int64_t span = limits[d] - starts[d];
    result.push_back(span / strides[d] + (span % strides[d] != 0));
  }
  return infer.finish(result, elementTypeOf(operand), types);
}

PIPE_INFER_RETURN_TYPES(ReverseOp) {
  Value operand = adaptor.getOperand();
  if (failed(infer.checkDims(adaptor.getDims(), shapeOf(operand).size())))
    return failure();
  types.push_back(operand.getType());
  return success();
}

// The result size of dimension `d`, after the rules of the mode.
static FailureOr<int64_t> inferPaddedSize(const Inference &infer, PadMode mode,
                                          int64_t d, int64_t size, int64_t low,
                                          int64_t high) {
  int64_t result;
  if (llvm::AddOverflow(size, low, result) ||
      llvm::AddOverflow(result, high, result))
    return infer.error("padding overflows in dim ", d);
  if (mode == PadMode::constant) {
    if (low < -size || high < -size || result < 0)
      return infer.error("crops more than the size ", size, " of dim ", d,
                         ": low ", low, ", high ", high);
    return result;
  }
  if (low < 0 || high < 0)
    return infer.error("crops in mode constant only, got low ", low, ", high ",
                       high, " in dim ", d);
  if (low == 0 && high == 0)
    return result;
  int64_t most = std::max(low, high);
  if (mode == PadMode::reflect && most >= size)
    return infer.error("reflects at most ", size - 1, " elements in dim ", d,
                       " of size ", size, ", got ", most);
  if (size == 0)
    return infer.error("has nothing to pad dim ", d, " with: it is empty");
  return result;
}

PIPE_INFER_RETURN_TYPES(PadOp) {
  Value operand = adaptor.getOperand(), value = adaptor.getValue();
  ShapeRef shape = shapeOf(operand), low = adaptor.getLow(),
           high = adaptor.getHigh();
  int64_t rank = shape.size();
  if (failed(infer.checkRank("value", value, 0, 0)) ||
      failed(infer.checkSameElementType({operand, value})) ||
      failed(infer.checkLength("low", low, rank)) ||
      failed(infer.checkLength("high", high, rank)))
    return failure();
  Shape result;
  for (int64_t d = 0; d < rank; ++d) {
    FailureOr<int64_t> size =
        inferPaddedSize(infer, adaptor.getMode(), d, shape[d], low[d], high[d]);
    if (failed(size))
      return failure();
    result.push_back(*size);
  }
  return infer.finish(result, elementTypeOf(operand), types);
}

PIPE_INFER_RETURN_TYPES(ConcatOp) {
  ValueRange inputs = adaptor.getInputs();
  if (inputs.empty())
    return infer.error("needs at least one input");
  Shape result(shapeOf(inputs.front()));
  int64_t dim = adaptor.getDim();
  if (failed(infer.checkDim(dim, result.size())) ||
      failed(infer.checkSameElementType(llvm::to_vector(inputs))))
    return failure();
  for (Value input : inputs.drop_front()) {
    Shape shape(shapeOf(input));
    bool agree = shape.size() == result.size();
    if (agree) {
      int64_t joined;
      if (llvm::AddOverflow(result[dim], shape[dim], joined))
        return infer.error("size overflows in dim ", dim);
      result[dim] = shape[dim] = joined;
      agree = shape == result;
    }
    if (!agree)
      return infer.error("inputs must agree outside dim ", dim, ", got ",
                         inputs.front().getType(), " and ", input.getType());
  }
  return infer.finish(result, elementTypeOf(inputs.front()), types);
}

// ---- cost: moving data computes nothing

int64_t IotaOp::getFlops() { return 0; }
int64_t ReshapeOp::getFlops() { return 0; }
int64_t TransposeOp::getFlops() { return 0; }
int64_t BroadcastOp::getFlops() { return 0; }
int64_t SliceOp::getFlops() { return 0; }
int64_t ReverseOp::getFlops() { return 0; }
int64_t PadOp::getFlops() { return 0; }
int64_t ConcatOp::getFlops() { return 0; }

// ---- verifiers

LogicalResult ConstantOp::verify() {
  constexpr int64_t kMostElements = 16;
  auto value = dyn_cast<DenseElementsAttr>(getValue());
  if (!value)
    return emitOpError("value must be dense, got ") << getValue();
  if (!value.isSplat() && value.getNumElements() > kMostElements)
    return emitOpError("literals have at most ")
           << kMostElements << " elements or are splats, got "
           << value.getNumElements()
           << " elements; declare a weight of kind constant instead";
  if (!sizeFits(getType().getShape(), getType().getElementType()))
    return emitOpError("result ") << getType() << " exceeds 2^62 bytes";
  return success();
}

LogicalResult IotaOp::verify() {
  int64_t dim = getDim();
  RankedTensorType type = getType();
  if (dim < 0 || dim >= type.getRank())
    return emitOpError("dim ")
           << dim << " is out of range for rank " << type.getRank();
  if (!sizeFits(type.getShape(), type.getElementType()))
    return emitOpError("result ") << type << " exceeds 2^62 bytes";
  return success();
}

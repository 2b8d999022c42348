// The checks that result type inference shares. In: shapes and attributes of
// an op that may be wrong in any way. Out: a shape, or one error that says what
// was expected and what is there.
// Tests: test/ir/*-verify.mlir.
#include "ir/ShapeInference.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace pipec::pipe {

std::string listStr(ShapeRef values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(values, stream);
  stream << ']';
  return text;
}

std::optional<int64_t> checkedElements(ShapeRef shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    if (size < 0 || llvm::MulOverflow(elements, size, elements))
      return std::nullopt;
  return elements;
}

bool sizeFits(ShapeRef shape, Type elementType) {
  constexpr int64_t kMostBytes = int64_t(1) << 62;
  int64_t bytes = (elementType.getIntOrFloatBitWidth() + 7) / 8;
  for (int64_t size : shape)
    if (size < 0 ||
        llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes) ||
        bytes > kMostBytes)
      return false;
  return true;
}

ShapeRef shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

Type elementTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

LogicalResult Inference::checkDim(int64_t dim, int64_t rank) const {
  if (dim < 0 || dim >= rank)
    return error("dim ", dim, " is out of range for rank ", rank);
  return success();
}

LogicalResult Inference::checkDims(ShapeRef dims, int64_t rank) const {
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (failed(checkDim(dim, rank)))
      return failure();
    if (i > 0 && dims[i - 1] >= dim)
      return error("dims must be distinct and ascending, got ", listStr(dims));
  }
  return success();
}

LogicalResult Inference::checkRank(StringRef what, Value value, int64_t low,
                                   int64_t high) const {
  int64_t rank = shapeOf(value).size();
  if (rank >= low && rank <= high)
    return success();
  if (low == high)
    return error(what, " must have rank ", low, ", got ", value.getType());
  return error(what, " must have rank ", low, " to ", high, ", got ",
               value.getType());
}

LogicalResult Inference::checkLength(StringRef what, ShapeRef values,
                                     int64_t expected) const {
  if (static_cast<int64_t>(values.size()) != expected)
    return error(what, " must have ", expected, " entries, got ",
                 listStr(values));
  return success();
}

LogicalResult Inference::checkAtLeast(StringRef what, ShapeRef values,
                                      int64_t least) const {
  for (int64_t value : values)
    if (value < least)
      return error(what, " must be at least ", least, ", got ",
                   listStr(values));
  return success();
}

LogicalResult Inference::checkShape(StringRef what, Value value,
                                    ShapeRef expected) const {
  if (shapeOf(value) != expected)
    return error(what, " must have shape ", listStr(expected), ", got ",
                 listStr(shapeOf(value)));
  return success();
}

LogicalResult Inference::checkSameElementType(ArrayRef<Value> values) const {
  Type first = elementTypeOf(values.front());
  for (Value value : values.drop_front())
    if (value && elementTypeOf(value) != first)
      return error("element types must agree, got ", first, " and ",
                   elementTypeOf(value));
  return success();
}

LogicalResult Inference::checkEpsilon(double epsilon) const {
  if (!std::isfinite(epsilon) || epsilon < 0)
    return error("epsilon must be finite and at least 0, got ", epsilon);
  return success();
}

FailureOr<Shape> Inference::broadcastShapes(ArrayRef<ShapeRef> shapes) const {
  size_t rank = 0;
  for (ShapeRef shape : shapes)
    rank = std::max(rank, shape.size());
  Shape result(rank, 1);
  for (ShapeRef shape : shapes) {
    size_t offset = rank - shape.size();
    for (auto [i, size] : llvm::enumerate(shape)) {
      int64_t &out = result[offset + i];
      if (out == 1)
        out = size;
      else if (size != 1 && size != out) {
        std::string text;
        llvm::raw_string_ostream stream(text);
        llvm::interleave(
            shapes, stream, [&](ShapeRef s) { stream << listStr(s); }, " and ");
        return error("shapes ", text, " do not broadcast");
      }
    }
  }
  return result;
}

LogicalResult Inference::checkWindow(const Window &window,
                                     int64_t spatial) const {
  if (failed(checkLength("window", window.window, spatial)) ||
      failed(checkLength("strides", window.strides, spatial)) ||
      failed(checkLength("padding", window.padding, 2 * spatial)) ||
      failed(checkLength("dilations", window.dilations, spatial)) ||
      failed(checkAtLeast("window", window.window, 1)) ||
      failed(checkAtLeast("strides", window.strides, 1)) ||
      failed(checkAtLeast("dilations", window.dilations, 1)))
    return failure();
  return success();
}

FailureOr<int64_t> Inference::windowOutputSize(const Window &window, int64_t d,
                                               int64_t size) const {
  int64_t low = window.padding[d];
  int64_t high = window.padding[window.window.size() + d];
  int64_t stride = window.strides[d];
  int64_t extent, padded;
  if (llvm::MulOverflow(window.window[d] - 1, window.dilations[d], extent) ||
      llvm::AddOverflow<int64_t>(extent, 1, extent) ||
      llvm::AddOverflow(size, low, padded) ||
      llvm::AddOverflow(padded, high, padded))
    return error("window, dilation and padding overflow in spatial dimension ",
                 d);
  // With ceil_mode one window stands where less than a stride is missing of it,
  // as in PyTorch and ONNX Runtime.
  if (window.ceilMode && extent > padded && extent - padded < stride &&
      size + low > 0)
    return 1;
  if (extent > padded)
    return error("window of ", extent, " is larger than the padded input of ",
                 padded, " in spatial dimension ", d);
  int64_t room = padded - extent;
  if (!window.ceilMode)
    return room / stride + 1;
  int64_t count = room / stride + (room % stride != 0) + 1;
  // The last window must start inside the input or the low padding.
  int64_t lastStart;
  if (llvm::MulOverflow(count - 1, stride, lastStart) ||
      lastStart >= size + low)
    --count;
  return count;
}

LogicalResult Inference::finish(ShapeRef shape, Type elementType,
                                SmallVectorImpl<Type> &types) const {
  if (!sizeFits(shape, elementType))
    return error("result of shape ", listStr(shape), " exceeds 2^62 bytes");
  types.push_back(RankedTensorType::get(shape, elementType));
  return success();
}

LogicalResult verifyInferredTypes(Operation *op) {
  SmallVector<Type> inferred;
  auto inferable = cast<InferTypeOpInterface>(op);
  if (failed(inferable.inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
          op->getRegions(), inferred)))
    return failure();
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip(op->getResultTypes(), inferred))) {
    auto [declared, expected] = pair;
    if (declared != expected)
      return op->emitOpError("result #")
             << i << " is declared as " << declared
             << ", but operands and attributes make it " << expected;
  }
  return success();
}

} // namespace pipec::pipe

// Matrix products, convolutions and pooling: inference and cost.
// Tests: test/ir/linear-*.mlir, test/unit/ir/CostTest.cpp.
#include "ir/LinearOps.h"
#include "ir/SharedChecks.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pipec::pipe;

#define GET_OP_CLASSES
#include "ir/LinearOps.cpp.inc"

void PipeDialect::registerLinearOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/LinearOps.cpp.inc"
      >();
}

// ---- dot_general

// Batch and contracted dimensions of one side: in range, each named once.
static LogicalResult checkDotDims(const Inference &infer, StringRef side,
                                  Value value, ShapeRef batch,
                                  ShapeRef contract) {
  int64_t rank = shapeOf(value).size();
  llvm::SmallVector<bool> seen(rank, false);
  for (ShapeRef dims : {batch, contract})
    for (int64_t dim : dims) {
      if (failed(infer.checkDim(dim, rank)))
        return failure();
      if (seen[dim])
        return infer.error(side, " dim ", dim, " is named twice");
      seen[dim] = true;
    }
  return success();
}

static LogicalResult checkPairs(const Inference &infer, StringRef what,
                                Value lhs, Value rhs, ShapeRef lhsDims,
                                ShapeRef rhsDims) {
  for (auto [l, r] : llvm::zip_equal(lhsDims, rhsDims)) {
    int64_t left = shapeOf(lhs)[l], right = shapeOf(rhs)[r];
    if (left != right)
      return infer.error(what, " dim ", l, " of lhs has size ", left, ", dim ",
                         r, " of rhs has size ", right);
  }
  return success();
}

static void appendFreeDims(Value value, ShapeRef batch, ShapeRef contract,
                           Shape &result) {
  for (auto [d, size] : llvm::enumerate(shapeOf(value))) {
    auto dim = static_cast<int64_t>(d);
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
      result.push_back(size);
  }
}

PIPE_INFER_RETURN_TYPES(DotGeneralOp) {
  Value lhs = adaptor.getLhs(), rhs = adaptor.getRhs();
  ShapeRef lhsBatch = adaptor.getLhsBatch(), rhsBatch = adaptor.getRhsBatch();
  ShapeRef lhsContract = adaptor.getLhsContract(),
           rhsContract = adaptor.getRhsContract();
  if (failed(infer.checkSameElementType({lhs, rhs})) ||
      failed(infer.checkLength("rhs_batch", rhsBatch, lhsBatch.size())) ||
      failed(
          infer.checkLength("rhs_contract", rhsContract, lhsContract.size())) ||
      failed(checkDotDims(infer, "lhs", lhs, lhsBatch, lhsContract)) ||
      failed(checkDotDims(infer, "rhs", rhs, rhsBatch, rhsContract)) ||
      failed(checkPairs(infer, "batch", lhs, rhs, lhsBatch, rhsBatch)) ||
      failed(
          checkPairs(infer, "contracted", lhs, rhs, lhsContract, rhsContract)))
    return failure();
  Shape result;
  for (int64_t dim : lhsBatch)
    result.push_back(shapeOf(lhs)[dim]);
  appendFreeDims(lhs, lhsBatch, lhsContract, result);
  appendFreeDims(rhs, rhsBatch, rhsContract, result);
  return infer.finish(result, elementTypeOf(lhs), types);
}

int64_t DotGeneralOp::getFlops() {
  int64_t contracted = 1;
  for (int64_t dim : getLhsContract())
    contracted =
        saturatingProduct({contracted, getLhs().getType().getDimSize(dim)});
  return saturatingProduct({2, elementsOf(getType()), contracted});
}

// ---- convolutions

// What both directions share: ranks, element types and groups.
static LogicalResult checkConvolution(const Inference &infer, Value input,
                                      Value weight, int64_t groups) {
  int64_t rank = shapeOf(input).size();
  if (failed(infer.checkRank("input", input, 3, 5)) ||
      failed(infer.checkRank("weight", weight, rank, rank)) ||
      failed(infer.checkSameElementType({input, weight})))
    return failure();
  if (groups < 1)
    return infer.error("groups must be at least 1, got ", groups);
  if (shapeOf(input)[1] % groups != 0)
    return infer.error("groups must divide the ", shapeOf(input)[1],
                       " input channels, got ", groups);
  return success();
}

PIPE_INFER_RETURN_TYPES(ConvolutionOp) {
  Value input = adaptor.getInput(), weight = adaptor.getWeight();
  int64_t groups = adaptor.getGroups();
  if (failed(checkConvolution(infer, input, weight, groups)))
    return failure();
  ShapeRef in = shapeOf(input), kernel = shapeOf(weight);
  if (kernel[1] != in[1] / groups)
    return infer.error("weight must have ", in[1] / groups,
                       " input channels a group, got ", kernel[1]);
  if (kernel[0] % groups != 0)
    return infer.error("groups must divide the ", kernel[0],
                       " output channels, got ", groups);
  Window window{kernel.drop_front(2), adaptor.getStrides(),
                adaptor.getPadding(), adaptor.getDilations()};
  int64_t spatial = in.size() - 2;
  if (failed(infer.checkWindow(window, spatial)))
    return failure();
  Shape result{in[0], kernel[0]};
  for (int64_t d = 0; d < spatial; ++d) {
    FailureOr<int64_t> size = infer.windowOutputSize(window, d, in[d + 2]);
    if (failed(size))
      return failure();
    result.push_back(*size);
  }
  return infer.finish(result, elementTypeOf(input), types);
}

int64_t ConvolutionOp::getFlops() {
  // Each result element sums over one group's channels and the window.
  RankedTensorType weight = getWeight().getType();
  int64_t perElement = 1;
  for (int64_t size : weight.getShape().drop_front())
    perElement = saturatingProduct({perElement, size});
  return saturatingProduct({2, elementsOf(getType()), perElement});
}

// (in - 1) * stride - low - high + dilation * (kernel - 1) + 1 + extra.
static FailureOr<int64_t> transposedSize(const Inference &infer,
                                         const Window &window, int64_t d,
                                         int64_t size, int64_t extra) {
  int64_t low = window.padding[d];
  int64_t high = window.padding[window.window.size() + d];
  int64_t result, extent;
  if (llvm::MulOverflow(size - 1, window.strides[d], result) ||
      llvm::MulOverflow(window.dilations[d], window.window[d] - 1, extent) ||
      llvm::AddOverflow(result, extent, result) ||
      llvm::SubOverflow(result, low, result) ||
      llvm::SubOverflow(result, high, result) ||
      llvm::AddOverflow<int64_t>(result, 1, result) ||
      llvm::AddOverflow(result, extra, result))
    return infer.error("size overflows in spatial dimension ", d);
  if (result < 0)
    return infer.error("result size is negative in spatial dimension ", d, ": ",
                       result);
  return result;
}

PIPE_INFER_RETURN_TYPES(ConvTransposeOp) {
  Value input = adaptor.getInput(), weight = adaptor.getWeight();
  int64_t groups = adaptor.getGroups();
  if (failed(checkConvolution(infer, input, weight, groups)))
    return failure();
  ShapeRef in = shapeOf(input), kernel = shapeOf(weight);
  if (kernel[0] != in[1])
    return infer.error("weight must have ", in[1], " input channels, got ",
                       kernel[0]);
  ShapeRef extra = adaptor.getOutputPadding();
  Window window{kernel.drop_front(2), adaptor.getStrides(),
                adaptor.getPadding(), adaptor.getDilations()};
  int64_t spatial = in.size() - 2;
  if (failed(infer.checkWindow(window, spatial)) ||
      failed(infer.checkLength("output_padding", extra, spatial)) ||
      failed(infer.checkAtLeast("output_padding", extra, 0)))
    return failure();
  int64_t channels;
  if (llvm::MulOverflow(kernel[1], groups, channels))
    return infer.error("number of output channels overflows");
  Shape result{in[0], channels};
  for (int64_t d = 0; d < spatial; ++d) {
    FailureOr<int64_t> size =
        transposedSize(infer, window, d, in[d + 2], extra[d]);
    if (failed(size))
      return failure();
    result.push_back(*size);
  }
  return infer.finish(result, elementTypeOf(input), types);
}

int64_t ConvTransposeOp::getFlops() {
  // Each input element goes to one group's output channels and the window.
  RankedTensorType weight = getWeight().getType();
  int64_t perElement = 1;
  for (int64_t size : weight.getShape().drop_front())
    perElement = saturatingProduct({perElement, size});
  return saturatingProduct({2, elementsOf(getInput().getType()), perElement});
}

// ---- pools

FailureOr<Shape> pipec::pipe::inferPoolShape(const Inference &infer,
                                             ShapeRef input,
                                             const Window &window) {
  int64_t spatial = input.size() - 2;
  if (failed(infer.checkWindow(window, spatial)) ||
      failed(infer.checkAtLeast("padding", window.padding, 0)))
    return failure();
  Shape result(input.take_front(2));
  for (int64_t d = 0; d < spatial; ++d) {
    FailureOr<int64_t> size = infer.windowOutputSize(window, d, input[d + 2]);
    if (failed(size))
      return failure();
    // The extent cannot overflow here: windowOutputSize has checked it.
    int64_t extent = (window.window[d] - 1) * window.dilations[d] + 1;
    int64_t most = std::max(window.padding[d], window.padding[spatial + d]);
    if (most >= extent)
      return infer.error("padding must be less than the window of ", extent,
                         " in spatial dimension ", d, ", got ", most);
    result.push_back(*size);
  }
  return result;
}

static LogicalResult inferPool(const Inference &infer, Value input,
                               const Window &window,
                               SmallVectorImpl<Type> &types) {
  if (failed(infer.checkRank("input", input, 3, 5)))
    return failure();
  FailureOr<Shape> result = inferPoolShape(infer, shapeOf(input), window);
  if (failed(result))
    return failure();
  return infer.finish(*result, elementTypeOf(input), types);
}

PIPE_INFER_RETURN_TYPES(MaxPoolOp) {
  Window window{adaptor.getWindow(), adaptor.getStrides(), adaptor.getPadding(),
                adaptor.getDilations(), adaptor.getCeilMode()};
  return inferPool(infer, adaptor.getInput(), window, types);
}

PIPE_INFER_RETURN_TYPES(AvgPoolOp) {
  Window window{adaptor.getWindow(), adaptor.getStrides(), adaptor.getPadding(),
                adaptor.getDilations(), adaptor.getCeilMode()};
  return inferPool(infer, adaptor.getInput(), window, types);
}

static int64_t poolFlops(Type result, ShapeRef window) {
  int64_t taps = 1;
  for (int64_t size : window)
    taps = saturatingProduct({taps, size});
  return saturatingProduct({elementsOf(result), taps});
}
int64_t MaxPoolOp::getFlops() { return poolFlops(getType(), getWindow()); }
int64_t AvgPoolOp::getFlops() { return poolFlops(getType(), getWindow()); }

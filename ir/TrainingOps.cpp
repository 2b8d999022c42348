// Losses and derivatives that are ops: inference and cost.
// Tests: test/ir/training-*.mlir.
#include "ir/TrainingOps.h"
#include "ir/SharedChecks.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pipec::pipe;

#define GET_OP_CLASSES
#include "ir/TrainingOps.cpp.inc"

void PipeDialect::registerTrainingOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/TrainingOps.cpp.inc"
      >();
}

PIPE_INFER_RETURN_TYPES(StopGradientOp) {
  types.push_back(adaptor.getOperand().getType());
  return success();
}
int64_t StopGradientOp::getFlops() { return 0; }

PIPE_INFER_RETURN_TYPES(ChainOp) {
  Value grad = adaptor.getGrad(), slope = adaptor.getSlope();
  if (failed(infer.checkSameElementType({grad, slope})))
    return failure();
  FailureOr<Shape> shape =
      infer.broadcastShapes({shapeOf(grad), shapeOf(slope)});
  if (failed(shape))
    return failure();
  return infer.finish(*shape, elementTypeOf(grad), types);
}

// ---- cross entropy

static LogicalResult checkCrossEntropy(const Inference &infer, Value logits,
                                       Value labels, double smoothing) {
  ShapeRef shape = shapeOf(logits);
  if (shape.empty())
    return infer.error("logits must have a last dimension, the classes, got ",
                       logits.getType());
  if (failed(infer.checkShape("labels", labels, shape.drop_back())))
    return failure();
  if (!(smoothing >= 0 && smoothing <= 1))
    return infer.error("label_smoothing must be from 0 to 1, got ", smoothing);
  return success();
}

PIPE_INFER_RETURN_TYPES(CrossEntropyOp) {
  if (failed(checkCrossEntropy(infer, adaptor.getLogits(), adaptor.getLabels(),
                               adaptor.getLabelSmoothing().convertToDouble())))
    return failure();
  return infer.finish({}, elementTypeOf(adaptor.getLogits()), types);
}

PIPE_INFER_RETURN_TYPES(CrossEntropyGradOp) {
  Value logits = adaptor.getLogits(), grad = adaptor.getGrad();
  if (failed(
          checkCrossEntropy(infer, logits, adaptor.getLabels(),
                            adaptor.getLabelSmoothing().convertToDouble())) ||
      failed(infer.checkShape("grad", grad, {})) ||
      failed(infer.checkSameElementType({logits, grad})))
    return failure();
  types.push_back(logits.getType());
  return success();
}

// A softmax and a few operations an element.
static constexpr int64_t kCrossEntropyFlops = kTranscendentalFlops + 4;
int64_t CrossEntropyOp::getFlops() {
  return elementwiseFlops(getOperation(), kCrossEntropyFlops);
}
int64_t CrossEntropyGradOp::getFlops() {
  return elementwiseFlops(getOperation(), kCrossEntropyFlops);
}

// ---- pools and resize

// The gradient has the shape of the pool's result.
static LogicalResult checkPoolGrad(const Inference &infer, ShapeRef input,
                                   Value grad, const Window &window) {
  if (input.size() < 3 || input.size() > 5)
    return infer.error("the pool's input must have rank 3 to 5, got ",
                       listStr(input));
  if (failed(infer.checkAtLeast("shape", input, 0)))
    return failure();
  FailureOr<Shape> expected = inferPoolShape(infer, input, window);
  if (failed(expected))
    return failure();
  return infer.checkShape("grad", grad, *expected);
}

PIPE_INFER_RETURN_TYPES(MaxPoolGradOp) {
  Value input = adaptor.getInput(), grad = adaptor.getGrad();
  Window window{adaptor.getWindow(), adaptor.getStrides(), adaptor.getPadding(),
                adaptor.getDilations(), adaptor.getCeilMode()};
  if (failed(infer.checkSameElementType({input, grad})) ||
      failed(checkPoolGrad(infer, shapeOf(input), grad, window)))
    return failure();
  types.push_back(input.getType());
  return success();
}

PIPE_INFER_RETURN_TYPES(AvgPoolGradOp) {
  Value grad = adaptor.getGrad();
  Window window{adaptor.getWindow(), adaptor.getStrides(), adaptor.getPadding(),
                adaptor.getDilations(), adaptor.getCeilMode()};
  if (failed(checkPoolGrad(infer, adaptor.getShape(), grad, window)))
    return failure();
  return infer.finish(adaptor.getShape(), elementTypeOf(grad), types);
}

PIPE_INFER_RETURN_TYPES(ResizeGradOp) {
  Value grad = adaptor.getGrad();
  ShapeRef resized = shapeOf(grad), shape = adaptor.getShape();
  if (failed(infer.checkLength("shape", shape, resized.size())) ||
      failed(infer.checkAtLeast("shape", shape, 0)) ||
      failed(checkResize(infer, shape, resized, adaptor.getScales(),
                         adaptor.getCubicCoeff().convertToDouble())))
    return failure();
  return infer.finish(shape, elementTypeOf(grad), types);
}

static int64_t windowFlops(Type grad, ShapeRef window) {
  int64_t taps = 1;
  for (int64_t size : window)
    taps = saturatingProduct({taps, size});
  return saturatingProduct({elementsOf(grad), taps});
}
int64_t MaxPoolGradOp::getFlops() {
  return windowFlops(getGrad().getType(), getWindow());
}
int64_t AvgPoolGradOp::getFlops() {
  return windowFlops(getGrad().getType(), getWindow());
}
int64_t ResizeGradOp::getFlops() {
  constexpr int64_t kFlopsPerTap = 2;
  int64_t taps = getMode() == ResizeMode::nearest  ? 1
                 : getMode() == ResizeMode::linear ? 2
                                                   : 4;
  return saturatingProduct(
      {kFlopsPerTap, taps, elementsOf(getGrad().getType())});
}

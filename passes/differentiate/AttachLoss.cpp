// `pipe-differentiate-attach-loss`: the loss as ops behind the model's last.
// In: an imported graph. Out: its first result is the scaled loss.
// Tests: test/passes/differentiate/attach-loss.mlir.
#include "ir/GraphBoundary.h"
#include "ir/OpDescs.h"
#include "ir/ShapeInference.h"
#include "passes/differentiate/Passes.h"
#include "passes/partition/Passes.h"

#include "mlir/IR/Builders.h"

#include <numeric>

using namespace mlir;

namespace pipec::pipe {

#define GEN_PASS_DEF_ATTACHLOSS
#include "passes/differentiate/Passes.h.inc"

namespace {

/// Position of the output that the loss is of; an error lists those there are.
static std::optional<unsigned> chooseOutput(GraphOp graph, StringRef output) {
  if (std::optional<unsigned> found = lossOutput(graph, output))
    return found;
  std::string names;
  for (const GraphResult &result : getResults(graph))
    if (result.buffer.empty())
      names += (names.empty() ? "" : ", ") + result.name;
  if (output.empty())
    graph.emitError("the model has several outputs; say which one the loss "
                    "is of: ")
        << names;
  else
    graph.emitError("the model has no output '")
        << output << "' for the loss; it has " << names;
  return std::nullopt;
}

constexpr char kClassesAreLast[] =
    ": the output's shape without its last dimension, which holds the classes; "
    "an output [N, C, T] in PyTorch's order has to be transposed to [N, T, C] "
    "in the "
    "model";

class LossBuilder {
public:
  LossBuilder(GraphOp graph, const LossSpec &spec)
      : graph(graph), spec(spec), builder(graph.getOutput()),
        loc(lossLocation(graph)) {}

  LogicalResult run() {
    std::optional<unsigned> index = chooseOutput(graph, spec.output);
    if (!index)
      return failure();
    Value output = graph.getOutput().getOperand(*index);
    name = graph.getOutputName(*index).str();
    if (!isa<FloatType>(elementTypeOf(output)))
      return graph.emitError("output '") << name << "' is " << output.getType()
                                         << "; a loss needs one of floats";
    FailureOr<Value> loss = spec.kind == LossSpec::Kind::CrossEntropy
                                ? crossEntropy(widened(output))
                            : spec.kind == LossSpec::Kind::Mse
                                ? meanSquare(widened(output))
                                : ownLoss(widened(output));
    if (failed(loss))
      return failure();
    Value scale = addInput(graph, "loss_scale", loss->getType(), "loss_scale",
                           /*whole=*/true);
    Value scaled = MulOp::create(builder, loc, *loss, scale);
    llvm::SmallVector<GraphResult> results{{scaled, "loss", ""}};
    for (GraphResult &result : getResults(graph))
      if (!result.buffer.empty())
        results.push_back(result);
    setResults(graph, results);
    return success();
  }

private:
  GraphOp graph;
  const LossSpec &spec;
  OpBuilder builder;
  Location loc;
  std::string name; // of the output

  /// Behind the last node of the model file.
  static Location lossLocation(GraphOp graph) {
    Origin origin;
    for (Operation &op : graph.getBody().front())
      origin.index = std::max(origin.index, originOf(op.getLoc()).index);
    ++origin.index;
    origin.op = "Loss";
    origin.node = "loss";
    return makeOriginLocation(graph.getContext(), origin);
  }

  Value widened(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType().isF32() || type.getElementType().isF64())
      return value;
    return ConvertOp::create(builder, loc, type.clone(builder.getF32Type()),
                             value);
  }

  /// The input of that name, or a new one.
  FailureOr<Value> labels(RankedTensorType type, bool anyInteger) {
    std::optional<unsigned> at = findInput(graph, spec.labels);
    if (!at)
      return Value(addInput(graph, spec.labels, type, "labels",
                            /*whole=*/false));
    Value input = graph.getBody().getArgument(*at);
    auto found = cast<RankedTensorType>(input.getType());
    bool fits =
        found.getShape() == type.getShape() &&
        (anyInteger ? isa<IntegerType>(found.getElementType()) : found == type);
    if (!fits)
      return graph.emitError("input '")
             << spec.labels << "' of the model is " << found
             << ", but the labels of output '" << name << "' must be " << type
             << (anyInteger && found.getShape() != type.getShape()
                     ? kClassesAreLast
                     : "");
    // Classes are of i32 or i64.
    Type element = found.getElementType();
    if (anyInteger && !element.isSignlessInteger(32) &&
        !element.isSignlessInteger(64))
      return Value(ConvertOp::create(builder, loc, type, input));
    return input;
  }

  FailureOr<Value> crossEntropy(Value logits) {
    ShapeRef shape = shapeOf(logits);
    if (shape.empty())
      return graph.emitError("output '")
             << name
             << "' is a scalar; cross_entropy needs classes in the "
                "last dimension";
    if (!(spec.labelSmoothing >= 0 && spec.labelSmoothing <= 1))
      return graph.emitError("label smoothing must be from 0 to 1, got ")
             << spec.labelSmoothing;
    FailureOr<Value> classes =
        labels(RankedTensorType::get(shape.drop_back(),
                                     builder.getIntegerType(spec.labelBits)),
               /*anyInteger=*/true);
    if (failed(classes))
      return failure();
    return Value(
        CrossEntropyOp::create(builder, loc, logits, *classes,
                               builder.getI64IntegerAttr(spec.ignoreIndex),
                               builder.getF64FloatAttr(spec.labelSmoothing)));
  }

  Value sumOfAll(Value value) {
    Shape dims(shapeOf(value).size());
    std::iota(dims.begin(), dims.end(), 0);
    return ReduceOp::create(builder, loc, ReduceKind::sum, value, dims,
                            /*keep_dims=*/false);
  }

  FailureOr<Value> meanSquare(Value output) {
    FailureOr<Value> target =
        labels(cast<RankedTensorType>(output.getType()), /*anyInteger=*/false);
    if (failed(target))
      return failure();
    Value difference = SubOp::create(builder, loc, output, *target);
    return sumOfAll(MulOp::create(builder, loc, difference, difference));
  }

  FailureOr<Value> ownLoss(Value output) {
    if (elementsOf(output.getType()) != 1)
      return graph.emitError("output '")
             << name << "' is " << output.getType()
             << "; only a single number is a loss of its own";
    return Value(ReshapeOp::create(builder, loc, output, Shape{}));
  }
};

struct AttachLossPass : impl::AttachLossBase<AttachLossPass> {
  using Base::Base;
  void runOnOperation() override {
    GraphOp graph = findGraph(getOperation());
    LossSpec spec;
    spec.output = output;
    spec.labels = labels;
    spec.ignoreIndex = ignoreIndex;
    spec.labelSmoothing = labelSmoothing;
    if (kind == "cross_entropy")
      spec.kind = LossSpec::Kind::CrossEntropy;
    else if (kind == "mse")
      spec.kind = LossSpec::Kind::Mse;
    else if (kind != "output") {
      getOperation().emitError("loss must be cross_entropy, mse or output, "
                               "got '")
          << kind << "'";
      return signalPassFailure();
    }
    if (graph && failed(attachLoss(graph, spec)))
      signalPassFailure();
  }
};

} // namespace

std::optional<unsigned> lossOutput(GraphOp graph, StringRef output) {
  llvm::SmallVector<unsigned> outputs;
  for (auto [i, result] : llvm::enumerate(getResults(graph)))
    if (result.buffer.empty())
      outputs.push_back(i);
  if (output.empty() && outputs.size() == 1)
    return outputs[0];
  for (unsigned i : outputs)
    if (graph.getOutputName(i) == output)
      return i;
  return std::nullopt;
}

LogicalResult keepLossOutput(GraphOp graph, StringRef output) {
  std::optional<unsigned> index = chooseOutput(graph, output);
  if (!index)
    return failure();
  llvm::SmallVector<GraphResult> kept;
  for (auto [i, result] : llvm::enumerate(getResults(graph)))
    if (i == *index || !result.buffer.empty())
      kept.push_back(result);
  setResults(graph, kept);
  return success();
}

bool hasTwoClassDimensions(GraphOp graph, const LossSpec &spec) {
  std::optional<unsigned> index = lossOutput(graph, spec.output);
  if (!index || spec.kind != LossSpec::Kind::CrossEntropy)
    return false;
  ShapeRef shape = shapeOf(graph.getOutput().getOperand(*index));
  return shape.size() > 2 &&
         shape.drop_front(2) == shape.drop_front().drop_back();
}

LogicalResult attachLoss(GraphOp graph, const LossSpec &spec) {
  return LossBuilder(graph, spec).run();
}

} // namespace pipec::pipe

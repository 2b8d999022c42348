// pipe-import-batch-norm-training: statistics of the microbatch instead of the
// stored ones, which move. In: a module with batch_norm ops. Out: core ops, and
// graph results with the buffers' new values.
// Tests: test/passes/import/batch-norm-training.mlir.
#include "ir/GraphBoundary.h"
#include "ir/NormOps.h"
#include "ir/PipeOps.h"
#include "ir/ShapeInference.h"
#include "passes/import/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace pipec::pipe {

#define GEN_PASS_DEF_BATCHNORMTRAINING
#include "passes/import/Passes.h.inc"

/// [C] to [N, C], each row the same.
static bool repeatsRows(BroadcastOp op) {
  ShapeRef from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  while (!from.empty() && !to.empty() && from.back() == to.back()) {
    from = from.drop_back();
    to = to.drop_back();
  }
  return llvm::all_of(from, [](int64_t size) { return size == 1; });
}

LoadWeightOp loadOfStatistic(Value statistic) {
  while (Operation *op = statistic.getDefiningOp()) {
    if (auto load = dyn_cast<LoadWeightOp>(op))
      return load;
    auto broadcast = dyn_cast<BroadcastOp>(op);
    if (!isa<ReshapeOp>(op) && !(broadcast && repeatsRows(broadcast)))
      break;
    statistic = op->getOperand(0);
  }
  return {};
}

bool isInstanceNorm(BatchNormOp op) {
  LoadWeightOp load = loadOfStatistic(op.getMean());
  return load &&
         elementsOf(load.getType()) != elementsOf(op.getMean().getType());
}

namespace {

/// Takes one batch_norm apart.
class Expansion {
public:
  explicit Expansion(BatchNormOp op)
      : op(op), builder(op), shape(shapeOf(op.getOperand())) {
    kept.assign(shape.size() - 1, 1);
    kept[0] = shape[1];
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != 1) {
        dims.push_back(static_cast<int64_t>(d));
        count *= shape[d];
      }
  }

  /// One value is its own mean: its deviation, and all gradients, are zero.
  bool hasStatistics() const { return count != 1; }

  void build() {
    Value x = widened(op.getOperand());
    mean = average(x);
    Value centred = make<SubOp>(x, channels(mean));
    variance = average(make<MulOp>(centred, centred));
    Value shifted =
        make<AddOp>(variance, scalar(op.getEpsilon().convertToDouble()));
    Value inverse = make<RsqrtOp>(shifted);
    Value y = make<MulOp>(centred, channels(inverse));
    y = make<MulOp>(y, channels(widened(op.getScale())));
    y = make<AddOp>(y, channels(widened(op.getBias())));
    op.replaceAllUsesWith(converted(y, elementTypeOf(op.getOperand())));
  }

  /// momentum * old + (1 - momentum) * batch's. Of instance normalisation,
  /// whose channels are those of all images, the mean over the images.
  Value movedMean(Value old) { return moved(old, mean); }
  Value movedVariance(Value old) {
    Value batch = variance;
    if (!op.getPopulationVariance())
      batch = make<MulOp>(batch, scalar(double(count) / double(count - 1)));
    return moved(old, batch);
  }

private:
  BatchNormOp op;
  OpBuilder builder;
  ShapeRef shape; // N C *
  Shape kept, dims;
  int64_t count = 1; // elements a channel
  Value mean, variance;

  template <typename OpT, typename... Args> Value make(Args... args) {
    return OpT::create(builder, op.getLoc(), args...).getResult();
  }
  // f16 and bf16 compute in f32, as the kernel of inference does.
  Type computeType() {
    Type type = elementTypeOf(op.getOperand());
    return type.isF64() ? type : builder.getF32Type();
  }
  Value converted(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    return ConvertOp::create(builder, op.getLoc(), type.clone(element), value);
  }
  Value widened(Value value) { return converted(value, computeType()); }
  Value scalar(double value) {
    Type element = computeType();
    Attribute attr = FloatAttr::get(element, value);
    return ConstantOp::create(
        builder, op.getLoc(),
        DenseElementsAttr::get(
            cast<ShapedType>(RankedTensorType::get({}, element)),
            llvm::ArrayRef(attr)));
  }
  Value channels(Value vector) {
    return ReshapeOp::create(builder, op.getLoc(), vector, kept);
  }
  Value average(Value x) {
    return ReduceOp::create(builder, op.getLoc(), ReduceKind::mean, x, dims,
                            /*keep_dims=*/false);
  }
  Value moved(Value old, Value batch) {
    int64_t buffers = shapeOf(old)[0];
    if (buffers != shape[1]) {
      const int64_t images = shape[1] / buffers;
      batch = ReshapeOp::create(builder, op.getLoc(), batch,
                                Shape{images, buffers});
      batch = ReduceOp::create(builder, op.getLoc(), ReduceKind::mean, batch,
                               Shape{0}, /*keep_dims=*/false);
    }
    double momentum = op.getMomentum().convertToDouble();
    Value kept = make<MulOp>(widened(old), scalar(momentum));
    Value taken = make<MulOp>(batch, scalar(1 - momentum));
    return converted(make<AddOp>(kept, taken), elementTypeOf(old));
  }
};

class BatchNormTraining
    : public impl::BatchNormTrainingBase<BatchNormTraining> {
  using Base::Base;
  void runOnOperation() override {
    for (GraphOp graph : getOperation().getOps<GraphOp>()) {
      // The latest value of each buffer: a module called twice moves it twice.
      llvm::MapVector<StringRef, Value> buffers;
      llvm::SmallVector<BatchNormOp> ops(graph.getBody().getOps<BatchNormOp>());
      for (BatchNormOp op : ops) {
        if (failed(expand(op, buffers)))
          return signalPassFailure();
        ++expanded;
      }
      llvm::SmallVector<GraphResult> results = getResults(graph);
      for (auto [name, value] : buffers)
        results.push_back({value, (name + ":new").str(), name.str()});
      setResults(graph, results);
    }
  }

  /// The weight that holds the statistic and moves; null: it is a constant or
  /// computed, so nothing moves. An error where it is a parameter: the
  /// optimizer moves those.
  static FailureOr<LoadWeightOp> bufferOf(BatchNormOp op, Value statistic) {
    LoadWeightOp load = loadOfStatistic(statistic);
    auto weight = load ? SymbolTable::lookupNearestSymbolFrom<WeightOp>(
                             op, load.getWeightAttr())
                       : WeightOp();
    if (!weight || weight.getKind() == WeightKind::constant)
      return LoadWeightOp();
    if (weight.getKind() == WeightKind::buffer)
      return load;
    return op.emitError("the running statistics of a BatchNorm are the "
                        "parameter '")
           << load.getWeight()
           << "', which the optimizer moves, not the batches: keep them with "
              "--batch-norm frozen, or export with optimize=False";
  }

  LogicalResult refuseOneValue(BatchNormOp op) {
    if (isInstanceNorm(op)) {
      emitError(op.getLoc())
          << "InstanceNorm in training mode gets " << op.getOperand().getType()
          << ", one value per channel of an image; expected 2 or more, as "
             "PyTorch does: --batch-norm frozen keeps the stored statistics";
      return failure();
    }
    std::string size = rows ? " of a microbatch of " + std::to_string(rows) +
                                  (rows == 1 ? " row" : " rows")
                            : "";
    emitError(op.getLoc())
        << "BatchNorm in training mode gets " << op.getOperand().getType()
        << size
        << ", one value per channel; expected 2 or more, as PyTorch does: "
           "give larger microbatches (fewer of them, more rows in the batch, "
           "no last one of a single row), or --batch-norm frozen";
    return failure();
  }

  LogicalResult expand(BatchNormOp op,
                       llvm::MapVector<StringRef, Value> &buffers) {
    FailureOr<LoadWeightOp> mean = bufferOf(op, op.getMean());
    FailureOr<LoadWeightOp> variance = bufferOf(op, op.getVariance());
    if (failed(mean) || failed(variance))
      return failure();
    Expansion expansion(op);
    if (!expansion.hasStatistics())
      return refuseOneValue(op);
    expansion.build();
    auto move = [&](LoadWeightOp load, auto moved) {
      if (!load)
        return;
      Value &latest = buffers[load.getWeight()];
      latest = moved(latest ? latest : load.getResult());
    };
    move(*mean, [&](Value old) { return expansion.movedMean(old); });
    move(*variance, [&](Value old) { return expansion.movedVariance(old); });
    op.erase();
    return success();
  }
};

} // namespace
} // namespace pipec::pipe

// `pipe-partition-find-batch-mixes` and the walk behind it.
// In: an imported graph. Out: its ops that mix the rows of the batch.
// Tests: test/passes/partition/batch-mixes*.mlir.
#include "passes/partition/BatchCoupling.h"

#include "ir/OpDescs.h"
#include "ir/ShapeInference.h"
#include "passes/partition/BatchDependence.h"
#include "passes/partition/Passes.h"

using namespace mlir;

namespace pipec::pipe {

#define GEN_PASS_DEF_PARTITIONFINDBATCHMIXES
#include "passes/partition/Passes.h.inc"

namespace {

using Combination = BatchDependence::Combination;

BatchDependence ofInput(GraphOp graph, BlockArgument argument, int64_t rows) {
  BatchDependence input;
  ShapeRef shape = shapeOf(argument);
  if (graph.isWhole(argument.getArgNumber()) || shape.empty())
    return input;
  // Labels may have several rows to one of the batch.
  if (shape[0] > 0 && shape[0] % rows == 0)
    input.dim = 0;
  else
    input.lost = true;
  input.counts = !isa<FloatType>(elementTypeOf(argument));
  return input;
}

/// The loss, where `op` scales it as its mean over microbatches asks.
Value scaledLoss(GraphOp graph, Operation *op) {
  auto scale = isa<MulOp>(op) ? dyn_cast<BlockArgument>(op->getOperand(1))
                              : BlockArgument();
  auto role = scale ? graph.getArgAttrOfType<StringAttr>(scale.getArgNumber(),
                                                         PipeDialect::kRoleAttr)
                    : StringAttr();
  return role && role.getValue() == "loss_scale" ? op->getOperand(0) : Value();
}

bool isOfBatchNorm(Operation *op) {
  return originOf(op->getLoc()).op == "BatchNormalization";
}

/// The mixes that make an output differ from the whole batch's.
llvm::SmallVector<BatchMix, 1> mixesIn(const BatchDependence &output,
                                       RowJoin join) {
  if (join == RowJoin::none)
    return {};
  if (output.isMixed())
    return output.mixed;
  const Combination how = output.combination;
  if (!output.isCombined() || output.counts)
    return {};
  if (join == RowJoin::concat || how == Combination::other)
    return {output.combiner};
  if (join == RowJoin::mean && how == Combination::sum)
    return {{output.combiner.op, "sums over the batch, where microbatches are "
                                 "averaged"}};
  if (join == RowJoin::sum && how == Combination::mean)
    return {{output.combiner.op, "averages over the batch, where microbatches "
                                 "are summed"}};
  return {};
}

struct PartitionFindBatchMixesPass
    : impl::PartitionFindBatchMixesBase<PartitionFindBatchMixesPass> {
  using Base::Base;
  void runOnOperation() override {
    GraphOp graph = findGraph(getOperation());
    if (!graph)
      return;
    RowJoin others = RowJoin::none;
    if (join == "sum")
      others = RowJoin::sum;
    else if (join == "mean")
      others = RowJoin::mean;
    else if (join != "none") {
      getOperation().emitError("join must be none, sum or mean, got '")
          << join << "'";
      return signalPassFailure();
    }
    const int64_t rows = rowsOf(graph);
    auto joinOf = [&](unsigned i) {
      ShapeRef shape = shapeOf(graph.getOutput().getOperand(i));
      return !shape.empty() && shape[0] == rows ? RowJoin::concat : others;
    };
    for (const BatchMix &mix : findBatchMixes(graph, joinOf))
      mix.op->emitRemark(mix.what);
  }
};

} // namespace

std::vector<BatchMix>
findBatchMixes(GraphOp graph, llvm::function_ref<RowJoin(unsigned)> joinOf) {
  const int64_t rows = rowsOf(graph);
  if (rows < 2)
    return {};
  const SymbolTable weights(graph->getParentOfType<ModuleOp>());
  llvm::DenseMap<Value, BatchDependence> known;
  for (BlockArgument argument : graph.getBody().getArguments())
    known[argument] = ofInput(graph, argument, rows);
  auto of = [&](Value value) { return known.lookup(value); };
  for (Operation &op : graph.getBody().front().without_terminator()) {
    Value loss = scaledLoss(graph, &op);
    BatchDependence result;
    if (auto load = dyn_cast<LoadWeightOp>(op)) {
      auto weight = weights.lookup<WeightOp>(load.getWeight());
      result.learned = weight && weight.getKind() != WeightKind::constant;
    } else {
      result = loss ? of(loss) : dependenceOf(&op, rows, of);
    }
    if (result.isCombined() && isOfBatchNorm(&op))
      result = {}; // as if it were stored
    for (Value value : op.getResults()) {
      known[value] = result;
      known[value].counts |= !isa<FloatType>(elementTypeOf(value));
    }
  }
  llvm::DenseMap<Operation *, BatchMix> found;
  for (auto [i, value] : llvm::enumerate(graph.getOutput().getOperands())) {
    if (graph.getResultAttr(i, PipeDialect::kBufferAttr))
      continue;
    for (const BatchMix &mix : mixesIn(of(value), joinOf(i)))
      found.insert({mix.op, mix});
  }
  std::vector<BatchMix> mixes;
  for (Operation &op : graph.getBody().front())
    if (auto at = found.find(&op); at != found.end())
      mixes.push_back(at->second);
  return mixes;
}

} // namespace pipec::pipe

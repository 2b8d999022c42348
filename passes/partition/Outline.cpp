// `pipe-partition-outline`: moves each stage's ops into a `pipe.stage` op.
//
// In: a graph whose tensor ops carry `pipe.stage_index`. Out: stages joined by
// transfers. Invariant: when stage s is built, stages before it are complete
// but for the values that they still have to yield; results to yield are
// collected first, so each stage op is made once. Tests:
// test/passes/partition/outline.mlir, outline-invalid.mlir; execution before
// and after: test/unit/passes/partition/OutlineTest.cpp.
#include "passes/partition/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace pipec::pipe {

#define GEN_PASS_DEF_PARTITIONOUTLINE
#include "passes/partition/Passes.h.inc"

using namespace mlir;

namespace {

/// What one stage holds and exchanges, in terms of the uncut graph's values.
struct StageContents {
  llvm::SetVector<Operation *> ops; // own and repeated ones
  llvm::SetVector<Value> inputs; // graph arguments and values of other stages
  llvm::SetVector<Value>
      outputs; // own values that others or the graph's results read
};

class Outliner {
public:
  explicit Outliner(GraphOp graph) : graph(graph), replication(graph) {}

  LogicalResult run() {
    if (failed(assignStages()))
      return failure();
    keepWhereNothingElse();
    findRepeatedOnly();
    if (failed(collectUses()) || failed(checkStages()))
      return failure();
    build();
    return success();
  }

private:
  GraphOp graph;
  Replication replication;
  std::vector<StageContents> stages;
  llvm::DenseMap<Operation *, int64_t> stageOf;
  llvm::DenseMap<Operation *, size_t> order;
  llvm::DenseSet<Operation *> repeatedOnly;
  llvm::DenseSet<Operation *> kept; // replicable, and still in one stage
  llvm::MapVector<Value, llvm::SetVector<int64_t>>
      readers; // consumer stages of each value that crosses

  Block &body() { return graph.getBody().front(); }

  LogicalResult assignStages() {
    int64_t count = 0;
    for (Operation &op : body().without_terminator()) {
      order[&op] = order.size();
      if (isPlaceless(&op))
        continue;
      auto index = op.getAttrOfType<IntegerAttr>(PipeDialect::kStageIndexAttr);
      if (!index || index.getInt() < 0)
        return op.emitOpError(
            "has no stage index; run pipe-partition-annotate first");
      stageOf[&op] = index.getInt();
      count = std::max(count, index.getInt() + 1);
    }
    stages.resize(std::max<int64_t>(count, 1));
    return success();
  }

  bool isReplicable(Operation *op) {
    return replication.isReplicable(op) && !kept.contains(op);
  }

  /// The plan gives each stage an op of its own at the size that it is made
  /// for; what is cheap enough to repeat may be more at a smaller one. A stage
  /// that holds nothing else keeps it, and sends it.
  void keepWhereNothingElse() {
    std::vector<bool> hasOwn(stages.size(), false);
    Operation *terminator = body().getTerminator();
    for (auto [op, s] : stageOf)
      if (!replication.isReplicable(op) ||
          llvm::is_contained(op->getUsers(), terminator))
        hasOwn[s] = true;
    for (auto [op, s] : stageOf)
      if (!hasOwn[s])
        kept.insert(op);
  }

  /// Whether stage `reader` makes `def` itself instead of receiving it.
  bool repeats(Operation *def, int64_t reader) {
    return isPlaceless(def) || (stageOf[def] != reader && isReplicable(def));
  }

  /// Makes `root`'s operands available in stage `s`.
  LogicalResult require(Operation *root, int64_t s) {
    llvm::SmallVector<Operation *> pending{root};
    while (!pending.empty()) {
      Operation *op = pending.pop_back_val();
      for (Value operand : op->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (!def) {
          stages[s].inputs.insert(operand);
        } else if (repeats(def, s)) {
          if (stages[s].ops.insert(def))
            pending.push_back(def);
        } else if (stageOf[def] != s) {
          if (failed(receive(operand, op, s)))
            return failure();
        }
      }
    }
    return success();
  }

  LogicalResult receive(Value value, Operation *reader, int64_t s) {
    Operation *def = value.getDefiningOp();
    if (stageOf[def] > s) {
      InFlightDiagnostic diagnostic =
          reader->emitOpError()
          << "in stage " << s << " reads a value that stage " << stageOf[def]
          << " makes; data cannot flow to an earlier stage";
      diagnostic.attachNote(def->getLoc())
          << "made here; move the cut behind it";
      return diagnostic;
    }
    stages[s].inputs.insert(value);
    stages[stageOf[def]].outputs.insert(value);
    readers[value].insert(s);
    return success();
  }

  LogicalResult collectUses() {
    for (Operation &op : body().without_terminator()) {
      if (isPlaceless(&op) || repeatedOnly.contains(&op))
        continue;
      stages[stageOf[&op]].ops.insert(&op);
      if (failed(require(&op, stageOf[&op])))
        return failure();
    }
    // Results of the graph: an input handed through leaves by the first stage,
    // a constant by the last.
    for (Value result : body().getTerminator()->getOperands()) {
      Operation *def = result.getDefiningOp();
      if (!def) {
        stages.front().inputs.insert(result);
        stages.front().outputs.insert(result);
        continue;
      }
      int64_t s = isPlaceless(def) ? static_cast<int64_t>(stages.size()) - 1
                                   : stageOf[def];
      stages[s].ops.insert(def);
      stages[s].outputs.insert(result);
      if (failed(require(def, s)))
        return failure();
    }
    return success();
  }

  /// Finds the replicable ops that their own stage does not read: only their
  /// repeated forms are needed. Backwards, so that an op's users are decided
  /// before it.
  void findRepeatedOnly() {
    Operation *terminator = body().getTerminator();
    for (Operation &op : llvm::reverse(body().without_terminator())) {
      if (!isReplicable(&op))
        continue;
      bool needed = llvm::any_of(op.getUsers(), [&](Operation *user) {
        if (user == terminator)
          return true;
        auto at = stageOf.find(user);
        return at != stageOf.end() && at->second == stageOf[&op] &&
               !repeatedOnly.contains(user);
      });
      if (!needed)
        repeatedOnly.insert(&op);
    }
  }

  LogicalResult checkStages() {
    for (auto [index, stage] : llvm::enumerate(stages)) {
      bool own = llvm::any_of(stage.ops,
                              [&](Operation *op) { return !isPlaceless(op); });
      if (!own && stages.size() > 1)
        return graph.emitOpError()
               << "stage " << index << " would hold no operation";
    }
    return success();
  }

  void build() {
    Operation *terminator = body().getTerminator();
    OpBuilder builder(terminator);
    llvm::DenseMap<Value, Value> yielded; // uncut value -> stage result
    std::vector<llvm::DenseMap<Value, Value>> received(stages.size());
    for (size_t s = 0; s < stages.size(); ++s)
      buildStage(builder, s, yielded, received);
    for (OpOperand &operand : terminator->getOpOperands())
      if (Value result = yielded.lookup(operand.get()))
        operand.set(result);
    llvm::SmallVector<Operation *> moved;
    for (Operation &op : body().without_terminator())
      if (!isa<StageOp, TransferOp>(op))
        moved.push_back(&op);
    for (Operation *op : llvm::reverse(moved)) // users before what they read
      op->erase();
  }

  void buildStage(OpBuilder &builder, size_t s,
                  llvm::DenseMap<Value, Value> &yielded,
                  std::vector<llvm::DenseMap<Value, Value>> &received) {
    StageContents &contents = stages[s];
    llvm::SmallVector<Value> inputs;
    llvm::SmallVector<Type> outputTypes;
    for (Value input : contents.inputs)
      inputs.push_back(input.getDefiningOp() ? received[s].lookup(input)
                                             : input);
    for (Value output : contents.outputs)
      outputTypes.push_back(output.getType());
    auto stage =
        StageOp::create(builder, graph.getLoc(), outputTypes,
                        static_cast<int64_t>(s), StagePhase::forward, inputs);
    fillBody(stage, contents);
    for (auto [value, result] :
         llvm::zip(contents.outputs, stage.getResults())) {
      yielded[value] = result;
      for (int64_t reader : readers.lookup(value)) {
        auto transfer =
            TransferOp::create(builder, value.getLoc(), result.getType(),
                               result, static_cast<int64_t>(s), reader);
        received[reader][value] = transfer.getResult();
      }
    }
  }

  void fillBody(StageOp stage, StageContents &contents) {
    Block *block = &stage.getBody().emplaceBlock();
    IRMapping mapping;
    for (Value input : contents.inputs)
      mapping.map(input, block->addArgument(input.getType(), input.getLoc()));
    OpBuilder builder = OpBuilder::atBlockEnd(block);
    llvm::SmallVector<Operation *> ops(contents.ops.begin(),
                                       contents.ops.end());
    llvm::sort(ops,
               [&](Operation *a, Operation *b) { return order[a] < order[b]; });
    for (Operation *op : ops)
      builder.clone(*op, mapping)->removeAttr(PipeDialect::kStageIndexAttr);
    llvm::SmallVector<Value> results;
    for (Value output : contents.outputs)
      results.push_back(mapping.lookup(output));
    YieldOp::create(builder, graph.getLoc(), results);
  }
};

struct PartitionOutlinePass : impl::PartitionOutlineBase<PartitionOutlinePass> {
  void runOnOperation() override {
    GraphOp graph = findGraph(getOperation());
    if (graph && failed(Outliner(graph).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace pipec::pipe

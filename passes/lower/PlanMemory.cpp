// `pipe-lower-plan-memory`: lifetimes of a stage's values, then their places.
//
// What a backward stage needs of its microbatch lies in the microbatch's
// context, one layout for all phases of a stage; everything else in the arena.
// Tests: test/passes/lower/plan-memory.mlir, plan-context.mlir.
#include "ir/OpDescs.h"
#include "passes/lower/MemoryPlan.h"
#include "passes/lower/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <map>

namespace pipec::pipe {

#define GEN_PASS_DEF_LOWERPLANMEMORY
#include "passes/lower/Passes.h.inc"

using namespace mlir;

namespace {

constexpr int64_t kElsewhere = -1;

bool computes(Operation *op) {
  return !isa<ConstantOp, LoadWeightOp, YieldOp>(op);
}

uint64_t bytesOfValue(Value value) {
  return toTensorType(value.getType()).byteSize();
}

/// The context of one stage: places of graph-level values, one behind the
/// other. All live until the microbatch's last backward.
class ContextLayout {
public:
  int64_t offsetOf(Value value) const {
    auto at = offsets.find(value);
    return at == offsets.end() ? kElsewhere : at->second;
  }
  int64_t place(Value value) {
    auto [at, isNew] = offsets.try_emplace(value, bytes);
    if (isNew) {
      uint64_t size = bytesOfValue(value);
      bytes += static_cast<int64_t>((size + kArenaAlignment - 1) /
                                    kArenaAlignment * kArenaAlignment);
    }
    return at->second;
  }
  /// `value` lies where something else does.
  void share(Value value, int64_t offset) { offsets[value] = offset; }
  int64_t size() const { return bytes; }

private:
  llvm::DenseMap<Value, int64_t> offsets;
  int64_t bytes = 0;
};

/// Values that share one place, from the first that is made to the last use of
/// any.
class StagePlanner {
public:
  /// `context`: null where nothing is trained.
  StagePlanner(StageOp stage, ContextLayout *context)
      : stage(stage), context(context) {}

  void run() {
    collect();
    if (context)
      placeInContext();
    MemoryPlan plan = planMemory(lifetimes);
    Builder builder(stage.getContext());
    for (Operation &op : stage.getBody().front().without_terminator()) {
      if (!computes(&op))
        continue;
      llvm::SmallVector<int64_t> offsets, kept;
      for (Value result : op.getResults()) {
        size_t place = placeOf.lookup(result);
        offsets.push_back(static_cast<int64_t>(plan.offsets[place]));
        kept.push_back(contextOffsets[place]);
      }
      op.setAttr(kArenaOffsetsAttr, builder.getDenseI64ArrayAttr(offsets));
      if (context)
        op.setAttr(kContextOffsetsAttr, builder.getDenseI64ArrayAttr(kept));
    }
    stage->setAttr(kArenaBytesAttr,
                   builder.getI64IntegerAttr(static_cast<int64_t>(plan.bytes)));
  }

private:
  StageOp stage;
  ContextLayout *context;
  std::vector<Lifetime> lifetimes;
  std::vector<int64_t> contextOffsets;   // beside lifetimes
  llvm::DenseMap<Value, size_t> placeOf; // index into lifetimes

  void collect() {
    int64_t step = 0;
    for (Operation &op : stage.getBody().front()) {
      for (Value operand : op.getOperands())
        if (auto at = placeOf.find(operand); at != placeOf.end())
          lifetimes[at->second].last = step;
      if (computes(&op))
        addResults(op, step);
      ++step;
    }
    contextOffsets.assign(lifetimes.size(), kElsewhere);
  }

  void addResults(Operation &op, int64_t step) {
    // A reshape is the same bytes; one of an input, weight or literal has to
    // copy, since those are not ours to alias.
    if (isa<ReshapeOp>(op))
      if (auto at = placeOf.find(op.getOperand(0)); at != placeOf.end()) {
        placeOf[op.getResult(0)] = at->second;
        return;
      }
    for (Value result : op.getResults()) {
      placeOf[result] = lifetimes.size();
      lifetimes.push_back({step, step, bytesOfValue(result)});
    }
  }

  /// Inputs that come by a transfer, and results that a later phase reads.
  void placeInContext() {
    llvm::SmallVector<int64_t> inputs;
    for (Value input : stage.getInputs())
      inputs.push_back(input.getDefiningOp<TransferOp>()
                           ? context->place(input)
                           : context->offsetOf(input));
    stage->setAttr(kContextOffsetsAttr,
                   Builder(stage.getContext()).getDenseI64ArrayAttr(inputs));
    Operation *yield = stage.getBody().front().getTerminator();
    for (auto [result, yielded] :
         llvm::zip(stage.getResults(), yield->getOperands())) {
      auto at = placeOf.find(yielded);
      bool isResidual = llvm::any_of(result.getUsers(), [](Operation *user) {
        return isa<StageOp>(user);
      });
      if (!isResidual || at == placeOf.end())
        continue;
      int64_t &offset = contextOffsets[at->second];
      if (offset == kElsewhere)
        offset = context->place(result);
      else
        context->share(result, offset);
      lifetimes[at->second].bytes = 0; // not in the arena
    }
  }
};

struct LowerPlanMemoryPass : impl::LowerPlanMemoryBase<LowerPlanMemoryPass> {
  void runOnOperation() override {
    llvm::SmallVector<StageOp> stages;
    bool trained = false;
    getOperation().walk([&](StageOp stage) {
      stages.push_back(stage);
      trained |= stage.getPhase() != StagePhase::forward;
    });
    std::map<int64_t, ContextLayout> contexts;
    // Forwards come first, so what a phase reads has its place.
    for (StageOp stage : stages)
      StagePlanner(stage, trained ? &contexts[stage.getIndex()] : nullptr)
          .run();
    for (StageOp stage : stages)
      if (trained)
        stage->setAttr(
            kContextBytesAttr,
            Builder(&getContext())
                .getI64IntegerAttr(contexts[stage.getIndex()].size()));
  }
};

} // namespace

void buildLowerPipeline(OpPassManager &manager) {
  // Last: any op added later would have no place.
  manager.addPass(createLowerPlanMemory());
}

} // namespace pipec::pipe

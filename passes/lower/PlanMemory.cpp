// `pipe-lower-plan-memory`: lifetimes of a stage's values, then their places.
// Tests: test/passes/lower/plan-memory.mlir.
#include "ir/OpDescs.h"
#include "passes/lower/MemoryPlan.h"
#include "passes/lower/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace pipec::pipe {

#define GEN_PASS_DEF_LOWERPLANMEMORY
#include "passes/lower/Passes.h.inc"

using namespace mlir;

namespace {

bool computes(Operation *op) {
  return !isa<ConstantOp, LoadWeightOp, YieldOp>(op);
}

/// Values that share one place, from the first that is made to the last use of
/// any.
class StagePlanner {
public:
  explicit StagePlanner(StageOp stage) : stage(stage) {}

  void run() {
    collect();
    MemoryPlan plan = planMemory(lifetimes);
    Builder builder(stage.getContext());
    for (Operation &op : stage.getBody().front().without_terminator()) {
      if (!computes(&op))
        continue;
      llvm::SmallVector<int64_t> offsets;
      for (Value result : op.getResults())
        offsets.push_back(
            static_cast<int64_t>(plan.offsets[placeOf.lookup(result)]));
      op.setAttr(kArenaOffsetsAttr, builder.getDenseI64ArrayAttr(offsets));
    }
    stage->setAttr(kArenaBytesAttr,
                   builder.getI64IntegerAttr(static_cast<int64_t>(plan.bytes)));
  }

private:
  StageOp stage;
  std::vector<Lifetime> lifetimes;
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
      lifetimes.push_back(
          {step, step, toTensorType(result.getType()).byteSize()});
    }
  }
};

struct LowerPlanMemoryPass : impl::LowerPlanMemoryBase<LowerPlanMemoryPass> {
  void runOnOperation() override {
    getOperation().walk([](StageOp stage) { StagePlanner(stage).run(); });
  }
};

} // namespace

void buildLowerPipeline(OpPassManager &manager) {
  // Last: any op added later would have no place.
  manager.addPass(createLowerPlanMemory());
}

} // namespace pipec::pipe

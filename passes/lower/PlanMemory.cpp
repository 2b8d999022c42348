// `pipe-lower-plan-memory`: lifetimes of a stage's values, then their places.
//
// What a backward stage needs of its microbatch lies in the microbatch's
// context, one layout for all phases of a stage; everything else in the arena.
// Tests: test/passes/lower/plan-memory.mlir, plan-context.mlir.
#include "ir/OpDescs.h"
#include "passes/lower/MemoryPlan.h"
#include "passes/lower/Passes.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

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
/// other. What W reads comes first and lives until W; the rest lives until B.
class ContextLayout {
public:
  /// A place: in which part, and where in that.
  struct Place {
    bool forWeight = false;
    int64_t offset = kElsewhere;
  };

  /// A backward_weight stage reads it.
  void addWeightUse(Value value) { weightUses.insert(value); }
  bool isForWeight(Value value) const { return weightUses.contains(value); }

  Place placeOf(Value value) const { return places.lookup(value); }
  Place place(Value value, bool forWeight) {
    auto [at, isNew] = places.try_emplace(value);
    if (isNew) {
      int64_t &bytes = forWeight ? weightBytes : otherBytes;
      at->second = {forWeight, bytes};
      bytes += static_cast<int64_t>(
          llvm::alignTo(bytesOfValue(value), kArenaAlignment));
    }
    return at->second;
  }
  /// `value` lies where something else does.
  void share(Value value, Place place) { places[value] = place; }

  /// Valid when all has been placed.
  int64_t offsetOf(Place place) const {
    return place.offset == kElsewhere || place.forWeight
               ? place.offset
               : weightBytes + place.offset;
  }
  int64_t bytesForWeight() const { return weightBytes; }
  int64_t size() const { return weightBytes + otherBytes; }

private:
  llvm::DenseSet<Value> weightUses;
  llvm::DenseMap<Value, Place> places;
  int64_t weightBytes = 0, otherBytes = 0;
};

/// Values that share one place, from the first that is made to the last use of
/// any.
class StagePlanner {
public:
  /// `context`: null where nothing is trained.
  StagePlanner(StageOp stage, ContextLayout *context)
      : stage(stage), context(context) {}

  /// Finds a place for everything.
  void plan() {
    collect();
    if (context)
      placeInContext();
    memory = planMemory(lifetimes);
  }

  /// Sets the attributes, when all phases of the stage are planned.
  void write() {
    Builder builder(stage.getContext());
    for (Operation &op : stage.getBody().front().without_terminator())
      if (computes(&op))
        writeOp(op, builder);
    stage->setAttr(kArenaBytesAttr, builder.getI64IntegerAttr(
                                        static_cast<int64_t>(memory.bytes)));
    if (!context)
      return;
    llvm::SmallVector<int64_t> inputs;
    for (Value input : stage.getInputs())
      inputs.push_back(context->offsetOf(context->placeOf(input)));
    stage->setAttr(kContextOffsetsAttr, builder.getDenseI64ArrayAttr(inputs));
    stage->setAttr(kContextBytesAttr,
                   builder.getI64IntegerAttr(context->size()));
    stage->setAttr(kContextWeightBytesAttr,
                   builder.getI64IntegerAttr(context->bytesForWeight()));
  }

private:
  StageOp stage;
  ContextLayout *context;
  std::vector<Lifetime> lifetimes;
  std::vector<ContextLayout::Place> kept; // beside lifetimes
  MemoryPlan memory;
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
    kept.assign(lifetimes.size(), {});
  }

  void addResults(Operation &op, int64_t step) {
    // A reshape is the same bytes; one of an input, weight or literal has to
    // copy, since those are not ours to alias.
    if (isa<ReshapeOp, StopGradientOp>(op))
      if (auto at = placeOf.find(op.getOperand(0)); at != placeOf.end()) {
        placeOf[op.getResult(0)] = at->second;
        return;
      }
    for (Value result : op.getResults()) {
      placeOf[result] = lifetimes.size();
      lifetimes.push_back({step, step, bytesOfValue(result)});
    }
  }

  void writeOp(Operation &op, Builder &builder) {
    llvm::SmallVector<int64_t> inArena, inContext;
    for (Value result : op.getResults()) {
      size_t place = placeOf.lookup(result);
      inArena.push_back(static_cast<int64_t>(memory.offsets[place]));
      if (context)
        inContext.push_back(context->offsetOf(kept[place]));
    }
    op.setAttr(kArenaOffsetsAttr, builder.getDenseI64ArrayAttr(inArena));
    if (context)
      op.setAttr(kContextOffsetsAttr, builder.getDenseI64ArrayAttr(inContext));
  }

  /// Inputs that come by a transfer, and results that a later phase reads.
  void placeInContext() {
    for (Value input : stage.getInputs())
      if (input.getDefiningOp<TransferOp>())
        context->place(input, context->isForWeight(input));
    // Of results that share a place, one may be for W.
    llvm::DenseSet<size_t> forWeight;
    forEachResidual([&](Value result, size_t place) {
      if (context->isForWeight(result))
        forWeight.insert(place);
    });
    forEachResidual([&](Value result, size_t place) {
      if (kept[place].offset == kElsewhere)
        kept[place] = context->place(result, forWeight.contains(place));
      else
        context->share(result, kept[place]);
      lifetimes[place].bytes = 0; // not in the arena
    });
  }

  /// Calls `visit` with each result that another phase reads, and its place.
  template <typename Visit> void forEachResidual(Visit visit) {
    Operation *yield = stage.getBody().front().getTerminator();
    for (auto [result, yielded] :
         llvm::zip(stage.getResults(), yield->getOperands())) {
      auto at = placeOf.find(yielded);
      if (at != placeOf.end() &&
          llvm::any_of(result.getUsers(), llvm::IsaPred<StageOp>))
        visit(result, at->second);
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
    for (StageOp stage : stages)
      if (stage.getPhase() == StagePhase::backward_weight)
        for (Value input : stage.getInputs())
          contexts[stage.getIndex()].addWeightUse(input);
    std::vector<StagePlanner> planners;
    for (StageOp stage : stages)
      planners.emplace_back(stage,
                            trained ? &contexts[stage.getIndex()] : nullptr);
    // Forwards come first, so what a phase reads has its place.
    for (StagePlanner &planner : planners)
      planner.plan();
    for (StagePlanner &planner : planners)
      planner.write();
  }
};

} // namespace

void buildLowerPipeline(OpPassManager &manager) {
  // Last: any op added later would have no place.
  manager.addPass(createLowerPlanMemory());
}

} // namespace pipec::pipe

// `pipe-differentiate`: gradients of every stage, split into the programs B and
// W (decision 3).
//
// In: a cut graph whose result 0 is the loss. Out: the same forward stages,
// with residuals as results, and backward stages behind them, the last stage's
// first. Tests: test/passes/differentiate/*.mlir; numbers:
// test/unit/passes/differentiate/DifferentiateTest.cpp.
#include "passes/differentiate/Derivatives.h"
#include "passes/differentiate/Passes.h"
#include "passes/differentiate/PhaseBuilder.h"
#include "passes/differentiate/StageGradients.h"
#include "passes/partition/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace pipec::pipe {

#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/differentiate/Passes.h.inc"

using namespace mlir;

namespace {

/// The running gradient of a stage result and the stage that has it.
struct Pending {
  Value gradient; // result of a backward stage
  int64_t stage = 0;
};

/// A gradient result of a stage, with what orders the sites of one weight.
struct Site {
  FlatSymbolRefAttr weight;
  int64_t stage = 0;
  size_t position = 0;
  unsigned operand = 0;
  Value gradient;
  auto order() const { return std::tie(stage, position, operand); }
};

class Differentiator {
public:
  /// `recomputed`: whether a stage computes its forward again.
  Differentiator(GraphOp graph, std::function<bool(int64_t)> recomputed)
      : graph(graph), recomputed(std::move(recomputed)), activity(graph),
        builder(graph.getOutput()) {}

  LogicalResult run() {
    if (failed(checkLoss()))
      return failure();
    llvm::SmallVector<StageOp> stages(graph.getBody().getOps<StageOp>());
    bool complete = true;
    for (StageOp stage : llvm::reverse(stages))
      complete &= differentiate(stage);
    if (!complete)
      return failure();
    emitSites();
    return success();
  }

private:
  GraphOp graph;
  std::function<bool(int64_t)> recomputed;
  bool recompute = false; // of the stage in work
  Activity activity;
  OpBuilder builder;                      // in front of the graph's output
  llvm::DenseMap<Value, Pending> pending; // by stage result
  std::vector<Site> sites;

  // Of the stage in work:
  llvm::MapVector<Value, Value> seeds;   // body value -> incoming argument
  llvm::DenseMap<Value, Value> incoming; // incoming argument -> stage result
  llvm::DenseMap<Value, Value> received; // stage result -> transfer's result

  LogicalResult checkLoss() {
    if (graph.getNumResults() == 0)
      return graph.emitOpError("has no result to differentiate");
    Value loss = graph.getOutput().getOperand(0);
    auto type = cast<RankedTensorType>(loss.getType());
    if (type.getRank() != 0 || !isa<FloatType>(type.getElementType()))
      return graph.emitOpError("result 0, the loss, must be a float scalar, "
                               "got ")
             << type;
    if (graph.getBody().getOps<StageOp>().empty())
      return graph.emitOpError("has no stages; run the partition phase first");
    if (!activity.needsGradient(loss))
      return graph.emitError(
          "the loss depends on no parameter that is trained: there is none on "
          "the way to it, or those are frozen, or what lies between has no "
          "derivative");
    return success();
  }

  Value lossOf(StageOp stage) {
    auto result = dyn_cast<OpResult>(graph.getOutput().getOperand(0));
    if (!result || result.getOwner() != stage)
      return {};
    return stage.getBody().front().getTerminator()->getOperand(
        result.getResultNumber());
  }

  /// The stage result that body argument `i` receives; null for graph inputs.
  static Value sentValue(StageOp stage, unsigned i) {
    auto transfer = stage.getInputs()[i].getDefiningOp<TransferOp>();
    return transfer ? transfer.getValue() : Value();
  }

  LogicalResult addSeed(StageOp stage, Value bodyValue, Value stageResult) {
    if (!pending.count(stageResult))
      return success();
    // Which of two gradients came first would be lost.
    if (seeds.count(bodyValue))
      return stage.emitOpError("yields a value twice, or one that it received; "
                               "each has to leave the stage that makes it, "
                               "once");
    Value argument =
        stage.getBody().addArgument(bodyValue.getType(), bodyValue.getLoc());
    seeds[bodyValue] = argument;
    incoming[argument] = stageResult;
    return success();
  }

  LogicalResult addSeeds(StageOp stage) {
    seeds.clear();
    incoming.clear();
    received.clear();
    Block &body = stage.getBody().front();
    unsigned arguments = body.getNumArguments();
    for (unsigned i = 0; i < arguments; ++i)
      if (Value sent = sentValue(stage, i))
        if (failed(addSeed(stage, body.getArgument(i), sent)))
          return failure();
    for (auto [result, yielded] :
         llvm::zip(stage.getResults(), body.getTerminator()->getOperands()))
      if (failed(addSeed(stage, yielded, result)))
        return failure();
    return success();
  }

  /// False where the stage or an op of it has no derivative.
  bool differentiate(StageOp stage) {
    if (failed(addSeeds(stage)))
      return false;
    Block &body = stage.getBody().front();
    unsigned forwardArguments = stage.getInputs().size();
    StageGradients gradients =
        buildStageGradients(stage, activity, seeds, lossOf(stage));
    split(stage, gradients);
    // The combined body goes back to what it was.
    Operation *terminator = body.getTerminator();
    while (terminator->getPrevNode() != gradients.lastForward)
      terminator->getPrevNode()->erase();
    body.eraseArguments(forwardArguments,
                        body.getNumArguments() - forwardArguments);
    return gradients.complete;
  }

  /// Makes the stages of both backward phases.
  void split(StageOp stage, const StageGradients &gradients) {
    recompute = recomputed(static_cast<int64_t>(stage.getIndex()));
    Operation *last = gradients.lastForward;
    auto isBackward = [&](Operation *op) {
      return !last || last->isBeforeInBlock(op);
    };
    PhaseContents b, w;
    b.phase = StagePhase::backward_input;
    w.phase = StagePhase::backward_weight;
    for (auto &[argument, gradient] : gradients.inputs)
      b.outputs.insert(gradient);
    for (const Contribution &use : gradients.weights)
      w.outputs.insert(use.gradient);
    b.ops = backwardSlice(b.outputs.getArrayRef(), isBackward);
    w.ops = backwardSlice(w.outputs.getArrayRef(), [&](Operation *op) {
      return isBackward(op) && !b.ops.contains(op);
    });
    collectInputs(b, isBackward);
    collectInputs(
        w, [&](Operation *op) { return isBackward(op) || b.ops.contains(op); });
    for (Value value : w.inputs)
      if (madeIn(b, value))
        b.outputs.insert(value);
    llvm::DenseMap<Value, Value> residuals = keepResiduals(stage, b, w);
    llvm::DenseMap<Value, Value> fromB;
    if (!b.outputs.empty()) {
      StageOp built = buildPhase(builder, stage, b, [&](Value value) {
        return operandFor(stage, value, residuals);
      });
      for (auto [value, result] : llvm::zip(b.outputs, built.getResults()))
        fromB[value] = result;
    }
    sendGradients(stage, gradients, fromB);
    if (!w.outputs.empty())
      buildWeightPhase(stage, gradients, w, residuals, fromB);
  }

  static bool madeIn(const PhaseContents &phase, Value value) {
    Operation *op = value.getDefiningOp();
    return op && phase.ops.contains(op);
  }

  /// What the ops of `phase` and its outputs read from outside. With
  /// recomputation the forward ops behind it join the phase, but for those
  /// that `isElsewhere`.
  void collectInputs(PhaseContents &phase,
                     llvm::function_ref<bool(Operation *)> isElsewhere) {
    llvm::SmallVector<Value> reads(phase.outputs.begin(), phase.outputs.end());
    for (Operation *op : phase.ops)
      llvm::append_range(reads, op->getOperands());
    if (recompute) {
      llvm::SetVector<Operation *> again =
          backwardSlice(reads, [&](Operation *op) {
            return !isElsewhere(op) && !isPlaceless(op);
          });
      for (Operation *op : again) {
        phase.ops.insert(op);
        llvm::append_range(reads, op->getOperands());
      }
    }
    for (Value value : reads)
      if (!madeIn(phase, value) && !isMadeAgain(value))
        phase.inputs.insert(value);
  }

  /// Forward op results that a backward phase reads become results of the
  /// forward stage; their graph-level values.
  llvm::DenseMap<Value, Value> keepResiduals(StageOp &stage,
                                             const PhaseContents &b,
                                             const PhaseContents &w) {
    llvm::SetVector<Value> kept;
    for (const PhaseContents *phase : {&b, &w})
      for (Value value : phase->inputs)
        if (value.getDefiningOp() && !madeIn(b, value))
          kept.insert(value);
    llvm::DenseMap<Value, Value> residuals;
    if (kept.empty())
      return residuals;
    Operation *yield = stage.getBody().front().getTerminator();
    llvm::SmallVector<Type> types(stage.getResultTypes());
    for (Value value : kept)
      types.push_back(value.getType());
    unsigned first = stage.getNumResults();
    OpBuilder at(stage);
    auto wider = StageOp::create(at, stage.getLoc(), types, stage.getIndex(),
                                 stage.getPhase(), stage.getInputs());
    wider->setDiscardableAttrs(llvm::to_vector(stage->getDiscardableAttrs()));
    yield->insertOperands(yield->getNumOperands(), kept.getArrayRef());
    wider.getBody().takeBody(stage.getBody());
    for (unsigned i = 0; i < first; ++i)
      replaceResult(stage.getResult(i), wider.getResult(i));
    stage.erase();
    stage = wider;
    for (auto [i, value] : llvm::enumerate(kept))
      residuals[value] = wider.getResult(first + i);
    return residuals;
  }

  /// Keeps the maps by stage result true.
  void replaceResult(Value from, Value to) {
    from.replaceAllUsesWith(to);
    if (auto at = pending.find(from); at != pending.end()) {
      Pending moved = at->second;
      pending.erase(at);
      pending[to] = moved;
    }
    for (auto &[argument, result] : incoming)
      if (result == from)
        result = to;
  }

  /// The graph-level value of a body value that a phase reads.
  Value operandFor(StageOp stage, Value value,
                   const llvm::DenseMap<Value, Value> &residuals) {
    if (Value residual = residuals.lookup(value))
      return residual;
    if (Value result = incoming.lookup(value))
      return receive(stage, result);
    return stage.getInputs()[cast<BlockArgument>(value).getArgNumber()];
  }

  /// The pending gradient of stage result `result`, brought to `stage`, and
  /// named after the value that it is the gradient of.
  Value receive(StageOp stage, Value result) {
    Value &transfer = received[result];
    if (!transfer) {
      const Pending &from = pending[result];
      transfer = TransferOp::create(builder, innerValue(result).getLoc(),
                                    result.getType(), from.gradient, from.stage,
                                    static_cast<int64_t>(stage.getIndex()),
                                    /*gradient=*/true);
      Value value = innerValue(result);
      if (auto made = dyn_cast<OpResult>(value);
          made && made.getOwner()->getNumResults() > 1)
        transfer.getDefiningOp()->setAttr(
            kResultAttr, builder.getI64IntegerAttr(made.getResultNumber()));
    }
    return transfer;
  }

  /// The body value that stage result `result` is.
  static Value innerValue(Value result) {
    auto stage = result.getDefiningOp<StageOp>();
    return stage.getBody().front().getTerminator()->getOperand(
        cast<OpResult>(result).getResultNumber());
  }

  /// The sums of the stage's inputs are now here.
  void sendGradients(StageOp stage, const StageGradients &gradients,
                     const llvm::DenseMap<Value, Value> &fromB) {
    for (auto &[argument, gradient] : gradients.inputs) {
      unsigned i = cast<BlockArgument>(argument).getArgNumber();
      pending[sentValue(stage, i)] = {fromB.lookup(gradient),
                                      static_cast<int64_t>(stage.getIndex())};
    }
  }

  void buildWeightPhase(StageOp stage, const StageGradients &gradients,
                        const PhaseContents &w,
                        const llvm::DenseMap<Value, Value> &residuals,
                        const llvm::DenseMap<Value, Value> &fromB) {
    StageOp built = buildPhase(builder, stage, w, [&](Value value) {
      // What B only hands on is read where B reads it.
      Value made = value.getDefiningOp() ? fromB.lookup(value) : Value();
      return made ? made : operandFor(stage, value, residuals);
    });
    llvm::DenseMap<Value, Value> results;
    for (auto [value, result] : llvm::zip(w.outputs, built.getResults()))
      results[value] = result;
    for (const Contribution &use : gradients.weights)
      sites.push_back({use.weight, static_cast<int64_t>(stage.getIndex()),
                       use.position, use.operand, results[use.gradient]});
  }

  void emitSites() {
    llvm::stable_sort(sites, [](const Site &a, const Site &b) {
      return a.order() < b.order();
    });
    llvm::DenseMap<Attribute, int64_t> next;
    for (const Site &site : sites)
      GradientOp::create(builder, site.gradient.getLoc(), site.gradient,
                         site.weight.getValue(), next[site.weight]++);
  }
};

struct DifferentiatePass : impl::DifferentiateBase<DifferentiatePass> {
  using Base::Base;
  void runOnOperation() override {
    registerDerivatives(getContext());
    GraphOp graph = findGraph(getOperation());
    if (recompute != "none" && recompute != "full") {
      getOperation().emitError("recompute must be none or full, got '")
          << recompute << "'";
      return signalPassFailure();
    }
    auto recomputed = [&](int64_t stage) {
      return recompute == "full" &&
             (stages.empty() || llvm::is_contained(stages, stage));
    };
    if (graph && failed(Differentiator(graph, recomputed).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace pipec::pipe

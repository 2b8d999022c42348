// The steps of a BatchLoss, done to a graph: see BatchLoss.h.
// Tests: test/unit/passes/differentiate/BatchLossTest.cpp,
// test/e2e/cli/own-loss.test.
#include "ir/GraphBoundary.h"
#include "ir/OpDescs.h"
#include "ir/ShapeInference.h"
#include "passes/differentiate/NodeOps.h"
#include "passes/partition/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace pipec::pipe {
namespace {

using Kind = BatchLossStep::Kind;

Value number(OpBuilder &builder, Location loc, Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          cast<ShapedType>(type),
          llvm::ArrayRef(Attribute(FloatAttr::get(element, value)))));
}

class Application {
public:
  Application(ModuleOp module, unsigned output, int64_t rows)
      : module(module), graph(findGraph(module)), output(output), rows(rows),
        ops(graph) {}

  bool resolve(const BatchLoss &loss, GraphOp looked, int64_t lookedRows) {
    NodeOps lookedOps(looked);
    for (const BatchLossStep &step : loss.steps) {
      Operation *op = step.kind == Kind::loss ? nullptr : ops.find(step.op);
      if (step.kind != Kind::loss && !op)
        return false;
      if (op && !isAlike(op, lookedOps.find(step.op), lookedRows))
        return false;
      found.push_back({step, op});
    }
    return true;
  }

  OwningOpRef<ModuleOp> run() {
    IRMapping copied;
    copy = OwningOpRef<ModuleOp>(cast<ModuleOp>(module->clone(copied)));
    // Totals first: what is shared comes behind them, in the order of use.
    for (auto &[step, op] : found)
      if (step.kind == Kind::total || step.kind == Kind::meanTotal)
        takeTotal(op, copied.lookup(op), step.kind == Kind::meanTotal);
    for (auto &[step, op] : found)
      if (step.kind == Kind::share)
        shareResult(op);
      else if (step.kind == Kind::operandShare)
        shareOperand(op, step.operand);
      else if (step.kind == Kind::loss)
        shareOperand(graph.getOutput(), output);
    if (sums.empty())
      return {};
    setResults(findGraph(*copy), sums);
    return std::move(copy);
  }

private:
  ModuleOp module;
  GraphOp graph;
  const unsigned output;
  const int64_t rows;
  NodeOps ops;
  std::vector<std::pair<BatchLossStep, Operation *>> found;
  OwningOpRef<ModuleOp> copy;
  llvm::SmallVector<GraphResult> sums;
  Value allRows; // f64

  /// The same op at another size. A size is to the rows as it was.
  bool isAlike(Operation *op, Operation *other, int64_t otherRows) const {
    if (!other)
      return false;
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      auto there = cast<ReduceOp>(other);
      return reduce.getKind() == there.getKind() &&
             reduce.getType() == there.getType() &&
             (reduce.getDims() == there.getDims() ||
              (rows == 1 && isSqueezed(reduce, there, otherRows)));
    }
    if (!isa<ConstantOp>(op))
      return op->getNumOperands() == other->getNumOperands();
    std::optional<double> here = numberOf(op), there = numberOf(other);
    return here && there &&
           *here * static_cast<double>(otherRows) ==
               *there * static_cast<double>(rows);
  }

  /// A squeeze takes the dimension of one row away, too, and with it one that
  /// is reduced.
  static bool isSqueezed(ReduceOp one, ReduceOp there, int64_t otherRows) {
    auto elements = [](ReduceOp reduce) {
      return cast<RankedTensorType>(reduce.getOperand().getType())
          .getNumElements();
    };
    return elements(one) * otherRows == elements(there);
  }

  /// An input for the sum over microbatches of `value`, of the copy.
  Value totalOf(Value value) {
    const std::string name = "loss_total";
    Value input = addInput(graph, name, value.getType(), name, /*whole=*/true);
    sums.push_back({value, name + "." + std::to_string(sums.size()), ""});
    return input;
  }

  void takeTotal(Operation *op, Operation *inCopy, bool isMean) {
    Value result = op->getResult(0), value = inCopy->getResult(0);
    if (!isMean) {
      result.replaceAllUsesWith(totalOf(value));
      return;
    }
    OpBuilder there(inCopy->getContext());
    there.setInsertionPointAfter(inCopy);
    Type element = elementTypeOf(value);
    value = MulOp::create(
        there, inCopy->getLoc(), value,
        number(there, inCopy->getLoc(), element, static_cast<double>(rows)));
    OpBuilder builder(graph.getOutput());
    builder.setInsertionPointAfter(op);
    Value total = totalOf(value);
    Value whole = DivOp::create(builder, op->getLoc(), total,
                                rowsTotal(builder, op->getLoc(), element));
    result.replaceAllUsesWith(whole);
  }

  static Value converted(OpBuilder &builder, Location loc, Value value,
                         Type element) {
    if (elementTypeOf(value) == element)
      return value;
    auto type = cast<RankedTensorType>(value.getType());
    return ConvertOp::create(builder, loc, type.clone(element), value);
  }

  /// Rows of the whole batch.
  Value rowsTotal(OpBuilder &builder, Location loc, Type element) {
    if (!allRows) {
      Block &body = findGraph(*copy).getBody().front();
      OpBuilder there(body.getTerminator());
      allRows = totalOf(
          number(there, loc, builder.getF32Type(), static_cast<double>(rows)));
    }
    return converted(builder, loc, allRows, element);
  }

  /// `value` times the microbatch's share of the rows: exactly 1 where it is
  /// the batch.
  Value shared(OpBuilder &builder, Location loc, Value value) {
    Type element = elementTypeOf(value);
    Value share = DivOp::create(
        builder, loc,
        number(builder, loc, builder.getF32Type(), static_cast<double>(rows)),
        rowsTotal(builder, loc, builder.getF32Type()));
    return MulOp::create(builder, loc, value,
                         converted(builder, loc, share, element));
  }

  void shareResult(Operation *op) {
    OpBuilder builder(graph.getContext());
    builder.setInsertionPointAfter(op);
    Value result = op->getResult(0),
          scaled = shared(builder, op->getLoc(), result);
    result.replaceUsesWithIf(scaled, [&](OpOperand &use) {
      return use.getOwner() != scaled.getDefiningOp();
    });
  }

  void shareOperand(Operation *op, unsigned i) {
    OpBuilder builder(op);
    Value operand = op->getOperand(i);
    // The output has no place of its own.
    Location loc = isa<OutputOp>(op) && operand.getDefiningOp()
                       ? operand.getLoc()
                       : op->getLoc();
    op->setOperand(i, shared(builder, loc, operand));
  }
};

} // namespace

FailureOr<OwningOpRef<ModuleOp>>
applyBatchLoss(ModuleOp module, const BatchLoss &loss, unsigned output,
               int64_t rows, GraphOp looked, int64_t lookedRows) {
  Application application(module, output, rows);
  if (!application.resolve(loss, looked, lookedRows))
    return failure();
  return application.run();
}

} // namespace pipec::pipe

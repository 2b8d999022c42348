// Reverse accumulation: ops from the last to the first, each value's gradient
// as one running sum in that order (decision 6); uses of a parameter stay
// apart. Tests: test/passes/differentiate/*.mlir,
// test/unit/passes/differentiate/DifferentiateTest.cpp.
#include "passes/differentiate/StageGradients.h"

#include "passes/differentiate/Vjp.h"

using namespace mlir;

namespace pipec::pipe {
namespace {

class Accumulation {
public:
  Accumulation(StageOp stage, const Activity &activity,
               const llvm::MapVector<Value, Value> &seeds)
      : body(stage.getBody().front()), activity(activity),
        builder(body.getTerminator()) {
    for (auto [value, gradient] : seeds)
      sums[value] = gradient;
  }

  StageGradients run(const llvm::MapVector<Value, Value> &seeds, Value loss) {
    llvm::SmallVector<Operation *> forward;
    for (Operation &op : body.without_terminator())
      forward.push_back(&op);
    result.lastForward = forward.empty() ? nullptr : forward.back();
    if (loss)
      sums[loss] = one(loss);
    for (size_t position = forward.size(); position-- > 0;)
      visit(forward[position], position);
    for (BlockArgument argument : body.getArguments()) {
      Value sum = sums.lookup(argument);
      if (sum && sum != seeds.lookup(argument))
        result.inputs[argument] = sum;
    }
    return std::move(result);
  }

private:
  Block &body;
  const Activity &activity;
  OpBuilder builder; // behind the forward ops
  llvm::DenseMap<Value, Value> sums;
  StageGradients result;

  Value one(Value loss) {
    auto type = cast<RankedTensorType>(loss.getType());
    Attribute value = FloatAttr::get(type.getElementType(), 1);
    return ConstantOp::create(
        builder, loss.getLoc(),
        DenseElementsAttr::get(cast<ShapedType>(type), llvm::ArrayRef(value)));
  }

  void visit(Operation *op, size_t position) {
    llvm::SmallVector<Value> gradients;
    for (Value value : op->getResults())
      gradients.push_back(sums.lookup(value));
    auto differentiable = dyn_cast<VjpInterface>(op);
    if (!differentiable ||
        llvm::none_of(gradients, [](Value g) { return !!g; }))
      return;
    llvm::SmallVector<bool> needed;
    for (Value operand : op->getOperands())
      needed.push_back(activity.needsGradient(operand));
    if (!llvm::is_contained(needed, true))
      return;
    Vjp vjp(builder, op, gradients, needed);
    if (failed(differentiable.buildVjp(vjp))) {
      result.complete = false;
      for (auto [i, operand] : llvm::enumerate(op->getOperands()))
        if (needed[i])
          vjp.set(i, vjp.zeros(operand.getType()));
    }
    for (unsigned i = 0; i < needed.size(); ++i)
      if (Value gradient = vjp.gradients()[i]; gradient && needed[i])
        add(op, position, i, gradient);
  }

  void add(Operation *op, size_t position, unsigned i, Value gradient) {
    Value operand = op->getOperand(i);
    if (auto load = operand.getDefiningOp<LoadWeightOp>()) {
      result.weights.push_back({load.getWeightAttr(), position, i, gradient});
      return;
    }
    Value &sum = sums[operand];
    sum = sum ? AddOp::create(builder, op->getLoc(), sum, gradient).getResult()
              : gradient;
  }
};

} // namespace

StageGradients buildStageGradients(StageOp stage, const Activity &activity,
                                   const llvm::MapVector<Value, Value> &seeds,
                                   Value loss) {
  return Accumulation(stage, activity, seeds).run(seeds, loss);
}

} // namespace pipec::pipe

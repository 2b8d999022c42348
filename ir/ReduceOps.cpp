// Reductions, running combinations and extremes: inference and cost.
// Tests: test/ir/reduce-*.mlir.
#include "ir/ReduceOps.h"
#include "ir/ShapeInference.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pipec::pipe;

#define GET_OP_CLASSES
#include "ir/ReduceOps.cpp.inc"

void PipeDialect::registerReduceOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/ReduceOps.cpp.inc"
      >();
}

static Shape reducedShape(ShapeRef shape, ShapeRef dims, bool keepDims) {
  Shape result;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(d)))
      result.push_back(size);
    else if (keepDims)
      result.push_back(1);
  }
  return result;
}

PIPE_INFER_RETURN_TYPES(ReduceOp) {
  Value operand = adaptor.getOperand();
  ShapeRef shape = shapeOf(operand);
  ReduceKind kind = adaptor.getKind();
  if (failed(infer.checkDims(adaptor.getDims(), shape.size())))
    return failure();
  if (elementTypeOf(operand).isInteger(1) && kind != ReduceKind::max &&
      kind != ReduceKind::min)
    return infer.error("reduces bool by max or min only, got ",
                       stringifyReduceKind(kind));
  if (adaptor.getSelectFirst() &&
      ((kind != ReduceKind::max && kind != ReduceKind::min) ||
       adaptor.getDims().size() != 1))
    return infer.error("select_first is of max and min along one dimension, "
                       "got ",
                       stringifyReduceKind(kind), " along ",
                       listStr(adaptor.getDims()));
  return infer.finish(
      reducedShape(shape, adaptor.getDims(), adaptor.getKeepDims()),
      elementTypeOf(operand), types);
}

PIPE_INFER_RETURN_TYPES(ArgReduceOp) {
  Value operand = adaptor.getOperand();
  ShapeRef shape = shapeOf(operand);
  int64_t dim = adaptor.getDim();
  if (failed(infer.checkDim(dim, shape.size())))
    return failure();
  if (shape[dim] == 0)
    return infer.error("has nothing to select from: dim ", dim, " of ",
                       operand.getType(), " is empty");
  return infer.finish(reducedShape(shape, {dim}, adaptor.getKeepDims()),
                      IntegerType::get(operand.getContext(), 64), types);
}

PIPE_INFER_RETURN_TYPES(CumulativeOp) {
  Value operand = adaptor.getOperand();
  if (failed(infer.checkDim(adaptor.getDim(), shapeOf(operand).size())))
    return failure();
  types.push_back(operand.getType());
  return success();
}

PIPE_INFER_RETURN_TYPES(TopKOp) {
  Value operand = adaptor.getOperand();
  Shape shape(shapeOf(operand));
  int64_t dim = adaptor.getDim(), k = adaptor.getK();
  if (failed(infer.checkDim(dim, shape.size())))
    return failure();
  if (k < 0 || k > shape[dim])
    return infer.error("k must be from 0 to ", shape[dim], ", the size of dim ",
                       dim, ", got ", k);
  shape[dim] = k;
  if (failed(infer.finish(shape, elementTypeOf(operand), types)))
    return failure();
  return infer.finish(shape, IntegerType::get(operand.getContext(), 64), types);
}

int64_t ReduceOp::getFlops() { return elementsOf(getOperand().getType()); }

int64_t TopKOp::getFlops() {
  // A heap of k: log2(k) comparisons an element.
  int64_t depth = llvm::Log2_64_Ceil(std::max<int64_t>(getK(), 1)) + 1;
  return saturatingProduct({elementsOf(getOperand().getType()), depth});
}

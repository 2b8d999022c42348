// Elementwise ops: inference (the broadcast rule), cost, the verifier of
// `convert`. Folders are in Folders.cpp.
// Tests: test/ir/elementwise-*.mlir.
#include "ir/ElementwiseOps.h"
#include "ir/ShapeInference.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pipec::pipe;

#define GET_OP_CLASSES
#include "ir/ElementwiseOps.cpp.inc"

void PipeDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/ElementwiseOps.cpp.inc"
      >();
}

// ---- inference

#define UNARY_OP(OP)                                                           \
  PIPE_INFER_RETURN_TYPES(OP) {                                                \
    types.push_back(adaptor.getOperand().getType());                           \
    return success();                                                          \
  }
#define MATH_OP(OP)                                                            \
  UNARY_OP(OP)                                                                 \
  int64_t OP::getFlops() {                                                     \
    return elementwiseFlops(getOperation(), kTranscendentalFlops);             \
  }

UNARY_OP(AbsOp)
UNARY_OP(NegOp)
UNARY_OP(SignOp)
UNARY_OP(ReluOp)
UNARY_OP(FloorOp)
UNARY_OP(CeilOp)
UNARY_OP(RoundOp)
UNARY_OP(SqrtOp)
UNARY_OP(ReciprocalOp)
UNARY_OP(RsqrtOp)
UNARY_OP(NotOp)
UNARY_OP(BitwiseNotOp)
MATH_OP(ExpOp)
MATH_OP(Expm1Op)
MATH_OP(LogOp)
MATH_OP(Log1pOp)
MATH_OP(SinOp)
MATH_OP(CosOp)
MATH_OP(TanOp)
MATH_OP(AsinOp)
MATH_OP(AcosOp)
MATH_OP(AtanOp)
MATH_OP(SinhOp)
MATH_OP(CoshOp)
MATH_OP(TanhOp)
MATH_OP(AsinhOp)
MATH_OP(AcoshOp)
MATH_OP(AtanhOp)
MATH_OP(ErfOp)
MATH_OP(SigmoidOp)
MATH_OP(SiluOp)
MATH_OP(SoftplusOp)
MATH_OP(GeluOp)

static LogicalResult inferPredicate(const Inference &infer, Value operand,
                                    SmallVectorImpl<Type> &types) {
  return infer.finish(shapeOf(operand),
                      IntegerType::get(operand.getContext(), 1), types);
}
PIPE_INFER_RETURN_TYPES(IsNanOp) {
  return inferPredicate(infer, adaptor.getOperand(), types);
}
PIPE_INFER_RETURN_TYPES(IsInfOp) {
  return inferPredicate(infer, adaptor.getOperand(), types);
}

// `elementType` null: that of the operands.
static LogicalResult inferBinary(const Inference &infer, Value lhs, Value rhs,
                                 Type elementType,
                                 SmallVectorImpl<Type> &types) {
  if (failed(infer.checkSameElementType({lhs, rhs})))
    return failure();
  FailureOr<Shape> shape = infer.broadcastShapes({shapeOf(lhs), shapeOf(rhs)});
  if (failed(shape))
    return failure();
  return infer.finish(*shape, elementType ? elementType : elementTypeOf(lhs),
                      types);
}

#define BINARY_OP(OP)                                                          \
  PIPE_INFER_RETURN_TYPES(OP) {                                                \
    return inferBinary(infer, adaptor.getLhs(), adaptor.getRhs(), {}, types);  \
  }

BINARY_OP(AddOp)
BINARY_OP(SubOp)
BINARY_OP(MulOp)
BINARY_OP(DivOp)
BINARY_OP(MaximumOp)
BINARY_OP(MinimumOp)
BINARY_OP(PowOp)
BINARY_OP(Atan2Op)
BINARY_OP(AndOp)
BINARY_OP(OrOp)
BINARY_OP(XorOp)
BINARY_OP(BitwiseAndOp)
BINARY_OP(BitwiseOrOp)
BINARY_OP(BitwiseXorOp)
BINARY_OP(ShiftLeftOp)
BINARY_OP(ShiftRightOp)
BINARY_OP(RemainderOp)

PIPE_INFER_RETURN_TYPES(CompareOp) {
  Value lhs = adaptor.getLhs();
  return inferBinary(infer, lhs, adaptor.getRhs(),
                     IntegerType::get(lhs.getContext(), 1), types);
}

PIPE_INFER_RETURN_TYPES(SelectOp) {
  Value onTrue = adaptor.getOnTrue(), onFalse = adaptor.getOnFalse();
  if (failed(infer.checkSameElementType({onTrue, onFalse})))
    return failure();
  FailureOr<Shape> shape = infer.broadcastShapes(
      {shapeOf(adaptor.getCondition()), shapeOf(onTrue), shapeOf(onFalse)});
  if (failed(shape))
    return failure();
  return infer.finish(*shape, elementTypeOf(onTrue), types);
}

// ---- cost

int64_t PowOp::getFlops() {
  return elementwiseFlops(getOperation(), kTranscendentalFlops);
}
int64_t Atan2Op::getFlops() {
  return elementwiseFlops(getOperation(), kTranscendentalFlops);
}

// ---- verifiers

LogicalResult ConvertOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (from.getShape() != to.getShape())
    return emitOpError("converts the element type only, got ")
           << from << " and " << to;
  if (!sizeFits(to.getShape(), to.getElementType()))
    return emitOpError("result ") << to << " exceeds 2^62 bytes";
  return success();
}

// Derivatives of binary elementwise ops and select: what a broadcast stretched
// is summed. Where an extreme has two equal operands each gets half, as in
// ATen. Tests: test/unit/passes/differentiate/BinaryDerivativesTest.cpp.
#include "passes/differentiate/Derivatives.h"

using namespace mlir;

namespace pipec::pipe {
namespace {

// Sets the gradient of operand `i`, summed to the operand's shape.
void setSummed(Vjp &v, unsigned i, Value gradient) {
  v.set(i, v.sumTo(gradient, shapeOf(v.getOp()->getOperand(i))));
}

void addVjp(AddOp, Vjp &v) {
  for (unsigned i : {0, 1})
    if (v.needs(i))
      setSummed(v, i, v.grad());
}
void subVjp(SubOp, Vjp &v) {
  if (v.needs(0))
    setSummed(v, 0, v.grad());
  if (v.needs(1))
    setSummed(v, 1, v.neg(v.grad()));
}
void mulVjp(MulOp op, Vjp &v) {
  if (v.needs(0))
    setSummed(v, 0, v.mul(v.grad(), op.getRhs()));
  if (v.needs(1))
    setSummed(v, 1, v.mul(v.grad(), op.getLhs()));
}
void divVjp(DivOp op, Vjp &v) {
  Value share = v.div(v.grad(), op.getRhs());
  if (v.needs(0))
    setSummed(v, 0, share);
  if (v.needs(1))
    setSummed(v, 1, v.neg(v.mul(share, op.getResult())));
}

// The gradient where operand `i` alone wins, half of it where both are equal.
template <typename OpT>
void extremeVjp(OpT op, Vjp &v, CompareKind lhsWins, CompareKind rhsWins) {
  Value lhs = op.getLhs(), rhs = op.getRhs(), g = v.grad();
  Value half = v.mul(g, 0.5), zero = v.scalar(0, g);
  Value tie = v.compare(CompareKind::eq, lhs, rhs);
  auto share = [&](CompareKind wins) {
    return v.select(v.compare(wins, lhs, rhs), g, v.select(tie, half, zero));
  };
  if (v.needs(0))
    setSummed(v, 0, share(lhsWins));
  if (v.needs(1))
    setSummed(v, 1, share(rhsWins));
}
void maximumVjp(MaximumOp op, Vjp &v) {
  extremeVjp(op, v, CompareKind::gt, CompareKind::lt);
}
void minimumVjp(MinimumOp op, Vjp &v) {
  extremeVjp(op, v, CompareKind::lt, CompareKind::gt);
}

void powVjp(PowOp op, Vjp &v) {
  Value base = op.getLhs(), exponent = op.getRhs();
  if (v.needs(0)) {
    // exponent * base^(exponent - 1); 0 for exponent 0, also at base 0.
    Value power =
        PowOp::create(v.getBuilder(), v.getLoc(), base, v.add(exponent, -1));
    Value slope = v.mul(exponent, power);
    Value isZero = v.compare(CompareKind::eq, exponent, v.scalar(0, exponent));
    slope = v.select(isZero, v.scalar(0, slope), slope);
    setSummed(v, 0, v.mul(v.grad(), slope));
  }
  if (v.needs(1)) {
    // base^exponent * log(base); 0 at base 0 for exponents from 0.
    Value slope = v.mul(op.getResult(), v.unary<LogOp>(base));
    Value flat = AndOp::create(
        v.getBuilder(), v.getLoc(),
        v.compare(CompareKind::eq, base, v.scalar(0, base)),
        v.compare(CompareKind::ge, exponent, v.scalar(0, exponent)));
    slope = v.select(flat, v.scalar(0, slope), slope);
    setSummed(v, 1, v.mul(v.grad(), slope));
  }
}

void atan2Vjp(Atan2Op op, Vjp &v) {
  Value y = op.getLhs(), x = op.getRhs();
  Value share = v.div(v.grad(), v.add(v.mul(x, x), v.mul(y, y)));
  if (v.needs(0))
    setSummed(v, 0, v.mul(share, x));
  if (v.needs(1))
    setSummed(v, 1, v.neg(v.mul(share, y)));
}

// lhs - rhs * round(lhs / rhs), the rounding being the kind's.
void remainderVjp(RemainderOp op, Vjp &v) {
  if (v.needs(0))
    setSummed(v, 0, v.grad());
  if (!v.needs(1))
    return;
  Value quotient = v.div(v.sub(op.getLhs(), op.getResult()), op.getRhs());
  setSummed(v, 1, v.neg(v.mul(v.grad(), v.unary<RoundOp>(quotient))));
}

void selectVjp(SelectOp op, Vjp &v) {
  Value zero = v.scalar(0, v.grad());
  if (v.needs(1))
    setSummed(v, 1, v.select(op.getCondition(), v.grad(), zero));
  if (v.needs(2))
    setSummed(v, 2, v.select(op.getCondition(), zero, v.grad()));
}

} // namespace

void registerBinaryDerivatives(MLIRContext &context) {
  derive<addVjp>(context);
  derive<subVjp>(context);
  derive<mulVjp>(context);
  derive<divVjp>(context);
  derive<maximumVjp>(context);
  derive<minimumVjp>(context);
  derive<powVjp>(context);
  derive<atan2Vjp>(context);
  derive<remainderVjp>(context);
  derive<selectVjp>(context);
}

} // namespace pipec::pipe

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
    setSummed(v, 0, v.chain(v.grad(), op.getRhs()));
  if (v.needs(1))
    setSummed(v, 1, v.chain(v.grad(), op.getLhs()));
}
void divVjp(DivOp op, Vjp &v) {
  Value share = v.chainDiv(v.grad(), op.getRhs());
  if (v.needs(0))
    setSummed(v, 0, share);
  if (v.needs(1))
    setSummed(v, 1, v.neg(v.chain(share, op.getResult())));
}

// The gradient where the operand is not beaten, half of it where both are
// equal: with a NaN both get it, as in ATen. Of a bound lhs gets it strictly
// inside and nowhere else.
template <typename OpT>
void extremeVjp(OpT op, Vjp &v, CompareKind wins, CompareKind loses) {
  Value lhs = op.getLhs(), rhs = op.getRhs(), g = v.grad();
  Value half = v.mul(g, 0.5), zero = v.scalar(0, g);
  if (op.getBound()) {
    Value inside = v.compare(wins, lhs, rhs);
    if (v.needs(0))
      setSummed(v, 0, v.select(inside, g, zero));
    if (v.needs(1))
      setSummed(v, 1, v.select(inside, zero, g));
    return;
  }
  Value tie = v.compare(CompareKind::eq, lhs, rhs);
  auto share = [&](CompareKind beaten) {
    return v.select(v.compare(beaten, lhs, rhs), zero, v.select(tie, half, g));
  };
  if (v.needs(0))
    setSummed(v, 0, share(loses));
  if (v.needs(1))
    setSummed(v, 1, share(wins));
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
    if (op.getFlatAtZero()) {
      Value y = op.getResult();
      slope = v.select(v.compare(CompareKind::eq, y, v.scalar(0, y)),
                       v.scalar(0, slope), slope);
    }
    setSummed(v, 0, v.chain(v.grad(), slope));
  }
  if (v.needs(1)) {
    // base^exponent * log(base); 0 at base 0 for exponents from 0.
    Value slope = v.mul(op.getResult(), v.unary<LogOp>(base));
    Value flat = AndOp::create(
        v.getBuilder(), v.getLoc(),
        v.compare(CompareKind::eq, base, v.scalar(0, base)),
        v.compare(CompareKind::ge, exponent, v.scalar(0, exponent)));
    slope = v.select(flat, v.scalar(0, slope), slope);
    setSummed(v, 1, v.chain(v.grad(), slope));
  }
}

void atan2Vjp(Atan2Op op, Vjp &v) {
  Value y = op.getLhs(), x = op.getRhs();
  Value share = v.chainDiv(v.grad(), v.add(v.mul(x, x), v.mul(y, y)));
  if (v.needs(0))
    setSummed(v, 0, v.chain(share, x));
  if (v.needs(1))
    setSummed(v, 1, v.neg(v.chain(share, y)));
}

// lhs - rhs * round(lhs / rhs), the rounding being the kind's.
void remainderVjp(RemainderOp op, Vjp &v) {
  if (v.needs(0))
    setSummed(v, 0, v.grad());
  if (!v.needs(1))
    return;
  Value quotient = v.div(v.sub(op.getLhs(), op.getResult()), op.getRhs());
  setSummed(v, 1, v.neg(v.chain(v.grad(), v.unary<RoundOp>(quotient))));
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

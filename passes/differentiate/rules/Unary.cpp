// Derivatives of unary elementwise ops and of convert. Rules use the result
// where that is cheaper than the operand. Piecewise constant ops (sign, floor,
// ceil, round) hand on zeros, as ATen does: what is behind them is trained, so
// weight decay moves it.
// Tests: test/unit/passes/differentiate/UnaryDerivativesTest.cpp.
#include "passes/differentiate/Derivatives.h"

#include <cmath>

using namespace mlir;

namespace pipec::pipe {
namespace {

constexpr double kPi = 3.14159265358979323846;

void absVjp(AbsOp op, Vjp &v) {
  // 0 at 0 and NaN, whatever comes in, as ATen's norms.
  Value x = op.getOperand(), g = v.grad(), zero = v.scalar(0, x);
  Value below =
      v.select(v.compare(CompareKind::lt, x, zero), v.neg(g), v.scalar(0, g));
  v.set(0, v.select(v.compare(CompareKind::gt, x, zero), g, below));
}
void negVjp(NegOp, Vjp &v) { v.set(0, v.neg(v.grad())); }
void reluVjp(ReluOp op, Vjp &v) {
  // 0 at 0, the gradient at NaN, as ATen.
  Value flat =
      v.compare(CompareKind::le, op.getResult(), v.scalar(0, op.getResult()));
  v.set(0, v.select(flat, v.scalar(0, v.grad()), v.grad()));
}
void sqrtVjp(SqrtOp op, Vjp &v) {
  Value g = v.grad(), y = op.getResult();
  if (op.getFlatAtZero())
    g = v.select(v.compare(CompareKind::eq, y, v.scalar(0, y)), v.scalar(0, g),
                 g);
  v.set(0, v.chainDiv(g, v.mul(y, 2)));
}
void reciprocalVjp(ReciprocalOp op, Vjp &v) {
  Value y = op.getResult();
  v.set(0, v.neg(v.chain(v.grad(), v.mul(y, y))));
}
void rsqrtVjp(RsqrtOp op, Vjp &v) {
  Value y = op.getResult();
  v.set(0, v.chain(v.mul(v.grad(), -0.5), v.mul(y, v.mul(y, y))));
}
void expVjp(ExpOp op, Vjp &v) { v.set(0, v.chain(v.grad(), op.getResult())); }
void expm1Vjp(Expm1Op op, Vjp &v) {
  // Not the result and 1, which is 0 where e^x is less than their rounding.
  v.set(0, v.chain(v.grad(), v.unary<ExpOp>(op.getOperand())));
}
void logVjp(LogOp op, Vjp &v) {
  v.set(0, v.chainDiv(v.grad(), op.getOperand()));
}
void log1pVjp(Log1pOp op, Vjp &v) {
  v.set(0, v.chainDiv(v.grad(), v.add(op.getOperand(), 1)));
}
void sinVjp(SinOp op, Vjp &v) {
  v.set(0, v.chain(v.grad(), v.unary<CosOp>(op.getOperand())));
}
void cosVjp(CosOp op, Vjp &v) {
  v.set(0, v.neg(v.chain(v.grad(), v.unary<SinOp>(op.getOperand()))));
}
void tanVjp(TanOp op, Vjp &v) {
  Value y = op.getResult();
  v.set(0, v.chain(v.grad(), v.add(v.mul(y, y), 1)));
}
// 1 - x^2, for asin, acos and atanh.
Value oneMinusSquare(Vjp &v, Value x) {
  return v.sub(v.scalar(1, x), v.mul(x, x));
}
void asinVjp(AsinOp op, Vjp &v) {
  v.set(0, v.chain(v.grad(),
                   v.unary<RsqrtOp>(oneMinusSquare(v, op.getOperand()))));
}
void acosVjp(AcosOp op, Vjp &v) {
  v.set(0, v.neg(v.chain(v.grad(), v.unary<RsqrtOp>(
                                       oneMinusSquare(v, op.getOperand())))));
}
void atanVjp(AtanOp op, Vjp &v) {
  Value x = op.getOperand();
  v.set(0, v.chainDiv(v.grad(), v.add(v.mul(x, x), 1)));
}
void sinhVjp(SinhOp op, Vjp &v) {
  v.set(0, v.chain(v.grad(), v.unary<CoshOp>(op.getOperand())));
}
void coshVjp(CoshOp op, Vjp &v) {
  v.set(0, v.chain(v.grad(), v.unary<SinhOp>(op.getOperand())));
}
void tanhVjp(TanhOp op, Vjp &v) {
  v.set(0, v.chain(v.grad(), oneMinusSquare(v, op.getResult())));
}
void asinhVjp(AsinhOp op, Vjp &v) {
  Value x = op.getOperand();
  v.set(0, v.chain(v.grad(), v.unary<RsqrtOp>(v.add(v.mul(x, x), 1))));
}
void acoshVjp(AcoshOp op, Vjp &v) {
  Value x = op.getOperand();
  v.set(0, v.chain(v.grad(), v.unary<RsqrtOp>(v.add(v.mul(x, x), -1))));
}
void atanhVjp(AtanhOp op, Vjp &v) {
  v.set(0, v.chainDiv(v.grad(), oneMinusSquare(v, op.getOperand())));
}
void erfVjp(ErfOp op, Vjp &v) {
  Value x = op.getOperand();
  Value density = v.mul(v.unary<ExpOp>(v.neg(v.mul(x, x))), 2 / std::sqrt(kPi));
  v.set(0, v.chain(v.grad(), density));
}
void sigmoidVjp(SigmoidOp op, Vjp &v) {
  Value y = op.getResult();
  v.set(0, v.chain(v.grad(), v.mul(y, v.sub(v.scalar(1, y), y))));
}
void siluVjp(SiluOp op, Vjp &v) {
  // s * (1 + x * (1 - s))
  Value x = op.getOperand(), s = v.unary<SigmoidOp>(x);
  Value inner = v.add(v.mul(x, v.sub(v.scalar(1, s), s)), 1);
  v.set(0, v.chain(v.grad(), v.mul(s, inner)));
}
void softplusVjp(SoftplusOp op, Vjp &v) {
  v.set(0, v.chain(v.grad(), v.unary<SigmoidOp>(op.getOperand())));
}

// d/dx x * Phi(x) = Phi(x) + x * phi(x).
void exactGeluVjp(GeluOp op, Vjp &v) {
  Value x = op.getOperand();
  Value cdf = v.mul(v.add(v.unary<ErfOp>(v.mul(x, std::sqrt(0.5))), 1), 0.5);
  Value density =
      v.mul(v.unary<ExpOp>(v.mul(v.mul(x, x), -0.5)), 1 / std::sqrt(2 * kPi));
  v.set(0, v.chain(v.grad(), v.add(cdf, v.mul(x, density))));
}
// y = x/2 * (1 + tanh(u)), u = sqrt(2/pi) * (x + 0.044715 x^3).
void tanhGeluVjp(GeluOp op, Vjp &v) {
  constexpr double kCubic = 0.044715;
  const double scale = std::sqrt(2 / kPi);
  Value x = op.getOperand(), square = v.mul(x, x);
  Value u = v.mul(v.mul(x, v.add(v.mul(square, kCubic), 1)), scale);
  Value t = v.unary<TanhOp>(u);
  Value slope = v.mul(v.add(v.mul(square, 3 * kCubic), 1), scale);
  Value left = v.mul(v.add(t, 1), 0.5);
  Value right = v.mul(v.mul(v.mul(x, 0.5), oneMinusSquare(v, t)), slope);
  v.set(0, v.chain(v.grad(), v.add(left, right)));
}
template <typename OpT> void constantVjp(OpT op, Vjp &v) {
  v.set(0, v.zeros(op.getOperand().getType()));
}
void geluVjp(GeluOp op, Vjp &v) {
  op.getTanhApproximation() ? tanhGeluVjp(op, v) : exactGeluVjp(op, v);
}

void convertVjp(ConvertOp op, Vjp &v) {
  v.set(0, v.convert(v.grad(), elementTypeOf(op.getOperand())));
}

} // namespace

void registerUnaryDerivatives(MLIRContext &context) {
  derive<absVjp>(context);
  derive<negVjp>(context);
  derive<reluVjp>(context);
  derive<sqrtVjp>(context);
  derive<reciprocalVjp>(context);
  derive<rsqrtVjp>(context);
  derive<expVjp>(context);
  derive<expm1Vjp>(context);
  derive<logVjp>(context);
  derive<log1pVjp>(context);
  derive<sinVjp>(context);
  derive<cosVjp>(context);
  derive<tanVjp>(context);
  derive<asinVjp>(context);
  derive<acosVjp>(context);
  derive<atanVjp>(context);
  derive<sinhVjp>(context);
  derive<coshVjp>(context);
  derive<tanhVjp>(context);
  derive<asinhVjp>(context);
  derive<acoshVjp>(context);
  derive<atanhVjp>(context);
  derive<erfVjp>(context);
  derive<sigmoidVjp>(context);
  derive<siluVjp>(context);
  derive<softplusVjp>(context);
  derive<geluVjp>(context);
  derive<convertVjp>(context);
  derive<constantVjp<SignOp>>(context);
  derive<constantVjp<FloorOp>>(context);
  derive<constantVjp<CeilOp>>(context);
  derive<constantVjp<RoundOp>>(context);
}

} // namespace pipec::pipe

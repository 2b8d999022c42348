// Elementwise arithmetic, comparison and logic of ONNX.
//
// In: nodes such as Add, Exp, Equal, Where, Cast. Out: one `pipe` op each, or a
// short chain. Tests: test/unit/frontends/ImportTest.cpp,
// test/conformance/onnx_nodes.py.
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"
#include "ir/ElementwiseOps.h"

namespace pipec::onnx {
namespace {

/// ONNX operator and `pipe` op with the same meaning.
struct Namesake {
  const char *onnx, *pipe;
};
constexpr Namesake kUnary[] = {
    {"Abs", "abs"},           {"Neg", "neg"},
    {"Sign", "sign"},         {"Relu", "relu"},
    {"Floor", "floor"},       {"Ceil", "ceil"},
    {"Round", "round"},       {"Sqrt", "sqrt"},
    {"Not", "not"},           {"Reciprocal", "reciprocal"},
    {"Exp", "exp"},           {"BitwiseNot", "bitwise_not"},
    {"Sin", "sin"},           {"Cos", "cos"},
    {"Tan", "tan"},           {"Asin", "asin"},
    {"Acos", "acos"},         {"Atan", "atan"},
    {"Sinh", "sinh"},         {"Cosh", "cosh"},
    {"Tanh", "tanh"},         {"Asinh", "asinh"},
    {"Acosh", "acosh"},       {"Atanh", "atanh"},
    {"Erf", "erf"},           {"Sigmoid", "sigmoid"},
    {"Softplus", "softplus"}, {"IsNaN", "is_nan"},
};
constexpr Namesake kBinary[] = {
    {"Add", "add"},
    {"Sub", "sub"},
    {"Mul", "mul"},
    {"Div", "div"},
    {"And", "and"},
    {"Or", "or"},
    {"Xor", "xor"},
    {"BitwiseAnd", "bitwise_and"},
    {"BitwiseOr", "bitwise_or"},
    {"BitwiseXor", "bitwise_xor"},
};
struct Comparison {
  const char *onnx;
  pipe::CompareKind kind;
};
constexpr Comparison kComparisons[] = {
    {"Equal", pipe::CompareKind::eq},
    {"Less", pipe::CompareKind::lt},
    {"LessOrEqual", pipe::CompareKind::le},
    {"Greater", pipe::CompareKind::gt},
    {"GreaterOrEqual", pipe::CompareKind::ge},
};

void importUnary(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  for (const Namesake &entry : kUnary)
    if (c.op() == entry.onnx)
      c.out(0, c.e.unary(entry.pipe, c.in(0)));
}

/// PyTorch's exporters write log_sigmoid as the log of a sigmoid, which is
/// infinite, as its gradient is NaN, where the sigmoid is too small for its
/// type.
void importLog(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  if (!x.known())
    if (auto sigmoid = c.e.materialize(x).getDefiningOp<pipe::SigmoidOp>()) {
      Val inner = c.e.fromIr(sigmoid.getOperand());
      return c.out(
          0, c.e.unary("neg", c.e.unary("softplus", c.e.unary("neg", inner))));
    }
  c.out(0, c.e.unary("log", x));
}

void importBinary(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  for (const Namesake &entry : kBinary)
    if (c.op() == entry.onnx)
      c.out(0, c.e.binary(entry.pipe, c.in(0), c.in(1)));
}

void importComparison(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  for (const Comparison &entry : kComparisons)
    if (c.op() == entry.onnx)
      c.out(0, c.e.compare(entry.kind, c.in(0), c.in(1)));
}

void importIsInf(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  c.out(0, c.e.emit1("is_inf", {c.in(0)},
                     c.e.attrs()
                         .boolean("detect_positive",
                                  c.intAttr("detect_positive", 1) != 0)
                         .boolean("detect_negative",
                                  c.intAttr("detect_negative", 1) != 0)));
}

/// The result has the base's type, whatever the exponent's.
void importPow(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  Val base = c.in(0), exponent = c.in(1);
  if (!isFloat(base.dtype()) && isFloat(exponent.dtype())) {
    Val power = c.e.binary("pow", c.e.convert(base, DType::F64),
                           c.e.convert(exponent, DType::F64));
    c.out(0, c.e.convert(power, base.dtype()));
    return;
  }
  c.out(0, c.e.binary("pow", base, c.e.convert(exponent, base.dtype())));
}

void importMod(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  bool truncate = c.intAttr("fmod", 0) != 0;
  c.out(0, c.e.remainder(truncate ? pipe::RemainderKind::trunc
                                  : pipe::RemainderKind::floor,
                         c.in(0), c.in(1)));
}

void importBitShift(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  std::string direction = c.stringAttr("direction", "");
  if (!c.require(direction == "LEFT" || direction == "RIGHT",
                 "direction '" + direction + "' is not LEFT or RIGHT"))
    return;
  c.out(0, c.e.binary(direction == "LEFT" ? "shift_left" : "shift_right",
                      c.in(0), c.in(1)));
}

void importWhere(NodeContext &c) {
  if (c.needInputs(3))
    c.out(0, c.e.select(c.in(0), c.in(1), c.in(2)));
}

/// What a Gemm in f16 or bf16 computed before it rounded it to that type, where
/// it goes back to the type that it was computed in: rounding is no aim of such
/// a graph, and ONNX Runtime does not round there either. A Cast that rounds is
/// one: it stays.
Val beforeRounding(NodeContext &c, const Val &x, DType dtype) {
  if (!x || x.known() || (x.dtype() != DType::F16 && x.dtype() != DType::BF16))
    return x;
  auto convert = c.e.materialize(x).getDefiningOp<pipe::ConvertOp>();
  if (!convert || pipe::originOf(convert.getLoc()).op != "Gemm" ||
      pipe::toTensorType(convert.getOperand().getType()).dtype != dtype)
    return x;
  return c.e.fromIr(convert.getOperand());
}

void importCast(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  auto dtype = dtypeFromOnnx(static_cast<int>(c.intAttr("to", 0)));
  if (!dtype.ok())
    return c.refuse(dtype.status().message());
  c.out(0, c.e.convert(beforeRounding(c, c.in(0), *dtype), *dtype));
}

void importCastLike(NodeContext &c) {
  if (c.needInputs(2))
    c.out(0, c.e.convert(c.in(0), c.in(1).dtype()));
}

void importIdentity(NodeContext &c) {
  if (c.hasSequence(0))
    return c.outSequence(*c.sequence(0));
  if (c.needInputs(1))
    c.out(0, c.in(0));
}

constexpr OpEntry kTable[] = {
    {"Abs", 13, importUnary},
    {"Neg", 13, importUnary},
    {"Sign", 13, importUnary},
    {"Relu", 13, importUnary},
    {"Floor", 13, importUnary},
    {"Ceil", 13, importUnary},
    {"Round", 13, importUnary},
    {"Sqrt", 13, importUnary},
    {"Not", 13, importUnary},
    {"Reciprocal", 13, importUnary},
    {"Exp", 13, importUnary},
    {"BitwiseNot", 18, importUnary},
    {"Log", 13, importLog},
    {"Sin", 13, importUnary},
    {"Cos", 13, importUnary},
    {"Tan", 13, importUnary},
    {"Asin", 13, importUnary},
    {"Acos", 13, importUnary},
    {"Atan", 13, importUnary},
    {"Sinh", 13, importUnary},
    {"Cosh", 13, importUnary},
    {"Tanh", 13, importUnary},
    {"Asinh", 13, importUnary},
    {"Acosh", 13, importUnary},
    {"Atanh", 13, importUnary},
    {"Erf", 13, importUnary},
    {"Sigmoid", 13, importUnary},
    {"Softplus", 13, importUnary},
    {"IsNaN", 13, importUnary},
    {"IsInf", 13, importIsInf},
    {"Add", 13, importBinary},
    {"Sub", 13, importBinary},
    {"Mul", 13, importBinary},
    {"Div", 13, importBinary},
    {"And", 13, importBinary},
    {"Or", 13, importBinary},
    {"Xor", 13, importBinary},
    {"BitwiseAnd", 18, importBinary},
    {"BitwiseOr", 18, importBinary},
    {"BitwiseXor", 18, importBinary},
    {"BitShift", 13, importBitShift},
    {"Pow", 13, importPow},
    {"Mod", 13, importMod},
    {"Equal", 13, importComparison},
    {"Less", 13, importComparison},
    {"LessOrEqual", 13, importComparison},
    {"Greater", 13, importComparison},
    {"GreaterOrEqual", 13, importComparison},
    {"Where", 13, importWhere},
    {"Cast", 13, importCast},
    {"CastLike", 15, importCastLike},
    {"Identity", 13, importIdentity},
};

} // namespace

OpTable elementwiseOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx

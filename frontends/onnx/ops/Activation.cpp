// Activation functions of ONNX and the operators that take any number of
// inputs.
//
// In: nodes such as Elu, Gelu, Clip, Dropout, Sum, Max. Out: short chains of
// elementwise `pipe` ops. Tests: test/unit/frontends/ImportTest.cpp,
// test/conformance/onnx_nodes.py.
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

using pipe::CompareKind;

// Gradients at a corner follow the branch that is chosen there, so each
// condition below is the one that ATen's derivative has.

/// `negative` where x <= 0, else x (also where it is NaN): the ELUs.
Val negativePart(Emitter &e, const Val &x, const Val &negative) {
  return e.select(e.compare(CompareKind::le, x, e.number(0, x.dtype())),
                  negative, x);
}
/// x where x > 0, else `negative` (also where it is NaN): the leaky ones.
Val positiveOr(Emitter &e, const Val &x, const Val &negative) {
  return e.select(e.compare(CompareKind::gt, x, e.number(0, x.dtype())), x,
                  negative);
}
/// `kind` is maximum or minimum: x, cut off at the number `bound`.
Val cutOff(Emitter &e, const char *kind, const Val &x, const Val &bound) {
  return e.emit1(kind, {x, bound}, e.attrs().flag("bound", true));
}

void importElu(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  c.out(0, negativePart(c.e, x,
                        c.e.mulNumber(c.e.unary("expm1", x),
                                      c.floatAttr("alpha", 1.0))));
}

void importSelu(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  double alpha = c.floatAttr("alpha", 1.67326319217681884765625);
  double gamma = c.floatAttr("gamma", 1.05070102214813232421875);
  Val x = c.in(0);
  c.out(0,
        c.e.mulNumber(
            negativePart(c.e, x, c.e.mulNumber(c.e.unary("expm1", x), alpha)),
            gamma));
}

void importCelu(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  double alpha = c.floatAttr("alpha", 1.0);
  if (!c.require(alpha != 0, "alpha is 0"))
    return;
  Val x = c.in(0);
  Val grown = c.e.mulNumber(
      c.e.unary("expm1", c.e.div(x, c.e.number(alpha, x.dtype()))), alpha);
  c.out(0, negativePart(c.e, x, grown));
}

void importLeakyRelu(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  c.out(0, positiveOr(
               c.e, x,
               c.e.mul(x, c.e.number(c.floatAttr("alpha", 0.01f), x.dtype()))));
}

void importPRelu(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  Val x = c.in(0);
  c.out(0, positiveOr(c.e, x, c.e.mul(x, c.in(1))));
}

void importThresholdedRelu(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  Val above = c.e.compare(CompareKind::gt, x,
                          c.e.number(c.floatAttr("alpha", 1.0), x.dtype()));
  c.out(0, c.e.select(above, x, c.e.number(0, x.dtype())));
}

void importShrink(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  double lambd = c.floatAttr("lambd", 0.5), bias = c.floatAttr("bias", 0.0);
  Val x = c.in(0);
  // Numbers such as 1.5 only exist in floats: integers shrink there and come
  // back.
  Val wide = isFloat(x.dtype()) ? x : c.e.convert(x, DType::F64);
  Val low =
      c.e.compare(CompareKind::lt, wide, c.e.number(-lambd, wide.dtype()));
  Val high =
      c.e.compare(CompareKind::gt, wide, c.e.number(lambd, wide.dtype()));
  Val zero = c.e.number(0, wide.dtype());
  Val upper = c.e.select(high, c.e.addNumber(wide, -bias), zero);
  c.out(0, c.e.convert(c.e.select(low, c.e.addNumber(wide, bias), upper),
                       x.dtype()));
}

/// min(max(alpha * x + beta, 0), 1)
Val hardSigmoid(Emitter &e, const Val &x, double alpha, double beta) {
  Val line = e.addNumber(e.mulNumber(x, alpha), beta);
  return cutOff(e, "minimum",
                cutOff(e, "maximum", line, e.number(0, x.dtype())),
                e.number(1, x.dtype()));
}

void importHardSigmoid(NodeContext &c) {
  if (c.needInputs(1))
    c.out(0, hardSigmoid(c.e, c.in(0), c.floatAttr("alpha", 0.2f),
                         c.floatAttr("beta", 0.5)));
}

void importHardSwish(NodeContext &c) {
  if (c.needInputs(1))
    c.out(0, c.e.mul(c.in(0), hardSigmoid(c.e, c.in(0), 1.0 / 6.0, 0.5)));
}

void importSoftsign(NodeContext &c) {
  if (c.needInputs(1))
    c.out(0, c.e.div(c.in(0), c.e.addNumber(c.e.unary("abs", c.in(0)), 1)));
}

void importMish(NodeContext &c) {
  if (c.needInputs(1))
    c.out(0,
          c.e.mul(c.in(0), c.e.unary("tanh", c.e.unary("softplus", c.in(0)))));
}

void importSwish(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  double alpha = c.floatAttr("alpha", 1.0);
  Val x = c.in(0);
  c.out(0, alpha == 1.0
               ? c.e.unary("silu", x)
               : c.e.mul(x, c.e.unary("sigmoid", c.e.mulNumber(x, alpha))));
}

void importGelu(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  std::string approximate = c.stringAttr("approximate", "none");
  if (!c.require(approximate == "none" || approximate == "tanh",
                 "approximate '" + approximate + "' is unknown"))
    return;
  c.out(0, c.e.emit1("gelu", {c.in(0)},
                     c.e.attrs().boolean("tanh_approximation",
                                         approximate == "tanh")));
}

/// Whether the bounds of a clamp are numbers: then nothing passes at a bound,
/// where two tensors would share. PyTorch's exporter also writes numbers as
/// tensors that it makes itself.
bool boundsAreNumbers(const NodeContext &c) {
  const FxCall &call = c.call();
  if (call.target.find(".Tensor") == std::string::npos)
    return true;
  const auto &names = call.references;
  return names.size() > 1 &&
         std::all_of(names.begin() + 1, names.end(), [](const auto &name) {
           return llvm::StringRef(name).starts_with("scalar_tensor");
         });
}

/// `kind` of x and the bound, as a clamp's where that is known.
Val clampAt(NodeContext &c, const char *kind, const Val &x, const Val &bound,
            bool isNumber) {
  return isNumber && bound.known() && bound.numElements() == 1
             ? cutOff(c.e, kind, x, bound)
             : c.e.binary(kind, x, bound);
}

void importClip(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  bool numbers = boundsAreNumbers(c);
  if (c.has(1))
    x = clampAt(c, "maximum", x, c.in(1), numbers);
  if (c.has(2) && x)
    x = clampAt(c, "minimum", x, c.in(2), numbers);
  c.out(0, x);
}

void importDropout(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  bool training = false;
  if (c.has(2)) {
    auto mode = c.constantInts(2, "training_mode");
    training = mode && !mode->empty() && (*mode)[0] != 0;
  }
  double ratio = 0.5;
  if (training && c.has(1)) {
    auto given = c.constantNumbers(1, "ratio");
    if (!given ||
        !c.require(given->size() == 1 && (*given)[0] >= 0 && (*given)[0] < 1,
                   "ratio is not in [0, 1)"))
      return;
    ratio = (*given)[0];
  }
  if (training && ratio > 0) {
    c.out(0, c.e.emit1("dropout", {c.in(0)}, c.e.attrs().f64("ratio", ratio)));
    c.cannotMake(1, "is the mask of a Dropout in training mode, which is not "
                    "supported; export the model in eval mode");
    return;
  }
  c.out(0, c.in(0));
  if (c.wantsOutput(1))
    c.out(1, c.e.number(1, DType::Bool, c.in(0).shape()));
}

/// Sum, Mean, Max and Min: the inputs one after the other.
void importVariadic(NodeContext &c) {
  if (!c.require(c.numInputs() > 0, "there is no input") ||
      !c.needInputs(c.numInputs()))
    return;
  const std::string &op = c.op();
  const char *step = op == "Max" ? "maximum" : op == "Min" ? "minimum" : "add";
  Val result = c.in(0);
  // PyTorch's exporter writes a clamp as Max and Min as well.
  bool isClamp = op[0] == 'M' && op != "Mean" && c.numInputs() == 2 &&
                 c.call().target.find("aten.clamp") != std::string::npos &&
                 boundsAreNumbers(c);
  for (int k = 1; k < c.numInputs() && result; ++k)
    result = clampAt(c, step, result, c.in(k), isClamp);
  if (op == "Mean" && c.numInputs() > 1 && result)
    result = c.e.div(result, c.e.number(c.numInputs(), result.dtype()));
  c.out(0, result);
}

constexpr OpEntry kActivations[] = {
    {"Elu", 13, importElu},
    {"Selu", 13, importSelu},
    {"Celu", 13, importCelu},
    {"LeakyRelu", 13, importLeakyRelu},
    {"PRelu", 13, importPRelu},
    {"ThresholdedRelu", 13, importThresholdedRelu},
    {"Shrink", 13, importShrink},
    {"HardSigmoid", 13, importHardSigmoid},
    {"HardSwish", 14, importHardSwish},
    {"Softsign", 13, importSoftsign},
    {"Mish", 18, importMish},
    {"Swish", 24, importSwish},
    {"Gelu", 20, importGelu},
    {"Clip", 13, importClip},
    {"Dropout", 13, importDropout},
};
constexpr OpEntry kVariadic[] = {
    {"Sum", 13, importVariadic},
    {"Mean", 13, importVariadic},
    {"Max", 13, importVariadic},
    {"Min", 13, importVariadic},
};

} // namespace

OpTable activationOps() { return {kActivations, std::size(kActivations)}; }
OpTable variadicOps() { return {kVariadic, std::size(kVariadic)}; }

} // namespace pipec::onnx

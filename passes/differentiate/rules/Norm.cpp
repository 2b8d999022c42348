// Derivatives of normalisations, softmax, dropout and losses. Statistics are
// computed again from the operand: cheaper than keeping them. f16 and bf16
// compute in f32, as the forward kernels do.
// Tests: test/unit/passes/differentiate/NormDerivativesTest.cpp.
#include "passes/differentiate/Derivatives.h"

#include <numeric>

using namespace mlir;

namespace pipec::pipe {
namespace {

Type computeType(Value value) {
  Type type = elementTypeOf(value);
  return type.isF64() ? type : Float32Type::get(type.getContext());
}
Value widened(Vjp &v, Value value) {
  return v.convert(value, computeType(value));
}
Value narrowed(Vjp &v, Value value, Value like) {
  return v.convert(value, elementTypeOf(like));
}

// ---- softmax

void softmaxVjp(SoftmaxOp op, Vjp &v) {
  Value y = widened(v, op.getResult()), g = widened(v, v.grad());
  auto dim = static_cast<int64_t>(op.getDim());
  // Rows without a gradient have none, even where y is NaN: a row of -inf that
  // the forward replaces behind the softmax.
  Value mean = v.reduce(ReduceKind::sum, v.chain(g, y), {dim}, /*keep=*/true);
  v.set(0, narrowed(v, v.chain(v.sub(g, mean), y), op.getOperand()));
}
void logSoftmaxVjp(LogSoftmaxOp op, Vjp &v) {
  Value y = widened(v, op.getResult()), g = widened(v, v.grad());
  auto dim = static_cast<int64_t>(op.getDim());
  Value sum = v.reduce(ReduceKind::sum, g, {dim}, /*keep=*/true);
  v.set(0, narrowed(v, v.sub(g, v.chain(sum, v.unary<ExpOp>(y))),
                    op.getOperand()));
}

// ---- normalisations

// 1 / sqrt(mean(x^2) + eps) over `dims`.
Value inverseDeviation(Vjp &v, Value centred, ShapeRef dims,
                       const llvm::APFloat &epsilon) {
  Value square =
      v.reduce(ReduceKind::mean, v.mul(centred, centred), dims, true);
  return v.unary<RsqrtOp>(v.add(square, epsilon.convertToDouble()));
}

// From the gradient `g` of the normalised value `xh` to that of what was
// normalised: r * (g - mean(g) - xh * mean(g * xh)); without mean(g) where no
// mean was taken off.
Value normGradient(Vjp &v, Value g, Value xh, Value r, ShapeRef dims,
                   bool centred) {
  Value along = v.reduce(ReduceKind::mean, v.chain(g, xh), dims, true);
  Value rest = g;
  if (centred)
    rest = v.sub(rest, v.reduce(ReduceKind::mean, g, dims, true));
  return v.chain(v.sub(rest, v.chain(along, xh)), r);
}

Shape range(int64_t from, int64_t to) {
  Shape dims(to - from);
  std::iota(dims.begin(), dims.end(), from);
  return dims;
}

// layer_norm and rms_norm; `scale` and `bias` are operand positions, or -1.
void axisNormVjp(Vjp &v, Value operand, int64_t axis,
                 const llvm::APFloat &epsilon, bool centre, int scale,
                 int bias) {
  Operation *op = v.getOp();
  auto rank = static_cast<int64_t>(shapeOf(operand).size());
  Shape dims = range(axis, rank);
  Value x = widened(v, operand), g = widened(v, v.grad());
  if (centre)
    x = v.sub(x, v.reduce(ReduceKind::mean, x, dims, true));
  Value r = inverseDeviation(v, x, dims, epsilon);
  Value xh = v.mul(x, r);
  if (v.needs(0)) {
    Value scaled =
        scale < 0 ? g : v.chain(g, widened(v, op->getOperand(scale)));
    v.set(0,
          narrowed(v, normGradient(v, scaled, xh, r, dims, centre), operand));
  }
  ShapeRef normalised = shapeOf(operand).drop_front(axis);
  if (scale >= 0 && v.needs(scale))
    v.set(scale, narrowed(v, v.sumTo(v.chain(g, xh), normalised), operand));
  if (bias >= 0 && v.needs(bias))
    v.set(bias, narrowed(v, v.sumTo(g, normalised), operand));
}

void layerNormVjp(LayerNormOp op, Vjp &v) {
  int next = 1;
  int scale = op.getScale() ? next++ : -1;
  int bias = op.getBias() ? next++ : -1;
  axisNormVjp(v, op.getOperand(), op.getAxis(), op.getEpsilon(),
              /*centre=*/true, scale, bias);
}
void rmsNormVjp(RmsNormOp op, Vjp &v) {
  axisNormVjp(v, op.getOperand(), op.getAxis(), op.getEpsilon(),
              /*centre=*/false, op.getScale() ? 1 : -1, -1);
}

// C elements as [C, 1, ..], to stand beside N C *.
Value perChannel(Vjp &v, Value channels, size_t rank) {
  Shape shape(rank - 1, 1);
  shape[0] = shapeOf(channels)[0];
  return v.reshape(channels, shape);
}
// Sums N C * to C.
Value channelSum(Vjp &v, Value x) {
  Shape dims = range(2, static_cast<int64_t>(shapeOf(x).size()));
  dims.insert(dims.begin(), 0);
  return v.reduce(ReduceKind::sum, x, dims, /*keep=*/false);
}

void groupNormVjp(GroupNormOp op, Vjp &v) {
  Value operand = op.getOperand();
  ShapeRef shape = shapeOf(operand);
  auto groups = static_cast<int64_t>(op.getGroups());
  int next = 1;
  int scale = op.getScale() ? next++ : -1;
  int bias = op.getBias() ? next++ : -1;
  int64_t perGroup = shape[1] / groups;
  for (int64_t size : shape.drop_front(2))
    perGroup *= size;
  Shape grouped{shape[0], groups, perGroup}, last{2};
  Value x = v.reshape(widened(v, operand), grouped);
  Value g = widened(v, v.grad());
  x = v.sub(x, v.reduce(ReduceKind::mean, x, last, true));
  Value r = inverseDeviation(v, x, last, op.getEpsilon());
  Value xh = v.mul(x, r);
  if (v.needs(0)) {
    Value scaled = g;
    if (scale >= 0)
      scaled =
          v.chain(g, perChannel(v, widened(v, op.getScale()), shape.size()));
    Value dx = normGradient(v, v.reshape(scaled, grouped), xh, r, last, true);
    v.set(0, narrowed(v, v.reshape(dx, shape), operand));
  }
  if (scale >= 0 && v.needs(scale))
    v.set(scale, narrowed(v, channelSum(v, v.chain(g, v.reshape(xh, shape))),
                          operand));
  if (bias >= 0 && v.needs(bias))
    v.set(bias, narrowed(v, channelSum(v, g), operand));
}

// Inference form: the statistics are operands.
void batchNormVjp(BatchNormOp op, Vjp &v) {
  enum { kX, kScale, kBias, kMean, kVariance };
  Value operand = op.getOperand();
  size_t rank = shapeOf(operand).size();
  auto channel = [&](Value value) {
    return perChannel(v, widened(v, value), rank);
  };
  Value g = widened(v, v.grad());
  Value r = v.unary<RsqrtOp>(
      v.add(channel(op.getVariance()), op.getEpsilon().convertToDouble()));
  Value scaled = v.chain(v.chain(g, channel(op.getScale())), r);
  Value centred = v.sub(widened(v, operand), channel(op.getMean()));
  auto set = [&](unsigned i, Value value) {
    v.set(i, narrowed(v, value, operand));
  };
  if (v.needs(kX))
    set(kX, scaled);
  if (v.needs(kScale))
    set(kScale, channelSum(v, v.chain(g, v.mul(centred, r))));
  if (v.needs(kBias))
    set(kBias, channelSum(v, g));
  if (v.needs(kMean))
    set(kMean, v.neg(channelSum(v, scaled)));
  if (v.needs(kVariance)) {
    Value sum = channelSum(v, v.chain(v.chain(scaled, centred), v.mul(r, r)));
    set(kVariance, v.mul(sum, -0.5));
  }
}

// ---- dropout and losses

LogicalResult dropoutVjp(DropoutOp op, Vjp &v) {
  if (!op.getKey())
    return op.emitOpError("has no key; run pipe-import-seed-dropout first");
  v.set(0, DropoutOp::create(v.getBuilder(), v.getLoc(), v.grad(), op.getKey(),
                             op.getRatio(), op.getStream()));
  return success();
}

void crossEntropyVjp(CrossEntropyOp op, Vjp &v) {
  v.set(0, CrossEntropyGradOp::create(
               v.getBuilder(), v.getLoc(), op.getLogits(), op.getLabels(),
               v.grad(), op.getIgnoreIndex(), op.getLabelSmoothing()));
}

} // namespace

void registerNormDerivatives(MLIRContext &context) {
  derive<softmaxVjp>(context);
  derive<logSoftmaxVjp>(context);
  derive<layerNormVjp>(context);
  derive<rmsNormVjp>(context);
  derive<groupNormVjp>(context);
  derive<batchNormVjp>(context);
  derive<dropoutVjp>(context);
  derive<crossEntropyVjp>(context);
}

} // namespace pipec::pipe

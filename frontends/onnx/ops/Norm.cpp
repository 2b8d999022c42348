// Normalisations and softmax of ONNX.
//
// In: LayerNormalization, BatchNormalization, Softmax and their siblings. Out:
// the composites of the `pipe` dialect where their form fits, else elementwise
// ops and reductions. Tests: test/unit/frontends/ImportTest.cpp.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"
#include "ir/PipelineOps.h"
#include "ir/ShapeInference.h"
#include "ir/ShapeOps.h"

namespace pipec::onnx {
namespace {

using pipe::ReduceKind;

Shape lastDims(const Val &x, int64_t axis) {
  Shape dims;
  for (int64_t d = axis; d < x.rank(); ++d)
    dims.push_back(d);
  return dims;
}

/// Scale or bias of layer_norm and rms_norm: usable by the composite when it
/// has the shape that is normalised.
bool fitsNormalized(const Val &vector, const Val &x, int64_t axis) {
  return vector.shape() == Shape(x.shape().begin() + axis, x.shape().end()) &&
         vector.dtype() == x.dtype();
}

void importLayerNorm(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  Val x = c.in(0), scale = c.in(1), bias = c.in(2);
  auto axis = c.axisAttr("axis", -1, x.rank());
  if (!axis)
    return;
  double epsilon = c.floatAttr("epsilon", 1e-5f);
  bool wholeScale = fitsNormalized(scale, x, *axis),
       wholeBias = wholeScale && bias && fitsNormalized(bias, x, *axis);
  std::vector<Val> operands{x};
  if (wholeScale)
    operands.push_back(scale);
  if (wholeBias)
    operands.push_back(bias);
  Val result = c.e.emit1("layer_norm", operands,
                         c.e.attrs()
                             .i64("axis", *axis)
                             .f64("epsilon", epsilon)
                             .segments({1, wholeScale, wholeBias}));
  if (!wholeScale)
    result = c.e.mul(result, c.e.convert(scale, x.dtype()));
  if (bias && !wholeBias)
    result = c.e.add(result, c.e.convert(bias, x.dtype()));
  c.out(0, result);
  if (!c.wantsOutput(1) && !c.wantsOutput(2))
    return;
  Shape dims = lastDims(x, *axis);
  Val wide = c.e.convert(x, x.dtype() == DType::F64 ? DType::F64 : DType::F32);
  Val mean = c.e.reduce(ReduceKind::mean, wide, dims, true);
  Val centred = c.e.sub(wide, mean);
  Val variance =
      c.e.reduce(ReduceKind::mean, c.e.mul(centred, centred), dims, true);
  c.out(1, mean);
  if (c.wantsOutput(2) && variance)
    c.out(2, c.e.unary("rsqrt", c.e.addNumber(variance, epsilon)));
}

void importRmsNorm(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  Val x = c.in(0), scale = c.in(1);
  auto axis = c.axisAttr("axis", -1, x.rank());
  if (!axis)
    return;
  Attrs attributes = c.e.attrs()
                         .i64("axis", *axis)
                         .f64("epsilon", c.floatAttr("epsilon", 1e-5f));
  if (fitsNormalized(scale, x, *axis))
    c.out(0, c.e.emit1("rms_norm", {x, scale}, attributes));
  else
    c.out(0, c.e.mul(c.e.emit1("rms_norm", {x}, attributes),
                     c.e.convert(scale, x.dtype())));
}

void outGroupNorm(NodeContext &c, const Val &scale, const Val &bias,
                  int64_t groups) {
  c.out(0, c.e.emit1("group_norm", {c.in(0), scale, bias},
                     c.e.attrs()
                         .i64("groups", groups)
                         .f64("epsilon", c.floatAttr("epsilon", 1e-5f))
                         .segments({1, 1, 1})));
}

void importInstanceNorm(NodeContext &c) {
  if (c.needInputs(3) &&
      c.require(c.in(0).rank() >= 2,
                "data " + shapeText(c.in(0).shape()) + " has no channels"))
    outGroupNorm(c, c.in(1), c.in(2), c.in(0).dim(1));
}

/// One value a group (opset 18) or a channel (opset 21); the op takes one a
/// channel.
Val perChannel(Emitter &e, const Val &vector, int64_t groups,
               int64_t channels) {
  if (vector.numElements() == channels || groups <= 0 ||
      vector.numElements() != groups)
    return vector;
  return e.reshape(
      e.broadcast(e.reshape(vector, {groups, 1}), {groups, channels / groups}),
      {channels});
}

void importGroupNorm(NodeContext &c) {
  if (!c.needInputs(3))
    return;
  Val x = c.in(0);
  int64_t groups = c.intAttr("num_groups", 0);
  if (c.require(x.rank() >= 2 && groups > 0 && x.dim(1) % groups == 0,
                "num_groups " + std::to_string(groups) + " does not fit " +
                    shapeText(x.shape())))
    outGroupNorm(
        c, perChannel(c.e, c.e.convert(c.in(1), x.dtype()), groups, x.dim(1)),
        perChannel(c.e, c.e.convert(c.in(2), x.dtype()), groups, x.dim(1)),
        groups);
}

/// Whether no graph input has a part in it.
bool isOfWeights(mlir::Value value) {
  llvm::SmallVector<mlir::Value> left{value};
  llvm::DenseSet<mlir::Operation *> seen;
  while (!left.empty()) {
    mlir::Operation *op = left.pop_back_val().getDefiningOp();
    if (!op)
      return false;
    if (seen.insert(op).second)
      left.append(op->operand_begin(), op->operand_end());
  }
  return true;
}

/// Weight standardisation (F.batch_norm of a convolution's weight): statistics
/// of the tensor itself, whatever the batch, so no buffer moves.
void outStandardised(NodeContext &c) {
  Val x = c.in(0);
  Shape others, channels(x.rank(), 1);
  channels[1] = x.dim(1);
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != 1)
      others.push_back(d);
  Val mean = c.e.reduce(ReduceKind::mean, x, others, true);
  Val centred = c.e.sub(x, mean);
  Val variance =
      c.e.reduce(ReduceKind::mean, c.e.mul(centred, centred), others, true);
  Val inverse = c.e.unary(
      "rsqrt", c.e.addNumber(variance, c.floatAttr("epsilon", 1e-5f)));
  Val scaled = c.e.mul(c.e.mul(centred, inverse),
                       c.e.reshape(c.e.convert(c.in(1), x.dtype()), channels));
  c.out(0, c.e.add(scaled,
                   c.e.reshape(c.e.convert(c.in(2), x.dtype()), channels)));
}

/// Of instance normalisation with running statistics, which exporters write as
/// the batch normalisation of one row with all rows' channels: the rows for
/// which the exporter repeated a parameter or buffer in the file, knowing the
/// size of the batch; else 1.
int64_t rowsRepeatedAtExport(NodeContext &c) {
  auto reshape = c.e.materialize(c.in(0)).getDefiningOp<pipe::ReshapeOp>();
  if (!reshape || c.in(0).dim(0) != 1 ||
      c.call().target.find("aten.instance_norm") == std::string::npos)
    return 1;
  for (int k = 1; k < 5; ++k) {
    auto load = c.e.materialize(c.in(k)).getDefiningOp<pipe::LoadWeightOp>();
    auto weight =
        load ? mlir::SymbolTable::lookupNearestSymbolFrom<pipe::WeightOp>(
                   load, load.getWeightAttr())
             : pipe::WeightOp();
    if (weight && weight.getKind() != pipe::WeightKind::constant)
      return pipe::shapeOf(reshape.getOperand())[0];
  }
  return 1;
}

void importBatchNorm(NodeContext &c) {
  if (!c.needInputs(5))
    return;
  if (c.training)
    if (int64_t rows = rowsRepeatedAtExport(c); rows > 1)
      return c.refuse("the file holds the parameters and statistics of this "
                      "InstanceNorm " +
                      std::to_string(rows) +
                      " times, once for each row of the batch that it was "
                      "exported with: to train it, export with a dynamic batch "
                      "size, or with optimize=False");
  bool trained = c.intAttr("training_mode", 0) != 0;
  if (trained && c.in(0).rank() >= 2 &&
      c.in(1).numElements() == c.in(0).dim(1) &&
      c.in(2).numElements() == c.in(0).dim(1) &&
      isOfWeights(c.e.materialize(c.in(0))))
    return outStandardised(c);
  if (trained && !c.training)
    return c.refuse("BatchNormalization in training mode normalises with each "
                    "batch's statistics: train with this file; to run it, "
                    "export the model in eval mode");
  std::vector<Val> operands{c.in(0)};
  for (int k = 1; k < 5; ++k)
    operands.push_back(c.e.convert(c.in(k), c.in(0).dtype()));
  c.out(0, c.e.emit1("batch_norm", operands,
                     c.e.attrs()
                         .f64("epsilon", c.floatAttr("epsilon", 1e-5f))
                         .f64("momentum", c.floatAttr("momentum", 0.9f))
                         // ONNX moves the population's variance, PyTorch the
                         // unbiased one.
                         .boolean("population_variance",
                                  trained && !c.isFromPyTorch())));
}

void importLpNorm(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  auto axis = c.axisAttr("axis", -1, x.rank());
  int64_t p = c.intAttr("p", 2);
  if (!axis ||
      !c.require(p == 1 || p == 2, "p " + std::to_string(p) + " is not 1 or 2"))
    return;
  Val powers = p == 1 ? c.e.unary("abs", x) : c.e.mul(x, x);
  Val norm = c.e.reduce(ReduceKind::sum, powers, {*axis}, true);
  if (p == 2)
    norm = c.e.unary("sqrt", norm);
  // A zero vector stays zero.
  Val zero = c.e.compare(pipe::CompareKind::eq, norm, c.e.number(0, x.dtype()));
  c.out(0, c.e.div(x, c.e.select(zero, c.e.number(1, x.dtype()), norm)));
}

void importMeanVariance(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  auto axes = c.sortedAxes(c.intsAttr("axes", {0, 2, 3}), x.rank());
  if (!axes)
    return;
  Val mean = c.e.reduce(ReduceKind::mean, x, *axes, true);
  // Not as E[x^2] - E[x]^2, which cancels and is below 0 for constant rows.
  Val centred = c.e.sub(x, mean);
  Val deviation =
      c.e.unary("sqrt", c.e.reduce(ReduceKind::mean, c.e.mul(centred, centred),
                                   *axes, true));
  if (deviation)
    c.out(0, c.e.div(centred, c.e.addNumber(deviation, 1e-9)));
}

/// Local response normalisation: x / (bias + alpha / size * sum of squares of
/// neighbouring channels)^beta.
void importLrn(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  int64_t size = c.intAttr("size", 0);
  constexpr int64_t kMostChannels = 1024;
  if (!c.require(x.rank() >= 2 && size > 0 && size <= kMostChannels,
                 "size " + std::to_string(size) + " does not fit"))
    return;
  Shape low(x.rank(), 0), high(x.rank(), 0);
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  Val squares = c.e.pad(pipe::PadMode::constant, c.e.mul(x, x),
                        c.e.number(0, x.dtype()), low, high);
  Val sum;
  for (int64_t k = 0; k < size && c.ok(); ++k) {
    Val shifted = c.e.sliceDim(squares, 1, k, k + x.dim(1));
    sum = k ? c.e.add(sum, shifted) : shifted;
  }
  if (!sum)
    return;
  Val scale = c.e.addNumber(c.e.mulNumber(sum, c.floatAttr("alpha", 1e-4f) /
                                                   static_cast<double>(size)),
                            c.floatAttr("bias", 1.0));
  c.out(0, c.e.div(x, c.e.binary(
                          "pow", scale,
                          c.e.number(c.floatAttr("beta", 0.75), x.dtype()))));
}

void importSoftmax(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  if (auto axis = c.axisAttr("axis", -1, c.in(0).rank()))
    c.out(0, c.e.emit1(c.op() == "Softmax" ? "softmax" : "log_softmax",
                       {c.in(0)}, c.e.attrs().i64("dim", *axis)));
}

constexpr OpEntry kNorms[] = {
    {"LayerNormalization", 17, importLayerNorm},
    {"RMSNormalization", 23, importRmsNorm},
    {"InstanceNormalization", 13, importInstanceNorm},
    {"GroupNormalization", 18, importGroupNorm},
    {"BatchNormalization", 13, importBatchNorm},
    {"LpNormalization", 13, importLpNorm},
    {"MeanVarianceNormalization", 13, importMeanVariance},
    {"LRN", 13, importLrn},
};
constexpr OpEntry kSoftmax[] = {{"Softmax", 13, importSoftmax},
                                {"LogSoftmax", 13, importSoftmax}};

} // namespace

OpTable normOps() { return {kNorms, std::size(kNorms)}; }
OpTable softmaxOps() { return {kSoftmax, std::size(kSoftmax)}; }

} // namespace pipec::onnx

// Losses of ONNX.
//
// In: SoftmaxCrossEntropyLoss, NegativeLogLikelihoodLoss. Out: log_softmax, a
// gather of the label's element, and a weighted reduction. Tests:
// test/unit/frontends/ImportTest.cpp, test/conformance/onnx_nodes.py.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

namespace pipec::onnx {
namespace {

/// Weight of each label, 0 where it is the ignored one; empty when all count
/// alike.
Val labelWeights(NodeContext &c, const Val &safe, const Val &ignored,
                 DType dtype) {
  Val weights =
      c.has(2) ? c.e.gather(c.e.convert(c.in(2), dtype), safe, 0) : Val();
  if (!ignored)
    return weights;
  return c.e.select(ignored, c.e.number(0, dtype),
                    weights ? weights : c.e.number(1, dtype));
}

void outLoss(NodeContext &c, const Val &logProbabilities) {
  Emitter &e = c.e;
  Val labels = e.convert(c.in(1), DType::I64);
  Shape column = labels.shape();
  if (!c.require(
          logProbabilities && logProbabilities.rank() == labels.rank() + 1 &&
              labels.rank() >= 1,
          "scores " + shapeText(logProbabilities.shape()) + " and labels " +
              shapeText(labels.shape()) + " do not fit"))
    return;
  column.insert(column.begin() + 1, 1);
  Val safe = labels, ignored;
  if (c.hasAttr("ignore_index")) {
    Val index = e.reshape(e.ints({c.intAttr("ignore_index", 0)}), {});
    ignored = e.compare(pipe::CompareKind::eq, labels, index);
    safe = e.select(ignored, e.number(0, DType::I64), labels);
  }
  DType dtype = logProbabilities.dtype();
  Val picked =
      e.emit1("gather_elements", {logProbabilities, e.reshape(safe, column)},
              e.attrs().i64("dim", 1));
  Val loss = e.unary("neg", e.reshape(picked, labels.shape()));
  Val weights = labelWeights(c, safe, ignored, dtype);
  if (!c.ok())
    return;
  if (weights)
    loss = e.mul(loss, weights);
  std::string reduction = c.stringAttr("reduction", "mean");
  Shape all = iotaShape(labels.rank());
  if (reduction == "none") {
    c.out(0, loss);
  } else if (reduction == "sum") {
    c.out(0, e.reduce(pipe::ReduceKind::sum, loss, all, false));
  } else if (c.require(reduction == "mean",
                       "reduction '" + reduction + "' is unknown")) {
    if (!weights)
      return c.out(0, e.reduce(pipe::ReduceKind::mean, loss, all, false));
    Val count = e.reduce(pipe::ReduceKind::sum,
                         e.broadcast(weights, labels.shape()), all, false);
    c.out(0, e.div(e.reduce(pipe::ReduceKind::sum, loss, all, false), count));
  }
}

void importCrossEntropy(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  if (!c.require(c.in(0).rank() >= 2,
                 "scores " + shapeText(c.in(0).shape()) + " have no classes"))
    return;
  Val logProbabilities =
      c.e.emit1("log_softmax", {c.in(0)}, c.e.attrs().i64("dim", 1));
  outLoss(c, logProbabilities);
  c.out(1, logProbabilities);
}

void importNegativeLogLikelihood(NodeContext &c) {
  if (c.needInputs(2))
    outLoss(c, c.in(0));
}

constexpr OpEntry kTable[] = {
    {"SoftmaxCrossEntropyLoss", 13, importCrossEntropy},
    {"NegativeLogLikelihoodLoss", 13, importNegativeLogLikelihood},
};

} // namespace

OpTable lossOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx

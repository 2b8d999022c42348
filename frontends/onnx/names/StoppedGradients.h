// Where PyTorch's gradient ends: the results of Tensor.detach().
//
// In: a Model of torch.onnx.export(dynamo=True); other files have no trace.
// Out: inputs of nodes. Tests: test/unit/frontends/StoppedGradientsTest.cpp.
#ifndef PIPEC_FRONTENDS_ONNX_NAMES_STOPPEDGRADIENTS_H
#define PIPEC_FRONTENDS_ONNX_NAMES_STOPPEDGRADIENTS_H

#include "frontends/onnx/metadata/Model.h"

namespace pipec::onnx {

struct StoppedGradients {
  std::set<std::pair<int, int>> inputs; // (node, input)
  /// In a model that detaches: nodes whose call names a value that the
  /// exporter's optimizer merged with another or took away, so that it may be a
  /// detached one. Nothing is stopped there.
  std::vector<int> unclear;
  /// Nodes that read one value for two, which equal calls made, or a value for
  /// its clone, as in x.detach().clone(): where a value was detached before,
  /// nothing else is left of that.
  std::vector<int> merged;
};

StoppedGradients findStoppedGradients(const Model &model);

} // namespace pipec::onnx

#endif

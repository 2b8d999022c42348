// Runs a graph that pipe-differentiate made, for its loss and gradients.
#ifndef PIPEC_TEST_UNIT_PASSES_DIFFERENTIATE_TRAININGINTERPRETER_H
#define PIPEC_TEST_UNIT_PASSES_DIFFERENTIATE_TRAININGINTERPRETER_H

#include "test/unit/support/GraphInterpreter.h"

#include <map>

namespace pipec::test {

/// Contributions by weight, in ascending order of sites.
using Gradients = std::map<std::string, std::vector<Tensor>>;

struct Step {
  Tensor loss;
  Gradients gradients;
};

/// The graph's first result and what its pipe.gradient ops got. Sites that are
/// missing or stand twice are an error. `libraries`: by the kernels that the
/// runtime takes, else by the reference ones.
inline StatusOr<Step> runStep(pipe::GraphOp graph,
                              const std::vector<Tensor> &inputs,
                              const TensorMap &weights,
                              bool libraries = false) {
  pipe::testing::GraphInterpreter interpreter(weights);
  if (libraries)
    interpreter.useLibraries();
  PIPEC_ASSIGN_OR_RETURN(std::vector<Tensor> results,
                         interpreter.run(graph, inputs));
  Step step{results.at(0), {}};
  for (const auto &[weight, sites] : interpreter.gradients())
    for (const auto &[site, tensor] : sites) {
      if (site != static_cast<int64_t>(step.gradients[weight].size()))
        return invalidArgument("sites of " + weight + " are not counted up");
      step.gradients[weight].push_back(tensor);
    }
  return step;
}

inline double elementOf(const Tensor &tensor, size_t i) {
  switch (tensor.dtype()) {
  case DType::F64:
    return tensor.as<double>()[i];
  case DType::F32:
    return tensor.as<float>()[i];
  case DType::F16:
    return halfToFloat(tensor.as<uint16_t>()[i]);
  default:
    return bfloat16ToFloat(tensor.as<uint16_t>()[i]);
  }
}

/// Their sum in f64, element by element.
inline std::vector<double> sumOfSites(const std::vector<Tensor> &sites) {
  std::vector<double> sum;
  for (const Tensor &tensor : sites) {
    sum.resize(static_cast<size_t>(tensor.numElements()));
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += elementOf(tensor, i);
  }
  return sum;
}

inline bool sameBits(const Gradients &a, const Gradients &b) {
  if (a.size() != b.size())
    return false;
  for (const auto &[weight, sites] : a) {
    auto other = b.find(weight);
    if (other == b.end() || other->second.size() != sites.size())
      return false;
    for (size_t i = 0; i < sites.size(); ++i)
      if (!pipe::testing::sameBits(sites[i], other->second[i]))
        return false;
  }
  return true;
}

} // namespace pipec::test

#endif // PIPEC_TEST_UNIT_PASSES_DIFFERENTIATE_TRAININGINTERPRETER_H

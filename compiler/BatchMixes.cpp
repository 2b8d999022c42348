// Findings of passes/partition/BatchCoupling.h in the model file's own names.
// Tests: test/e2e/cli/batch-mixes.test.
#include "compiler/BatchMixes.h"

#include "ir/OpDescs.h"
#include "passes/partition/BatchCoupling.h"

namespace pipec {

static pipe::RowJoin rowJoin(Merge merge) {
  switch (merge) {
  case Merge::Concat:
    return pipe::RowJoin::concat;
  case Merge::Mean:
    return pipe::RowJoin::mean;
  case Merge::Sum:
    return pipe::RowJoin::sum;
  case Merge::Same:        // the runtime compares them
  case Merge::Unspecified: // refused before anything runs
    break;
  }
  return pipe::RowJoin::none;
}

std::vector<std::string> describeBatchMixes(pipe::GraphOp graph, int64_t rows,
                                            const onnx::ModelInterface &model,
                                            const CompileOptions &options) {
  auto joinOf = [&](unsigned i) {
    // A loss that the model computes itself is averaged, the others are sums.
    using Loss = TrainingOptions::Loss;
    if (options.training)
      return options.training->loss == Loss::Output && options.training->mean
                 ? pipe::RowJoin::mean
                 : pipe::RowJoin::sum;
    return rowJoin(
        mergeOf(model, options, graph.getOutputName(i).str(),
                {{rows, pipe::toTensorType(graph.getResultTypes()[i])}}));
  };
  std::vector<std::string> mixes;
  for (const pipe::BatchMix &mix : pipe::findBatchMixes(graph, joinOf))
    mixes.push_back(pipe::originOf(mix.op->getLoc()).str() + " " +
                    mix.what.str());
  return mixes;
}

std::string batchMixWarning(const std::vector<std::string> &mixes,
                            const std::string &remedy) {
  std::string text = "warning: " + mixes[0];
  const size_t more = mixes.size() - 1;
  if (more)
    text += ", as " + std::to_string(more) + " more " +
            (more == 1 ? "operation does" : "operations do") +
            " in one way or another";
  return text + ": results differ from those of the whole batch; " + remedy;
}

} // namespace pipec

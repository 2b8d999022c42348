// Findings of passes/partition/BatchCoupling.h in the model file's own names.
// Tests: test/e2e/cli/batch-mixes.test.
#include "compiler/BatchMixes.h"

#include "ir/GraphBoundary.h"
#include "ir/OpDescs.h"
#include "passes/partition/BatchCoupling.h"
#include "passes/partition/Passes.h"

#include <algorithm>
#include <set>

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

/// Names of outputs that have the batch on two axes by the file's names of
/// axes.
static std::set<std::string> namedPairs(const frontend::ModelInterface &model,
                                        const CompileOptions &options) {
  std::set<std::string> batch, pairs;
  for (const auto &input : model.inputs)
    if (!isWholeInput(input, options) && !input.shape.empty() &&
        !input.shape[0].symbol.empty())
      batch.insert(input.shape[0].symbol);
  for (const auto &output : model.outputs) {
    if (options.training && !options.training->output.empty() &&
        options.training->output != output.name)
      continue;
    if (output.shape.empty() || !batch.count(output.shape[0].symbol))
      continue;
    const std::string &symbol = output.shape[0].symbol;
    if (std::any_of(output.shape.begin() + 1, output.shape.end(),
                    [&](const auto &dim) { return dim.symbol == symbol; }))
      pairs.insert(output.name);
  }
  return pairs;
}

/// Whether dimension 0 of an output of `graph`, and another one, have `rows`.
static bool hasTwo(pipe::GraphOp graph, const std::string &output,
                   int64_t rows) {
  std::optional<unsigned> at = pipe::findOutput(graph, output);
  if (!at)
    return false;
  const std::vector<int64_t> shape =
      pipe::toTensorType(graph.getResultTypes()[*at]).shape;
  return std::count(shape.begin(), shape.end(), rows) > 1 && shape[0] == rows;
}

std::vector<std::string> describeBatchPairs(
    const frontend::ModelInterface &model, const CompileOptions &options,
    llvm::function_ref<mlir::OwningOpRef<mlir::ModuleOp>(int64_t)> importRows) {
  std::vector<std::string> mixes;
  std::set<std::string> pairs = namedPairs(model, options);
  // Two sizes that a model is unlikely to have itself, and shares no axis with.
  for (int64_t rows : {11, 13}) {
    if (pairs.empty())
      return {};
    auto module = importRows(rows);
    for (auto at = pairs.begin(); at != pairs.end();)
      at = module && hasTwo(pipe::findGraph(*module), *at, rows)
               ? std::next(at)
               : pairs.erase(at);
  }
  for (const auto &output : model.outputs)
    if (pairs.count(output.name))
      mixes.push_back("output '" + output.name + "' has a value for each two " +
                      "rows of the batch ('" + output.shape[0].symbol +
                      "' on two axes)");
  return mixes;
}

std::vector<std::string>
describeBatchMixes(pipe::GraphOp graph, int64_t rows,
                   const frontend::ModelInterface &model,
                   const CompileOptions &options, bool lossAdds) {
  auto joinOf = [&](unsigned i) {
    // A loss that the model computes itself is averaged, the others are sums.
    using Loss = TrainingOptions::Loss;
    if (options.training)
      return options.training->loss == Loss::Output && options.training->mean &&
                     !lossAdds
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

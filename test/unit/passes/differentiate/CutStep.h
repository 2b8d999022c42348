// Cuts a graph, differentiates it and runs a step of it.
#ifndef PIPEC_TEST_UNIT_PASSES_DIFFERENTIATE_CUTSTEP_H
#define PIPEC_TEST_UNIT_PASSES_DIFFERENTIATE_CUTSTEP_H

#include "passes/differentiate/Passes.h"
#include "passes/partition/Passes.h"
#include "test/unit/passes/differentiate/TrainingInterpreter.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

namespace pipec::test {

/// Whether `module`'s graph could be cut before those nodes; then it is, and
/// differentiated.
inline bool cutAndDifferentiate(mlir::ModuleOp module,
                                const std::vector<int64_t> &cuts,
                                const std::string &recompute) {
  pipe::GraphOp graph = pipe::findGraph(module);
  std::vector<pipe::Cut> list;
  for (int64_t position : cuts)
    list.push_back({position, "test"});
  pipe::annotateStages(
      graph, pipe::planFromCuts(list, pipe::collectGraphNodes(graph)));
  mlir::PassManager cutting(module.getContext()), training(module.getContext());
  pipe::buildPartitionPipeline(cutting);
  {
    mlir::ScopedDiagnosticHandler quiet(
        module.getContext(),
        [](mlir::Diagnostic &) { return mlir::success(); });
    if (mlir::failed(cutting.run(module)))
      return false;
  }
  pipe::DifferentiateOptions options;
  options.recompute = recompute;
  training.addPass(pipe::createDifferentiate(options));
  EXPECT_TRUE(mlir::succeeded(training.run(module)));
  return true;
}

} // namespace pipec::test

#endif // PIPEC_TEST_UNIT_PASSES_DIFFERENTIATE_CUTSTEP_H

// One run of `pipec train`: trainers, a batch a step, a log.
#ifndef PIPEC_TOOLS_PIPEC_TRAINRUN_H
#define PIPEC_TOOLS_PIPEC_TRAINRUN_H

#include "compiler/Temporaries.h"
#include "tools/pipec/TrainArguments.h"

#include <cstdio>
#include <memory>
#include <optional>

namespace pipec::tool {

/// Compiles a plan for each shape that batches come in, or takes the package
/// that is given, and trains. Thread rule: one thread.
class TrainRun {
public:
  explicit TrainRun(const TrainArguments &arguments)
      : arguments(arguments), report(arguments.reporter()) {}
  Status run();

private:
  /// A trainer for batches of one shape.
  struct Plan {
    TensorTypes types;
    std::unique_ptr<Trainer> trainer;
  };

  Status checkOptions() const;
  Status openData();
  Status usePackage(TensorTypes &modelInputs);
  StatusOr<Trainer *> trainerFor(const TensorTypes &types);
  Status compileInto(const TensorTypes &types, const std::string &path);
  Status takeStateFrom(Trainer &from, Trainer &to) const;
  Status loadWeights(Trainer &trainer) const;
  StatusOr<TensorMap> batchFor(int64_t step) const;
  Status trainStep(int64_t step);
  Status logStep(const StepResult &result, double seconds, int64_t tokens);
  void showProgress(const StepResult &result, double seconds) const;
  Status saveWeights() const;
  Status saveGradients(Trainer &trainer) const;

  TrainArguments arguments;        // completed by what a package says
  std::optional<Package> packaged; // where the model is one
  Reporter report;
  std::unique_ptr<TemporaryFolder> scratch;
  std::unique_ptr<BatchSource> source;
  std::vector<Plan> plans;
  std::vector<std::string> packageInputs; // and labels
  Trainer *current = nullptr;
  int64_t steps = 0;
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> logFile{nullptr,
                                                           std::fclose};
  double firstSeconds = 0, totalSeconds = 0;
};

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_TRAINRUN_H

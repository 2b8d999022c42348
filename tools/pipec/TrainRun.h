// One run of `pipec train`: trainers, a batch a step, a log.
#ifndef PIPEC_TOOLS_PIPEC_TRAINRUN_H
#define PIPEC_TOOLS_PIPEC_TRAINRUN_H

#include "runtime/base/temporaries.h"
#include "tools/pipec/TrainArguments.h"
#include "tools/pipec/TrainLog.h"

#include <memory>
#include <optional>
#include <set>

namespace pipec::tool {

/// Compiles a plan for each shape that batches come in, or takes the package
/// that is given, and trains. Thread rule: one thread.
class TrainRun {
public:
  explicit TrainRun(const TrainArguments &arguments)
      : arguments(arguments),
        report([this, print = arguments.reporter()](const std::string &line) {
          if (line.rfind("warning: ", 0) == 0 && !warned.insert(line).second)
            return; // said of an earlier plan
          endProgress();
          print(line);
        }),
        checkpoints(arguments.checkpoints, report) {}
  Status run();

private:
  /// A trainer for batches of one shape.
  struct Plan {
    TensorTypes types;
    Package package;
    std::unique_ptr<Trainer> trainer;
  };

  Status checkOptions();
  Status checkResults();
  Status train();
  Status openData();
  Status usePackage(TensorTypes &modelInputs);
  void forgetWhatIsSo();
  /// What stands for the model in errors of a trainer.
  std::string planPath() const {
    return packaged ? arguments.model : scratch->path() + "/plan0.pipe";
  }
  TensorTypes batchTypesOf(const Package &package) const;
  void reportTokens(const TensorTypes &inputs) const;
  Status prepare(int64_t start);
  Status checkShiftOf(int64_t step) const;
  Status checkBatch(const Package::Impl &package, TensorTypes types) const;
  const Plan *findPlan(const TensorTypes &types) const;
  StatusOr<Trainer *> trainerFor(const TensorTypes &types,
                                 const std::string &from);
  StatusOr<Trainer *> makeTrainer(const TensorTypes &types,
                                  const std::string &path);
  Status compileInto(const TensorTypes &types, const std::string &from,
                     const std::string &path);
  Status loadWeights(Trainer &trainer) const;
  CheckpointNotes notes() const;
  StatusOr<TensorMap> batchFor(int64_t step) const;
  Status trainStep(int64_t step);
  Status readFingerprints();
  void warnOfNumbers(const StepResult &result);
  void showProgress(const StepResult &result, double seconds);
  void endProgress();
  Status saveWeights() const;
  void reportPartial() const;
  Status saveGradients(Trainer &trainer) const;

  TrainArguments arguments;        // completed by what a package says
  std::optional<Package> packaged; // where the model is one
  std::set<std::string> warned;
  Reporter report;
  std::unique_ptr<TemporaryFolder> scratch;
  std::unique_ptr<BatchSource> source;
  std::vector<Plan> plans;
  std::vector<std::string> packageInputs;          // and labels
  std::map<std::string, std::string> fingerprints; // notes of the data files
  bool lossWarned = false, normWarned = false;
  Trainer *current = nullptr;
  int64_t steps = 0;
  TrainCheckpoints checkpoints;
  TrainLog log;
  double totalSeconds = 0;
  bool progressIsOpen = false; // the terminal's line has no end yet
};

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_TRAINRUN_H

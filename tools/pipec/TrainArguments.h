// Arguments of `pipec train`, and what they mean to compiler, data and trainer.
#ifndef PIPEC_TOOLS_PIPEC_TRAINARGUMENTS_H
#define PIPEC_TOOLS_PIPEC_TRAINARGUMENTS_H

#include "pipec/trainer.h"
#include "runtime/data/batch_source.h"
#include "tools/pipec/ModelArguments.h"
#include "tools/pipec/TrainCheckpoints.h"
#include "tools/pipec/TrainingPackageArguments.h"

namespace pipec::tool {

struct TrainArguments : ModelArguments, TrainingPackageArguments {
  // data
  std::vector<std::string> inputs;
  std::string tokenFile, tokenInput;
  int64_t tokenBytes = 0; // 0: found out
  int64_t batch = 0, steps = 0, accumulate = 1;
  bool shuffle = false;
  uint64_t seed = 0;
  bool shiftLabels = false;
  std::string sharedWeights = "replicate", memory;
  // update
  OptimizerOptions optimizer;
  std::string betas;
  CheckpointArguments checkpoints;
  // results
  std::vector<std::string> weightFiles;
  std::string log, saveParams, dumpGrads;
  bool overwrite = false, checkNumerics = false, reference = false;

  void addTo(CLI::App &command);
  /// `modelInputs`: of a whole batch; for tokens alone.
  StatusOr<std::unique_ptr<BatchSource>>
  openSource(const TensorTypes &modelInputs) const;
  /// For batches of these types, which come from the file `from`.
  StatusOr<CompileOptions> compileOptions(const TensorTypes &types,
                                          const std::string &from) const;
  StatusOr<TrainerOptions> trainerOptions(int64_t totalSteps) const;

private:
  std::string noLabels(const TensorTypes &types, const std::string &from) const;
};

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_TRAINARGUMENTS_H

// Training: a package compiled for it, loaded and ready to step.
//
//   auto package = pipec::Package::open("model.pipe");
//   auto trainer = pipec::Trainer::create(*package, {});
//   auto result = (*trainer)->step(batch);   // one update
#ifndef PIPEC_TRAINER_H
#define PIPEC_TRAINER_H

#include "pipec/package.h"

#include <functional>

namespace pipec {

/// torch.optim's options, with its defaults (weightDecay below 0: the kind's).
struct OptimizerOptions {
  std::string kind = "adamw"; // sgd, adam, adamw
  double lr = 1e-3;
  double weightDecay = -1;
  double momentum = 0, dampening = 0; // sgd
  bool nesterov = false;              // sgd
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  /// Largest global norm of the gradients; 0: not clipped.
  double clipNorm = 0;
  std::string lrSchedule = "constant"; // constant, linear, cosine
  int64_t warmupSteps = 0;
  int64_t totalSteps = 0; // of linear and cosine
};

struct TrainerOptions {
  OptimizerOptions optimizer;
  /// A step's rows come in this many equal parts, one after the other, with one
  /// update at the end.
  int64_t accumulate = 1;
  uint64_t seed = 0; // of dropout
  /// A weight that several stages use is held once and lent to the others;
  /// else each has its own copy.
  bool transmitSharedWeights = false;
  /// Only the plain reference kernels: slow, for checking.
  bool referenceKernels = false;
  /// A NaN or infinity in an op's result that its operands did not have ends
  /// the step with NumericError naming stage, microbatch, op and module.
  bool checkNumerics = false;
  /// Memory limit in bytes; 0: none. More is ResourceExhausted.
  uint64_t memoryLimit = 0;
};

struct StepResult {
  int64_t step = 0;        // from 0
  double loss = 0;         // of the whole batch
  double gradientNorm = 0; // global, before clipping; a shared weight once
  double learningRate = 0;
};

/// Owns workers (one a rank of the package's schedule), weights, gradients and
/// optimizer state. Thread rule: externally synchronised; step() blocks until
/// the update is done. After a failed step() weights and state are as before
/// it, but for buffers that forwards had moved.
class Trainer {
public:
  static StatusOr<std::unique_ptr<Trainer>>
  create(const Package &package, const TrainerOptions &options);
  ~Trainer();

  /// One update from a batch: inputs and labels by name, as many rows as
  /// microbatches of the package's sizes have.
  StatusOr<StepResult> step(const TensorMap &batch);

  /// Microbatches of a step, which its rows are cut into: those of the package
  /// times TrainerOptions::accumulate.
  int64_t microbatches() const;

  /// The next step's number. Setting it belongs to resuming.
  int64_t nextStep() const;
  void setNextStep(int64_t step);

  /// The live values of parameters and buffers, by first state_dict name; they
  /// alias the trainer's memory, and may be written between steps
  /// (weightsChanged() then).
  TensorMap parameters() const;
  TensorMap buffers() const;
  /// Those of parameters() that training moves.
  TensorMap trainedParameters() const;
  /// Brings what was written into parameters() and buffers() to all stages.
  void weightsChanged();
  /// Gradients of the last step, before clipping and decay; parameters that
  /// had none are absent.
  TensorMap gradients() const;
  /// Optimizer state by its name in checkpoints; aliases.
  std::map<std::string, TensorView> optimizerState();
  /// Other names of tied parameters, by first name.
  std::map<std::string, std::vector<std::string>> aliases() const;
  /// Writes parameters() and buffers() under all their names as a safetensors
  /// file; it appears whole or not at all. Errors: Io, also where the file
  /// exists, unless `overwrite`.
  Status saveParameters(const std::string &path, bool overwrite) const;

  /// Most (stage, microbatch) pairs that were alive at once, a rank, in the
  /// last step: from Forward to the last backward.
  std::vector<int64_t> peakLive() const;

private:
  Trainer();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace pipec

#endif // PIPEC_TRAINER_H

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

/// What a checkpoint records beside tensors; resuming compares it.
struct CheckpointNotes {
  /// One line that says which rows come at which step. To resume with another
  /// one is an error, except for the folders of files that it quotes
  /// ('dir/tokens.bin'). Empty: not compared.
  std::string data;
  /// What else decides the numbers, option -> value. To resume with another
  /// value is a remark.
  std::map<std::string, std::string> settings;
};

struct CheckpointOptions {
  CheckpointNotes notes;
  /// This many of the latest checkpoints stay, the others are removed; 0: all
  /// stay.
  int64_t keep = 0;
  /// Replace a checkpoint of the same step.
  bool overwrite = false;
};

/// What resume() found.
struct Resumed {
  std::string path; // of the checkpoint
  int64_t step = 0; // the next one
  /// In what this run differs from the one before, a line each: nothing that
  /// stops it.
  std::vector<std::string> remarks;
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
  /// alias the trainer's memory. Those of trainedParameters() and buffers() may
  /// be written between steps (weightsChanged() then); frozen ones may lie in
  /// mapped files and are read only.
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

  /// Parameters and buffers from safetensors files, or from the indices (.json)
  /// that Hugging Face writes, found by any of their tied names; f16 and bf16
  /// are widened. A parameter that no file has is an error, which lists what is
  /// missing and what is not used; returns remarks on buffers that keep their
  /// values and on tensors that are not used. After an error, make a new
  /// trainer.
  StatusOr<std::vector<std::string>>
  loadWeights(const std::vector<std::string> &files);
  /// The weights, optimizer state and step of a trainer of the same model, cut
  /// or compiled in another way. After an error, make a new trainer.
  Status takeStateFrom(const Trainer &other);

  /// Writes `dir`/step-<k>, k being nextStep(): parameters, frozen ones too,
  /// and buffers under all of their names, optimizer state, step, seed and what
  /// `options` notes. Each rank's thread writes what its stages own. Nothing of
  /// that name is there until all is. Returns its path. Errors: Io; there is
  /// then no new checkpoint.
  StatusOr<std::string> saveCheckpoint(const std::string &dir,
                                       const CheckpointOptions &options = {});
  /// Goes on where a checkpoint was written, whatever the cut and schedule of
  /// that run. `path` is a checkpoint or a folder of some, of which the latest
  /// is taken. InvalidArgument for another model, kind of optimizer, seed where
  /// something is random, or data; Io, DataLoss, Unsupported. After an error,
  /// make a new trainer.
  StatusOr<Resumed> resume(const std::string &path,
                           const CheckpointNotes &notes = {});

  /// Most (stage, microbatch) pairs that were alive at once, a rank, in the
  /// last step: from Forward to the last backward.
  std::vector<int64_t> peakLive() const;
  /// Most bytes that they held at once, a rank: values kept from Forward to
  /// the input gradients or to the weight gradients.
  std::vector<uint64_t> peakActivationBytes() const;

private:
  friend class TrainerAccess; // for tests: another device
  Trainer();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace pipec

#endif // PIPEC_TRAINER_H

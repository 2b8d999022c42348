// What a trainer holds, for the files that are its parts: trainer.cpp (steps),
// trainer_weights.cpp and trainer_checkpoint.cpp (what it holds, loaded and
// saved). Private to runtime/training.
#ifndef PIPEC_RUNTIME_TRAINING_TRAINER_IMPL_H
#define PIPEC_RUNTIME_TRAINING_TRAINER_IMPL_H

#include "pipec/trainer.h"

#include "runtime/base/one_at_a_time.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/checkpoint_writer.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/executor/worker_team.h"
#include "runtime/optimizer/learning_rate.h"
#include "runtime/optimizer/optimizer.h"
#include "runtime/training/gradients.h"
#include "runtime/training/rank_worker.h"
#include "runtime/transport/local/local_transport.h"

namespace pipec {

/// A remark, up to the names.
extern const char *const kUnreadKept;

struct Trainer::Impl {
  /// `other`: a device of tests; null: the CPU's own.
  Impl(const Package &package, Device *other)
      : package(package), device(other ? *other : ownDevice) {}

  Package package;
  TrainerOptions options;
  OptimizerConfig config;
  std::optional<LearningRate> rate;
  CpuDevice ownDevice;
  Device &device;
  LocalTransport transport{device};
  // A stream a rank: its stages run one after the other.
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Channel>> channels; // by transfer
  TrainStages stages;
  std::vector<SharedWeight> weights;
  std::vector<ContextCounts> contexts; // by stage
  std::optional<Optimizer> optimizer;
  std::vector<RankWorker> workers;
  std::unique_ptr<RunControl> control;
  std::unique_ptr<WorkerTeam> team; // last: ends before what it works on
  int64_t next = 0;
  TensorMap lastGradients;

  const Package::Impl &impl() const { return package.impl(); }
  const Schedule &schedule() const { return impl().training->schedule; }

  /// All that is to be known before anything large is allocated.
  Status prepare();
  /// What allocate() takes without the optimizer's state, by stage; a transfer
  /// counts where it arrives.
  StatusOr<std::vector<MemoryNeed>> memoryNeed() const;
  Status checkLimit(const std::vector<MemoryNeed> &need,
                    const std::string &advice) const;
  Status allocate();
  std::string lessMemory() const {
    return lessMemoryToTrain(impl().keepsForward());
  }
  std::vector<std::optional<ChannelSpec>> channelSpecs() const;
  Status createChannels();
  void shareWeights();
  Status configure();
  Status createOptimizer();
  StatusOr<StepResult> step(const TensorMap &batch);
  Status runParts(const TensorMap &batch, double scale, double &loss);
  StatusOr<LossTotals> lossTotals(const TensorMap &batch);
  Status runRanks(const Feed &feed);
  double lossOf(int64_t microbatches) const;
  Status oddGradient(const std::string &name) const;
  Status update(StepResult &result);
  TensorMap held(const TensorMap &batch) const;
  std::string notFinite(const TensorMap &batch) const;
  StatusOr<OneAtATime::Use> enter() { return uses.enter("the trainer"); }
  OneAtATime uses;

  // trainer_weights.cpp
  const Tensor &valueOf(const SharedWeight &weight) const;
  bool isWritten(const SharedWeight &weight) const;
  std::vector<NamedView> namedWeights() const;
  std::set<std::string> unreadParameters() const;
  Status replaceFrozen(const SharedWeight &weight, const TensorView &value);
  Status bindReplaced();
  Status loadFrom(const TensorTable &table, const LoadRules &rules);
  StatusOr<std::vector<std::string>>
  loadWeights(const std::vector<std::string> &files);
  Status takeStateFrom(Impl &other);

  // trainer_checkpoint.cpp
  TiedNames tied() const;
  CheckpointInfo describe(const CheckpointNotes &notes) const;
  std::vector<CheckpointPart> partsByStage();
  Status writeParts(CheckpointWriter &writer);
  StatusOr<std::string> save(const std::string &dir,
                             const CheckpointOptions &options);
  StatusOr<Resumed> resume(const std::string &path,
                           const CheckpointNotes &notes);
  Status loadOptimizer(const Checkpoint &checkpoint,
                       std::vector<std::string> &remarks);
};

} // namespace pipec

#endif

// One stage that is trained: its programs, its weights, the contexts of the
// microbatches in flight and the gradients of its parameters' uses.
#ifndef PIPEC_RUNTIME_TRAINING_TRAIN_STAGE_H
#define PIPEC_RUNTIME_TRAINING_TRAIN_STAGE_H

#include "pipec/trainer.h"
#include "runtime/executor/prepared_program.h"
#include "runtime/executor/stage_executor.h"
#include "runtime/package/weights.h"
#include "runtime/training/context_pool.h"
#include "runtime/training/feed.h"

namespace pipec {

/// Order of calls: create, loadWeights, lendWeight (for shared ones), allocate;
/// then per step begin, and per microbatch receive and run. All work goes to
/// one stream, that of the stage's rank. Thread rule: the thread of the rank.
class TrainStage {
public:
  static StatusOr<std::unique_ptr<TrainStage>>
  create(const Package::Impl &package, size_t stage, Device &device,
         Stream &stream, const TrainerOptions &options);

  /// What loadWeights and allocate take, mapped weights aside.
  MemoryNeed memoryNeed(const ContextCounts &counts) const;
  Status loadWeights();
  Status allocate(const ContextCounts &counts);

  bool has(ProgramPhase phase) const {
    return !programs[static_cast<size_t>(phase)].empty();
  }

  /// Before the first microbatch of a step, and of each part of its rows.
  void beginStep();
  void beginPart();
  /// Runs a phase of microbatch `k`. The forward that makes the loss sets it.
  Status run(ProgramPhase phase, int64_t k, const Feed &feed,
             const RunControl *control);
  /// Puts a value that arrived into the microbatch's context.
  Status receive(uint32_t transfer, int64_t k, const Feed &feed,
                 const void *data);
  /// The value of a transfer that leaves this stage; valid until the next
  /// run() of the phase that makes it.
  StatusOr<TensorView> sent(uint32_t transfer, int64_t k,
                            const Feed &feed) const;
  /// After `phase` of microbatch `k`, and after what it made has been sent:
  /// lets go of the part of the context that no later phase reads.
  Status release(ProgramPhase phase, int64_t k);
  /// (stage, microbatch) pairs between their forward and their last backward,
  /// and the bytes of their contexts.
  int64_t liveContexts() const;
  uint64_t liveBytes() const {
    return forInput.keptBytes() + forWeight.keptBytes();
  }
  /// After an error: no context is in use.
  void reset();

  /// In the order of StageInfo::weights; parameters that are trained and
  /// buffers are this stage's own memory.
  std::vector<Tensor> &weights() { return bound; }
  /// Whether weight `i` is written by training.
  bool isTrained(size_t i) const { return trained[i]; }
  /// Before allocate(): weight `i` is `tensor`, another stage's.
  void lendWeight(size_t i, Tensor tensor) { bound[i] = std::move(tensor); }
  /// Between steps: weight `i`, which is frozen, is `tensor` from the next
  /// bindReplaced() on.
  void replaceWeight(size_t i, Tensor tensor) {
    bound[i] = std::move(tensor);
    hasReplaced = true;
  }
  Status bindReplaced();

  /// Sum over the step's microbatches, per site; valid after a step.
  std::vector<Tensor> &gradients() { return sums; }
  /// Whether any microbatch has contributed to site `i`.
  bool hasGradient(size_t i) const { return filled[i]; }

  /// "the gradient of 'w' in stage 0, microbatch 1": the first of the step that
  /// is not finite, with the numeric check; else empty.
  const std::string &oddGradient() const { return odd; }

  /// What run() of LossTotals made last, by graph input.
  const std::map<uint32_t, Tensor> &totals() const { return partsOfTotals; }

  double lossOf(int64_t k) const { return losses.at(k); }
  bool makesLoss() const { return lossIndex >= 0; }
  size_t stageIndex() const { return stage; }

private:
  TrainStage(const Package::Impl &package, size_t stage, Device &device,
             Stream &stream)
      : package(package), stage(stage), device(device), stream(stream) {}
  /// The most that any variant needs, in bytes; literals of all of them.
  struct Sizes {
    uint64_t arena = 0, scratch = 0, literals = 0;
    uint64_t forWeight = 0, forInput = 0; // of one context
  };
  Sizes sizes() const;
  std::string where() const;
  std::string advice() const;
  StatusOr<DeviceBuffer> buffer(uint64_t bytes, const std::string &what);
  Status bindPrograms();
  uint64_t weightPartBytes(size_t variant) const {
    return package.contextWeightBytes[stage][variant];
  }
  StatusOr<uint8_t *> contextPlace(int64_t k, size_t variant, uint64_t offset);
  Status bindContext(PreparedProgram &program, ProgramPhase phase, int64_t k,
                     size_t variant);
  PreparedProgram &program(ProgramPhase phase, size_t variant) {
    return programs[static_cast<size_t>(phase)][variant];
  }
  Status takeOutputs(PreparedProgram &program, int64_t k);
  void checkGradient(uint32_t site, const TensorView &value, int64_t k);
  Status addGradient(uint32_t site, const TensorView &value, int64_t k);
  void sumGradient(uint32_t site, const void *value);
  Status readLoss(const TensorView &value, int64_t k);

  const Package::Impl &package;
  const size_t stage;
  Device &device;
  Stream &stream; // of the rank
  bool checkNumerics = false;
  std::string odd; // the step's first gradient that is not finite
  StageWeights mapped;
  std::vector<Tensor> bound;
  std::vector<bool> trained;
  std::array<std::vector<PreparedProgram>, kPhaseCount>
      programs;                // [phase][variant]
  DeviceBuffer arena, scratch; // shared by all programs: one runs at a time
  std::vector<DeviceBuffer> literals; // by program that is not empty
  bool hasReplaced = false;
  uint64_t arenaSize = 0;
  // Contexts: what W reads lies first, what only F and B read behind it.
  ContextPool forWeight, forInput;
  std::vector<Tensor> sums; // by site
  std::vector<bool> filled; // by site
  // Of a schedule that runs backwards out of order: the microbatch whose turn
  // it is, and what waits for its turn, by site (decision 6).
  std::vector<int64_t> turn;
  std::vector<std::map<int64_t, Tensor>> early;
  std::map<int64_t, double> losses;
  std::map<uint32_t, Tensor> partsOfTotals;
  int lossIndex = -1; // of the forward's outputs
};

} // namespace pipec

#endif

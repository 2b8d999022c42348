// Trainers for other parts of this project: on another device than the CPU's
// own, for tests; and what one would take, without making it.
#ifndef PIPEC_RUNTIME_TRAINING_TRAINER_ACCESS_H
#define PIPEC_RUNTIME_TRAINING_TRAINER_ACCESS_H

#include "pipec/trainer.h"
#include "runtime/device/device.h"

namespace pipec {

/// What a trainer allocates.
struct TrainingNeed {
  std::vector<uint64_t> stageBytes; // by stage
  Status fits; // ResourceExhausted where all together exceed the limit
};

class TrainerAccess {
public:
  /// As Trainer::create; `device` (null: the CPU's own) shares memory with the
  /// host and outlives the trainer.
  static StatusOr<std::unique_ptr<Trainer>>
  create(const Package &package, const TrainerOptions &options, Device *device);

  /// Counted as Trainer::create counts before it allocates. Needs the programs
  /// of the package alone, not its weights. `fits` proposes no recomputation:
  /// that is for who asks.
  static StatusOr<TrainingNeed> count(const Package &package,
                                      const TrainerOptions &options);
};

} // namespace pipec

#endif

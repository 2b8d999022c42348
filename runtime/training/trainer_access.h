// A trainer on another device than the CPU's own, for tests.
#ifndef PIPEC_RUNTIME_TRAINING_TRAINER_ACCESS_H
#define PIPEC_RUNTIME_TRAINING_TRAINER_ACCESS_H

#include "pipec/trainer.h"
#include "runtime/device/device.h"

namespace pipec {

class TrainerAccess {
public:
  /// As Trainer::create; `device` (null: the CPU's own) shares memory with the
  /// host and outlives the trainer.
  static StatusOr<std::unique_ptr<Trainer>>
  create(const Package &package, const TrainerOptions &options, Device *device);
};

} // namespace pipec

#endif

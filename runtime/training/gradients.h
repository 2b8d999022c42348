// The parameters of all stages as one set: where each lies, how the gradients
// of its uses become one, and how replicas stay equal.
#ifndef PIPEC_RUNTIME_TRAINING_GRADIENTS_H
#define PIPEC_RUNTIME_TRAINING_GRADIENTS_H

#include "runtime/training/train_stage.h"

namespace pipec {

/// A parameter or buffer, over all stages that use it.
struct SharedWeight {
  struct Place {
    size_t stage, weight;
  };
  struct Site {
    size_t stage, site;
  };
  std::string name;
  std::vector<std::string> aliases;
  bool isBuffer = false;
  bool isUnread = false;     // by all programs
  std::vector<Place> places; // ascending stages; the first one owns it
  std::vector<Site> sites;   // in the order of their use (decision 6)
  int64_t slot = -1;         // in the optimizer
};

/// In state_dict order as far as stages give it: by first stage, then by the
/// stage's list. Unsupported where a buffer that one stage moves is read by
/// another.
StatusOr<std::vector<SharedWeight>>
collectWeights(const Package::Impl &package);

/// The gradient of `weight` over all its sites, summed in place into the first
/// one's; null where no site has one.
Tensor *totalGradient(const SharedWeight &weight,
                      std::vector<std::unique_ptr<TrainStage>> &stages);

/// Copies the owner's value to the other places that have memory of their own.
void spread(const SharedWeight &weight,
            std::vector<std::unique_ptr<TrainStage>> &stages);

} // namespace pipec

#endif

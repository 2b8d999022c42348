// What the graph inputs of one part of a step hold.
#ifndef PIPEC_RUNTIME_TRAINING_FEED_H
#define PIPEC_RUNTIME_TRAINING_FEED_H

#include "runtime/executor/batch_plan.h"

#include <array>

namespace pipec {

/// What the random key of a microbatch is made of.
struct RandomKey {
  uint64_t seed = 0;
  int64_t step = 0;
  int64_t firstMicrobatch = 0; // of the part, counted over the step
};

/// How many labels, elements or microbatches count in `batch`: what a mean
/// loss is divided by, over the whole step.
StatusOr<double> countForLoss(const Package::Impl &package,
                              const TensorMap &batch, int64_t microbatches);

/// Thread rule: immutable once made.
class Feed {
public:
  /// Checks `inputs` and cuts them; `lossScale` goes to the loss.
  static StatusOr<Feed> create(const Package::Impl &package,
                               const TensorMap &inputs, int64_t microbatches,
                               double lossScale, const RandomKey &key);

  const BatchPlan &plan() const { return batch; }
  /// Host memory of graph input `input` for microbatch `k`.
  const void *data(const Package::Impl &package, uint32_t input,
                   int64_t k) const;

private:
  BatchPlan batch;
  std::vector<Tensor> inputs;               // by graph input
  std::vector<std::array<int64_t, 3>> keys; // by microbatch
};

} // namespace pipec

#endif

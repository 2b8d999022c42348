// What the graph inputs of one part of a step hold.
#ifndef PIPEC_RUNTIME_TRAINING_FEED_H
#define PIPEC_RUNTIME_TRAINING_FEED_H

#include "runtime/executor/batch_plan.h"

#include <array>
#include <map>

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

/// The sums, over all microbatches of a step, that a mean of the model's own is
/// taken over, by graph input. Added in f64 or i64, in the order of add().
class LossTotals {
public:
  /// A microbatch's parts; they have the same types each time.
  void add(const std::map<uint32_t, Tensor> &parts);
  /// The tensor for an input of type `type`: 0 where nothing was added.
  StatusOr<Tensor> total(uint32_t input, const TensorType &type) const;

private:
  struct Sum {
    std::vector<double> floats;
    std::vector<int64_t> integers;
  };
  std::map<uint32_t, Sum> sums;
};

/// Thread rule: immutable once made.
class Feed {
public:
  /// Checks `inputs` and cuts them; `lossScale` goes to the loss.
  static StatusOr<Feed> create(const Package::Impl &package,
                               const TensorMap &inputs, int64_t microbatches,
                               double lossScale, const LossTotals &totals,
                               const RandomKey &key);

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

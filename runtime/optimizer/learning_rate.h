// The learning rate of each step.
#ifndef PIPEC_RUNTIME_OPTIMIZER_LEARNING_RATE_H
#define PIPEC_RUNTIME_OPTIMIZER_LEARNING_RATE_H

#include "pipec/status.h"

#include <cstdint>
#include <string_view>

namespace pipec {

enum class LearningRateKind { Constant, Linear, Cosine };

/// The schedule named "constant", "linear" or "cosine"; InvalidArgument
/// otherwise.
StatusOr<LearningRateKind> learningRateFromName(std::string_view name);

/// A learning rate as a function of the step alone, so that a resumed run goes
/// on where it was. With k the step (from 0), w the warm-up steps and t the
/// total:
///
///   k < w      lr * k / w                       (step 0 of a warm-up has rate
///                                                0, as in PyTorch's LambdaLR)
///   constant   lr
///   linear     lr * max(0, (t - k) / max(1, t - w))
///   cosine     lr * 0.5 * (1 + cos(pi * min(1, (k - w) / max(1, t - w))))
///
/// These are Hugging Face's get_{constant,linear,cosine}_schedule_with_warmup,
/// double for double; past the last step, where theirs rises again, the cosine
/// stays at 0. Thread rule: a value.
class LearningRate {
public:
  /// `totalSteps` is ignored by Constant. InvalidArgument names the option.
  static StatusOr<LearningRate> create(LearningRateKind kind, double lr,
                                       int64_t warmupSteps, int64_t totalSteps);

  /// The rate of step `step`, counted from 0.
  double at(int64_t step) const;

private:
  LearningRate() = default;
  LearningRateKind kind = LearningRateKind::Constant;
  double lr = 0;
  int64_t warmup = 0, total = 0;
};

} // namespace pipec

#endif

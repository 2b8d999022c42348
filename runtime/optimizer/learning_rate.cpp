// Learning-rate schedules. In: a step's number. Out: its rate, in f64.
// The formulas are in the header; the order of their operations follows the
// reference, so that the rates are its very doubles.
// Tests: test/unit/optimizer/LearningRateTest.cpp.
#include "runtime/optimizer/learning_rate.h"

#include <algorithm>
#include <cmath>

namespace pipec {
namespace {

double warm(int64_t step, int64_t warmup) {
  return static_cast<double>(step) / static_cast<double>(warmup);
}

} // namespace

StatusOr<LearningRateKind> learningRateFromName(std::string_view name) {
  if (name == "constant")
    return LearningRateKind::Constant;
  if (name == "linear")
    return LearningRateKind::Linear;
  if (name == "cosine")
    return LearningRateKind::Cosine;
  return invalidArgument(
      "the learning rate schedule must be constant, linear or cosine, got '" +
      std::string(name) + "'");
}

StatusOr<LearningRate> LearningRate::create(LearningRateKind kind, double lr,
                                            int64_t warmupSteps,
                                            int64_t totalSteps) {
  if (!std::isfinite(lr) || lr < 0)
    return invalidArgument(
        "the learning rate must be a finite number of at least 0, got " +
        std::to_string(lr));
  if (warmupSteps < 0)
    return invalidArgument("warm-up steps must be at least 0, got " +
                           std::to_string(warmupSteps));
  if (kind != LearningRateKind::Constant && totalSteps < 1)
    return invalidArgument(
        "linear and cosine learning rates end at the last "
        "step: the number of steps must be at least 1, got " +
        std::to_string(totalSteps));
  LearningRate rate;
  rate.kind = kind;
  rate.lr = lr;
  rate.warmup = warmupSteps;
  rate.total = totalSteps;
  return rate;
}

double LearningRate::at(int64_t step) const {
  if (step < warmup)
    return lr * warm(step, warmup);
  if (kind == LearningRateKind::Constant)
    return lr;
  const auto span = static_cast<double>(std::max<int64_t>(1, total - warmup));
  if (kind == LearningRateKind::Linear)
    return lr * std::max(0.0, static_cast<double>(total - step) / span);
  const double progress =
      std::min(1.0, static_cast<double>(step - warmup) / span);
  // Pi as a double, as Python's math.pi.
  constexpr double pi = 3.14159265358979323846;
  // Hugging Face multiplies by num_cycles * 2 = 1 here, which changes no bit.
  return lr * std::max(0.0, 0.5 * (1.0 + std::cos(pi * progress)));
}

} // namespace pipec

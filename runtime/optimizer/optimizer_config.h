// What the user asked of the optimizer: kind and numbers, as plain data.
#ifndef PIPEC_RUNTIME_OPTIMIZER_OPTIMIZER_CONFIG_H
#define PIPEC_RUNTIME_OPTIMIZER_OPTIMIZER_CONFIG_H

#include "pipec/status.h"

#include <map>
#include <string>
#include <string_view>

namespace pipec {

enum class OptimizerKind { Sgd, Adam, AdamW };

/// "sgd", "adam", "adamw".
std::string_view optimizerName(OptimizerKind kind);
/// The kind of that name; InvalidArgument lists the names there are.
StatusOr<OptimizerKind> optimizerFromName(std::string_view name);

/// The shortest text that reads back as the same double.
std::string shortestNumber(double value);

/// Options of one optimizer, with torch.optim's defaults. The learning rate is
/// no part of it: see LearningRate. Thread rule: a value.
struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::Sgd;
  /// sgd adds it times the parameter to the gradient, and so does adam; adamw
  /// shrinks the parameter itself (decoupled decay).
  double weightDecay = 0;

  // sgd alone.
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;

  // adam and adamw alone.
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8; // added to the root, not under it

  /// torch.optim's defaults for `kind`: adamw decays by 0.01.
  static OptimizerConfig defaults(OptimizerKind kind);
  /// Ranges, and options that do not go with the kind or with each other.
  /// InvalidArgument names the command line's option, what is allowed and what
  /// was given.
  Status validate() const;
  /// Option -> value of those that matter to the kind, "kind" first among them;
  /// numbers in the shortest form that reads back as the same double. What a
  /// checkpoint records.
  std::map<std::string, std::string> fields() const;
};

} // namespace pipec

#endif

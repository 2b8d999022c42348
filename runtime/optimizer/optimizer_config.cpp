// Checks the options of an optimizer. In: plain numbers, possibly from a
// command line. Out: an error that names the option, or none.
// Tests: test/unit/optimizer/ConfigTest.cpp.
#include "runtime/optimizer/optimizer_config.h"

#include <charconv>
#include <cmath>

namespace pipec {
namespace {

Status expected(const char *option, const char *what, double got) {
  return invalidArgument(std::string(option) + " must be " + what + ", got " +
                         shortestNumber(got));
}

Status notNegative(const char *option, double value) {
  return std::isfinite(value) && value >= 0
             ? Status()
             : expected(option, "a finite number of at least 0", value);
}

Status checkSgd(const OptimizerConfig &config) {
  PIPEC_RETURN_IF_ERROR(notNegative("momentum", config.momentum));
  if (!std::isfinite(config.dampening))
    return expected("dampening", "a finite number", config.dampening);
  if (config.nesterov && (config.momentum == 0 || config.dampening != 0))
    return invalidArgument(
        "nesterov needs momentum above 0 and dampening 0, got momentum " +
        shortestNumber(config.momentum) + " and dampening " +
        shortestNumber(config.dampening));
  return Status();
}

Status checkAdam(const OptimizerConfig &config) {
  for (const double beta : {config.beta1, config.beta2})
    if (!(beta >= 0 && beta < 1))
      return expected("betas", "two numbers of at least 0 and below 1", beta);
  PIPEC_RETURN_IF_ERROR(notNegative("eps", config.eps));
  // Silence would hide that the option does nothing.
  if (config.momentum != 0 || config.dampening != 0 || config.nesterov)
    return invalidArgument("momentum, dampening and nesterov belong to sgd, "
                           "the optimizer is " +
                           std::string(optimizerName(config.kind)) +
                           "; its momentum is betas");
  return Status();
}

} // namespace

std::string shortestNumber(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end.ptr);
}

std::string_view optimizerName(OptimizerKind kind) {
  switch (kind) {
  case OptimizerKind::Sgd:
    return "sgd";
  case OptimizerKind::Adam:
    return "adam";
  case OptimizerKind::AdamW:
    return "adamw";
  }
  return "?";
}

StatusOr<OptimizerKind> optimizerFromName(std::string_view name) {
  for (const OptimizerKind kind :
       {OptimizerKind::Sgd, OptimizerKind::Adam, OptimizerKind::AdamW})
    if (name == optimizerName(kind))
      return kind;
  return invalidArgument("the optimizer must be sgd, adam or adamw, got '" +
                         std::string(name) + "'");
}

OptimizerConfig OptimizerConfig::defaults(OptimizerKind kind) {
  OptimizerConfig config;
  config.kind = kind;
  if (kind == OptimizerKind::AdamW)
    config.weightDecay = 0.01;
  return config;
}

Status OptimizerConfig::validate() const {
  PIPEC_RETURN_IF_ERROR(notNegative("weight decay", weightDecay));
  return kind == OptimizerKind::Sgd ? checkSgd(*this) : checkAdam(*this);
}

std::map<std::string, std::string> OptimizerConfig::fields() const {
  std::map<std::string, std::string> fields = {
      {"kind", std::string(optimizerName(kind))},
      {"weight_decay", shortestNumber(weightDecay)}};
  if (kind == OptimizerKind::Sgd) {
    fields["momentum"] = shortestNumber(momentum);
    fields["dampening"] = shortestNumber(dampening);
    fields["nesterov"] = nesterov ? "true" : "false";
  } else {
    fields["beta1"] = shortestNumber(beta1);
    fields["beta2"] = shortestNumber(beta2);
    fields["eps"] = shortestNumber(eps);
  }
  return fields;
}

} // namespace pipec

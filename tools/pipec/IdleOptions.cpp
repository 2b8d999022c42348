// Refuses options that would do nothing: see IdleOptions.h. In: the arguments
// of `pipec train`. Out: ok, or an error. Tests:
// test/e2e/cli/idle-options.test.
#include "tools/pipec/IdleOptions.h"

namespace pipec::tool {
namespace {

Status checkOptimizer(const TrainArguments &a) {
  const bool sgd = a.optimizer.kind == "sgd";
  for (const char *option : {"--betas", "--eps"})
    if (sgd && a.isGiven(option))
      return invalidArgument(option + std::string(" is of --optimizer adam and "
                                                  "adamw; sgd has none"));
  for (const char *option : {"--momentum", "--dampening", "--nesterov"})
    if (!sgd && a.isGiven(option))
      return invalidArgument(option + std::string(" is of --optimizer sgd; ") +
                             a.optimizer.kind + " has --betas");
  if (a.optimizer.dampening != 0 && a.optimizer.momentum == 0)
    return invalidArgument("--dampening does nothing without --momentum");
  return {};
}

Status checkData(const TrainArguments &a) {
  const bool tokens = !a.tokenFile.empty();
  if (!tokens && !a.tokenInput.empty())
    return invalidArgument("--tokens names the input that the tokens of --data "
                           "go to; give the tokens with --data FILE");
  if (!tokens && a.tokenBytes)
    return invalidArgument("--token-bytes is of --data FILE; the tensors of "
                           "--inputs have their types");
  if (tokens && a.shiftLabels)
    return invalidArgument("--shift-labels does not go with --data: its labels "
                           "are the next tokens already");
  if (!tokens && a.shuffle && a.batch == 0)
    return invalidArgument("--shuffle permutes the rows of a data set; without "
                           "--batch each file of --inputs is one batch");
  return {};
}

} // namespace

Status checkIdleOptions(const TrainArguments &a) {
  PIPEC_RETURN_IF_ERROR(checkOptimizer(a));
  PIPEC_RETURN_IF_ERROR(checkData(a));
  return {};
}

std::vector<std::string> idleRemarks(const TrainArguments &a, int64_t steps) {
  std::vector<std::string> remarks;
  if (a.recompute == "auto" && a.memory.empty())
    remarks.push_back("--recompute auto does nothing without --memory SIZE, "
                      "which it keeps to: no stage computes its forward again");
  if (a.isGiven("--clip-norm") && a.optimizer.clipNorm == 0)
    remarks.push_back("--clip-norm 0 does nothing: gradients are not clipped");
  if (a.isGiven("--merge") && a.loss.rfind("output:", 0) != 0)
    remarks.push_back("--merge does nothing here: it joins outputs, and a "
                      "training run hands out none");
  if (a.optimizer.warmupSteps >= steps)
    remarks.push_back("--warmup-steps " +
                      std::to_string(a.optimizer.warmupSteps) +
                      " does not end within the " + std::to_string(steps) +
                      (steps == 1 ? " step" : " steps") +
                      " of the run: the learning rate never reaches --lr");
  return remarks;
}

} // namespace pipec::tool

// Declares and parses the arguments of `pipec train`. Tests: test/e2e/cli.
#include "tools/pipec/TrainArguments.h"

#include "runtime/base/input_text.h"
#include "tools/pipec/NumberChecks.h"
#include "tools/pipec/ParseBytes.h"

#include <algorithm>

#include <limits>

namespace pipec::tool {
namespace {

void addData(CLI::App &command, TrainArguments &a) {
  const char *group = "Data";
  command
      .add_option("--inputs", a.inputs,
                  "safetensors file with inputs and labels: one batch, or with "
                  "--batch a data set. Repeatable: step k reads file k mod n.")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--data", a.tokenFile,
                  "File of tokens, raw uint16 or uint32 or as llm.c writes it; "
                  "labels are the next tokens")
      ->group(group);
  command
      .add_option("--tokens", a.tokenInput,
                  "Model input that the tokens of --data go to")
      ->group(group);
  command
      .add_option("--token-bytes", a.tokenBytes,
                  "Bytes of a token in --data: 2 (uint16) or 4 (uint32); "
                  "without it, by a header or by how the numbers look")
      ->check(CLI::IsMember({"2", "4"}))
      ->group(group);
  command
      .add_option("--batch", a.batch,
                  "Rows of an update, taken in order along the first dimension")
      ->check(wholeNumber(1))
      ->group(group);
  command
      .add_option("--steps", a.steps,
                  "Updates to make; without it, once through the data")
      ->check(wholeNumber(1))
      ->group(group);
  command
      .add_option("--accumulate", a.accumulate,
                  "Parts of an update's rows, one after the other, each in "
                  "--microbatches pieces")
      ->check(wholeNumber(1))
      ->group(group);
  command
      .add_flag(
          "--shift-labels", a.shiftLabels,
          "Row t is compared with label t + 1, as Hugging Face's language "
          "models do it")
      ->group(group);
  command.add_flag("--shuffle", a.shuffle, "Permute the rows by --seed")
      ->group(group);
  command.add_option("--seed", a.seed, "Of dropout and --shuffle")
      ->check(wholeNumber(0, std::numeric_limits<uint64_t>::max() - 1))
      ->group(group);
}

void addRuntime(CLI::App &command, TrainArguments &a) {
  const char *group = "Schedule";
  command
      .add_option("--shared-weights", a.sharedWeights,
                  "replicate: each stage has its copy; transmit: one stage "
                  "owns it")
      ->check(CLI::IsMember({"replicate", "transmit"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--memory", a.memory,
                  "Refuse to start when more is needed, such as 16GiB")
      ->group(group);
}

void addUpdate(CLI::App &command, TrainArguments &a) {
  const char *group = "Update";
  OptimizerOptions &o = a.optimizer;
  command.add_option("--optimizer", o.kind, "sgd, adam or adamw")
      ->check(CLI::IsMember({"sgd", "adam", "adamw"}))
      ->capture_default_str()
      ->group(group);
  command.add_option("--lr", o.lr, "Learning rate")
      ->check(numberFrom(0))
      ->capture_default_str()
      ->group(group);
  command.add_option("--momentum", o.momentum, "Of sgd")
      ->check(numberFrom(0))
      ->group(group);
  command.add_option("--dampening", o.dampening, "Of sgd, with --momentum")
      ->check(numberFrom(std::numeric_limits<double>::lowest()))
      ->group(group);
  command.add_flag("--nesterov", o.nesterov, "Of sgd")->group(group);
  command.add_option("--betas", a.betas, "Of adam and adamw: A,B")
      ->group(group);
  command.add_option("--eps", o.eps, "Of adam and adamw")
      ->check(numberFrom(0))
      ->group(group);
  command
      .add_option("--weight-decay", o.weightDecay,
                  "Without it: 0.01 for adamw, else 0")
      ->check(numberFrom(0))
      ->group(group);
  command
      .add_option("--clip-norm", o.clipNorm,
                  "Largest global norm of the gradients")
      ->check(numberFrom(0))
      ->group(group);
  command.add_option("--lr-schedule", o.lrSchedule, "constant, linear, cosine")
      ->check(CLI::IsMember({"constant", "linear", "cosine"}))
      ->capture_default_str()
      ->group(group);
  command.add_option("--warmup-steps", o.warmupSteps, "Of --lr-schedule")
      ->check(wholeNumber(0))
      ->group(group);
}

void addResults(CLI::App &command, TrainArguments &a) {
  const char *group = "Results";
  command
      .add_option("--weights", a.weightFiles,
                  "Start from these weights: safetensors files or a Hugging "
                  "Face index (.json). Repeatable. Not read where --resume "
                  "finds a checkpoint.")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--log", a.log,
                  "A JSON line a step: step (from 1), loss, grad_norm, lr, "
                  "tokens_per_s or samples_per_s, seconds; - is stdout")
      ->group(group);
  command
      .add_option("--save-params", a.saveParams,
                  "safetensors file for parameters and buffers after the last "
                  "step")
      ->group(group);
  command
      .add_option("--dump-grads", a.dumpGrads,
                  "safetensors file for the gradients of the first step, "
                  "before clipping and decay")
      ->group(group);
  command.add_flag("--overwrite", a.overwrite, "Replace existing files")
      ->group(group);
  command
      .add_flag("--check-numerics", a.checkNumerics,
                "Stop at the first NaN or infinity, naming stage, microbatch "
                "and operation")
      ->group("Checking");
  command
      .add_flag("--reference-kernels", a.reference,
                "Only the plain reference kernels: slow")
      ->group("Checking");
}

StatusOr<std::pair<double, double>> parseBetas(const std::string &text) {
  const size_t comma = std::min(text.find(','), text.size());
  const std::string first = text.substr(0, comma);
  const std::string second = text.substr(std::min(comma + 1, text.size()));
  size_t firstEnd = 0, secondEnd = 0;
  const auto one = readDecimal(first, firstEnd);
  const auto other = readDecimal(second, secondEnd);
  if (one && other && firstEnd == first.size() && secondEnd == second.size())
    return std::pair(*one, *other);
  return invalidArgument("--betas " + text +
                         ": expected two numbers, such as "
                         "0.9,0.999");
}

bool takesTokens(const TensorType &type) {
  return type.rank() == 2 &&
         (type.dtype == DType::I64 || type.dtype == DType::I32);
}

/// Which inputs --tokens may name.
std::string tokenInputs(const TensorTypes &modelInputs) {
  std::string names;
  for (const auto &[name, type] : modelInputs)
    if (takesTokens(type))
      names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "the model has no integer input of rows and tokens, "
                         "so give its data with --inputs"
                       : "integer inputs of rows and tokens: " + names;
}

} // namespace

void TrainArguments::addTo(CLI::App &command) {
  ModelArguments::addTo(command, "Model file (.onnx), or package for training");
  addAllowExternalTo(command);
  addData(command, *this);
  TrainingPackageArguments::addTo(command);
  addRuntime(command, *this);
  addUpdate(command, *this);
  checkpoints.addTo(command);
  addResults(command, *this);
}

StatusOr<std::unique_ptr<BatchSource>>
TrainArguments::openSource(const TensorTypes &modelInputs) const {
  if (tokenFile.empty()) {
    InputOptions options;
    options.paths = inputs;
    options.batch = batch;
    options.shuffle = shuffle;
    options.seed = seed;
    options.whole = whole;
    return openInputs(options);
  }
  TokenOptions options;
  options.path = tokenFile;
  options.shuffle = shuffle;
  options.seed = seed;
  if (tokenBytes)
    options.width = tokenBytes == 4 ? TokenWidth::U32 : TokenWidth::U16;
  options.tokens = tokenInput;
  options.labels = labels;
  auto port = modelInputs.find(tokenInput);
  if (port == modelInputs.end() || !takesTokens(port->second))
    return invalidArgument(
        (tokenInput.empty()
             ? "--data needs --tokens INPUT: which input the tokens go to"
             : "--tokens " + tokenInput +
                   (port == modelInputs.end()
                        ? ": the model has no such input"
                        : ": the input is " + port->second.str() +
                              ", expected i64 or i32 with rows and tokens")) +
        "; " + tokenInputs(modelInputs));
  options.tokensDType = port->second.dtype;
  options.batch = port->second.shape[0];
  options.sequence = port->second.shape[1];
  for (const auto &[name, type] : modelInputs)
    if (name != tokenInput && name != labels)
      options.ones[name] = type;
  return openTokens(options);
}

std::string TrainArguments::noLabels(const TensorTypes &types,
                                     const std::string &from) const {
  InputTexts given;
  for (const auto &[name, type] : types)
    given[name] = type.str();
  return from + ": the loss needs labels; " +
         inputMismatch({{labels, ""}}, given, false) +
         " (--labels NAME names another tensor)";
}

StatusOr<CompileOptions>
TrainArguments::compileOptions(const TensorTypes &types,
                               const std::string &from) const {
  PIPEC_ASSIGN_OR_RETURN(CompileOptions options, this->options());
  options.weightsInPlace = true;
  options.given = GivenInputs{from, types};
  for (const auto &[name, type] : types) {
    options.inputShapes[name] = type.shape;
    bool cut = !type.shape.empty() &&
               std::find(whole.begin(), whole.end(), name) == whole.end();
    if (cut && type.shape[0] % accumulate)
      return invalidArgument(
          "tensor '" + name + "' has " + std::to_string(type.shape[0]) +
          " rows, which --accumulate " + std::to_string(accumulate) +
          " does not divide; if it is no batch, pass "
          "--whole " +
          name);
    if (cut)
      options.inputShapes[name][0] /= accumulate;
  }
  options.accumulate = accumulate;
  PIPEC_ASSIGN_OR_RETURN(options.training,
                         trainingOptions(!tokenFile.empty() || shiftLabels));
  if (options.training->loss != TrainingOptions::Loss::Output &&
      !types.count(labels))
    return invalidArgument(noLabels(types, from));
  if (auto found = types.find(labels); found != types.end()) {
    options.training->labelType = found->second.dtype;
    if (found->second.dtype == DType::I32 &&
        ignoreIndex != static_cast<int32_t>(ignoreIndex))
      return invalidArgument("--ignore-index " + std::to_string(ignoreIndex) +
                             " is no number that the labels, " +
                             found->second.str() + ", hold");
  }
  if (!memory.empty()) {
    PIPEC_ASSIGN_OR_RETURN(options.training->memoryLimit, parseBytes(memory));
  }
  return options;
}

StatusOr<TrainerOptions>
TrainArguments::trainerOptions(int64_t totalSteps) const {
  TrainerOptions options;
  options.optimizer = optimizer;
  options.optimizer.totalSteps = totalSteps;
  if (!betas.empty()) {
    PIPEC_ASSIGN_OR_RETURN(auto pair, parseBetas(betas));
    options.optimizer.beta1 = pair.first;
    options.optimizer.beta2 = pair.second;
  }
  options.accumulate = accumulate;
  options.seed = seed;
  options.transmitSharedWeights = sharedWeights == "transmit";
  options.referenceKernels = reference;
  options.checkNumerics = checkNumerics;
  if (!memory.empty()) {
    PIPEC_ASSIGN_OR_RETURN(options.memoryLimit, parseBytes(memory));
  }
  return options;
}

} // namespace pipec::tool

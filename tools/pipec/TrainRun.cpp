// Trains: see TrainRun.h. In: arguments, a model file, data. Out: a log, and
// parameters or gradients where asked for. Tests: test/e2e/cli,
// test/conformance/train_models.py.
#include "tools/pipec/TrainRun.h"

#include "compiler/BatchMixes.h"
#include "compiler/ExportRemarks.h"
#include "compiler/PackageWriter.h"
#include "runtime/base/fingerprint.h"
#include "runtime/base/safetensors.h"
#include "runtime/base/write_target.h"
#include "runtime/checkpoint/compare_runs.h"
#include "runtime/executor/batch_plan.h"
#include "runtime/package/package_impl.h"
#include "tools/pipec/CommandPaths.h"
#include "tools/pipec/IdleOptions.h"
#include "tools/pipec/StepMemory.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;

namespace pipec::tool {
namespace {

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status checkShift(const TensorType &labels) {
  const std::string what = "--shift-labels: labels " + labels.str();
  if (labels.dtype != DType::I64 && labels.dtype != DType::I32)
    return invalidArgument("--shift-labels: labels are " + labels.str() +
                           ", expected i64 or i32");
  if (labels.rank() < 2)
    return invalidArgument(what + " have no sequence dimension, only rows");
  if (labels.shape.back() < 2)
    return invalidArgument(what + " have sequences of " +
                           std::to_string(labels.shape.back()) +
                           ": shifting leaves no label");
  return {};
}

/// Label t becomes label t + 1 along the last dimension; the last of a row is
/// one to ignore.
StatusOr<Tensor> shifted(const Tensor &labels, int64_t ignore) {
  PIPEC_RETURN_IF_ERROR(checkShift(labels.type()));
  PIPEC_ASSIGN_OR_RETURN(Tensor result,
                         Tensor::copyOf(labels.type(), labels.data()));
  const int64_t length = labels.shape().back();
  auto shift = [&](auto *data) {
    using T = std::decay_t<decltype(*data)>;
    for (int64_t row = 0; row < labels.numElements() / length;
         ++row, data += length) {
      std::memmove(data, data + 1, (length - 1) * sizeof(T));
      data[length - 1] = static_cast<T>(ignore);
    }
  };
  if (labels.dtype() == DType::I64)
    shift(result.as<int64_t>());
  else
    shift(result.as<int32_t>());
  return result;
}

bool exists(const std::string &path) {
  std::error_code ignored;
  return !path.empty() && fs::exists(fs::symlink_status(path, ignored));
}

/// Refuses a file that is there already, or that cannot be, before any work.
Status checkFree(const std::string &option, const std::string &path,
                 bool overwrite) {
  if (path.empty())
    return {};
  PIPEC_RETURN_IF_ERROR(checkWholeFileTarget(path).withPrefix(option));
  if (overwrite || !exists(path))
    return {};
  return invalidArgument(option + " " + path +
                         " exists; pass --overwrite to replace it");
}

/// Whether the file is what would be written of `tensors`.
bool holds(const std::string &path, const TensorMap &tensors) {
  const auto opened = SafetensorsFile::open(path);
  if (!opened.ok() || opened->names().size() != tensors.size())
    return false; // whatever it is
  for (const auto &[name, tensor] : tensors) {
    const TensorType *type = opened->find(name);
    if (!type || *type != tensor.type())
      return false;
    const auto saved = opened->get(name);
    if (!saved.ok() ||
        (tensor.byteSize() &&
         std::memcmp(saved->data(), tensor.data(), tensor.byteSize()) != 0))
      return false;
  }
  return true;
}

CommandPaths pathsOf(const TrainArguments &a) {
  CommandPaths paths;
  paths.model = a.model;
  paths.weights = a.weightFiles;
  paths.read = {{"--data", a.tokenFile}, {"--schedule", a.scheduleFile()}};
  for (const std::string &path : a.inputs)
    paths.read.push_back({"--inputs", path});
  paths.written = {{"--log", a.log == "-" ? "" : a.log},
                   {"--save-params", a.saveParams},
                   {"--dump-grads", a.dumpGrads}};
  paths.checkpoints = a.checkpoints.folder;
  return paths;
}

} // namespace

Status TrainRun::checkOptions() {
  PIPEC_RETURN_IF_ERROR(checkPaths(pathsOf(arguments)));
  const bool resume = arguments.checkpoints.resume;
  PIPEC_RETURN_IF_ERROR(log.check(arguments.log, resume, arguments.overwrite));
  // Of a run that goes on, these may be its own: see checkResults.
  PIPEC_RETURN_IF_ERROR(checkFree("--save-params", arguments.saveParams,
                                  arguments.overwrite || resume));
  PIPEC_RETURN_IF_ERROR(checkFree("--dump-grads", arguments.dumpGrads,
                                  arguments.overwrite || resume));
  if (const std::string &folder = arguments.checkpoints.folder; !folder.empty())
    PIPEC_RETURN_IF_ERROR(checkFolderTarget(folder).withPrefix("--checkpoint"));
  if (arguments.inputs.empty() == arguments.tokenFile.empty())
    return invalidArgument("give the data as --inputs FILE.safetensors or as "
                           "--data TOKENS with --tokens INPUT");
  return checkIdleOptions(arguments);
}

/// Counts that the package has as the command line says them again.
void TrainRun::forgetWhatIsSo() {
  if (!packaged->isTrainable())
    return;
  const Schedule &schedule = packaged->impl().training->schedule;
  if (arguments.stages == schedule.stages)
    arguments.stages = 0;
  if (arguments.microbatches == schedule.microbatches)
    arguments.microbatches = 0;
}

/// A package says itself what the options of compiling say of a model file.
Status TrainRun::usePackage(TensorTypes &modelInputs) {
  PIPEC_ASSIGN_OR_RETURN(packaged, arguments.openPackage(arguments.model));
  forgetWhatIsSo();
  std::string given = arguments.givenCutOptions();
  for (const std::string &more :
       {std::string(arguments.microbatches ? "--microbatches" : ""),
        arguments.given()})
    if (!more.empty())
      given += (given.empty() ? "" : ", ") + more;
  if (!given.empty())
    return invalidArgument(arguments.model +
                           " is a package, already cut and scheduled; " +
                           given + needVerb(given) + "a model file");
  if (!packaged->isTrainable())
    return invalidArgument(arguments.model +
                           ": the package is for inference; compile the model "
                           "with --loss to train it");
  for (const InputInfo &input : packaged->inputs())
    if (input.whole)
      arguments.whole.push_back(input.name);
  const Package::Impl &impl = packaged->impl();
  if (!impl.batchMixes.empty() &&
      impl.training->schedule.microbatches * arguments.accumulate > 1)
    report(batchMixWarning(impl.batchMixes,
                           "a package compiled with --microbatches 1 keeps "
                           "them equal"));
  if (!impl.training->labels.empty())
    arguments.labels = impl.training->labels;
  arguments.ignoreIndex = impl.training->ignoreIndex;
  arguments.reduction = impl.training->mean ? "mean" : "sum";
  modelInputs = batchTypesOf(*packaged);
  return {};
}

/// What a batch of --batch rows feeds to a package; without it, each microbatch
/// has the rows that it was compiled for.
TensorTypes TrainRun::batchTypesOf(const Package &package) const {
  const Package::Impl &impl = package.impl();
  int64_t rows = arguments.batch;
  if (!rows)
    rows = impl.training->schedule.microbatches * impl.microbatchRows[0] *
           arguments.accumulate;
  TensorTypes types;
  for (size_t i = 0; i < impl.inputs.size(); ++i) {
    const InputInfo &input = impl.inputs[i];
    if (input.role != InputRole::Data)
      continue;
    TensorType &type = types[input.name] = input.types[0];
    // One that is not cut has its own; then a --batch is refused by the shapes.
    const bool hasRows =
        impl.isCut(i, 0) || (input.name == arguments.tokenInput &&
                             arguments.batch && type.rank() > 0);
    if (hasRows)
      type.shape[0] = rows;
  }
  return types;
}

Status TrainRun::openData() {
  PIPEC_RETURN_IF_ERROR(checkOptions());
  TensorTypes ports;
  PIPEC_ASSIGN_OR_RETURN(bool package, isPackage(arguments.model));
  if (!package)
    PIPEC_RETURN_IF_ERROR(arguments.takeCounts(
        arguments.stages, arguments.microbatches, !arguments.splits.empty()));
  if (package) {
    PIPEC_RETURN_IF_ERROR(usePackage(ports));
  } else if (arguments.loss.empty()) {
    return invalidArgument("--loss is missing: cross_entropy[:OUTPUT], "
                           "mse[:OUTPUT] or output:NAME");
  } else if (!arguments.tokenFile.empty()) {
    PIPEC_ASSIGN_OR_RETURN(CompileOptions options, arguments.options());
    options.accumulate = arguments.accumulate;
    PIPEC_ASSIGN_OR_RETURN(ports, modelInputTypes(arguments.model, options,
                                                  arguments.tokenInput,
                                                  arguments.batch));
  }
  PIPEC_ASSIGN_OR_RETURN(source, arguments.openSource(ports));
  reportTokens(ports);
  if (const std::string remark = source->remark(); !remark.empty())
    report(remark);
  PIPEC_RETURN_IF_ERROR(readFingerprints());
  steps = arguments.steps ? arguments.steps : source->stepsPerEpoch();
  for (const std::string &remark : idleRemarks(arguments, steps))
    report(remark);
  PIPEC_ASSIGN_OR_RETURN(scratch, TemporaryFolder::createScratch());
  return {};
}

/// What the command line leaves to us about tokens.
void TrainRun::reportTokens(const TensorTypes &inputs) const {
  if (arguments.tokenFile.empty())
    return;
  std::string ones;
  for (const auto &[name, type] : inputs)
    if (name != arguments.tokenInput && name != arguments.labels)
      ones += (ones.empty() ? "" : ", ") + name;
  if (!ones.empty())
    report("inputs that are filled with ones, as masks are: " + ones);
  if (!arguments.batch)
    report("without --batch, an update has " +
           std::to_string(inputs.at(arguments.tokenInput).shape[0]) +
           " rows of tokens");
}

/// Only checkpoints tell of them.
Status TrainRun::readFingerprints() {
  if (arguments.checkpoints.folder.empty())
    return {};
  std::vector<std::string> files = arguments.inputs;
  if (!arguments.tokenFile.empty())
    files.push_back(arguments.tokenFile);
  for (size_t i = 0; i < files.size(); ++i) {
    PIPEC_ASSIGN_OR_RETURN(const std::string print, fingerprintOf(files[i]));
    fingerprints[kDataFileNote + (" " + std::to_string(i))] =
        "'" + files[i] + "', " + print;
  }
  return {};
}

Status TrainRun::compileInto(const TensorTypes &types, const std::string &from,
                             const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(CompileOptions options,
                         arguments.compileOptions(types, from));
  PIPEC_ASSIGN_OR_RETURN(const TrainerOptions run,
                         arguments.trainerOptions(steps));
  options.training->stepMemory = [run](const CompiledModel &model) {
    return countStepMemory(model, run);
  };
  PIPEC_ASSIGN_OR_RETURN(CompiledModel model,
                         compileModel(arguments.model, options, report));
  return writePackage(model, path, {false, true}, [](const std::string &) {});
}

Status TrainRun::checkShiftOf(int64_t step) const {
  if (!arguments.shiftLabels)
    return {};
  const TensorTypes types = source->types(step);
  auto labels = types.find(arguments.labels);
  return labels == types.end()
             ? invalidArgument("--shift-labels: the batch has no tensor '" +
                               arguments.labels + "'")
             : checkShift(labels->second);
}

/// Names, types and rows of a batch, of which each step takes a part.
Status TrainRun::checkBatch(const Package::Impl &package,
                            TensorTypes types) const {
  PIPEC_RETURN_IF_ERROR(checkNames(package, types, false));
  TensorTypes part;
  for (size_t i = 0; i < package.inputs.size(); ++i) {
    const std::string &name = package.inputs[i].name;
    if (!package.isFed(i))
      continue;
    TensorType &type = part[name] = types.at(name);
    if (!package.isCut(i, 0) || type.rank() == 0)
      continue;
    if (type.shape[0] % arguments.accumulate)
      return invalidArgument(
          "input '" + name + "' has " + std::to_string(type.shape[0]) +
          " rows, which --accumulate " + std::to_string(arguments.accumulate) +
          " does not divide");
    type.shape[0] /= arguments.accumulate;
  }
  return planTypes(package, part, package.training->schedule.microbatches)
      .status();
}

/// All plans, before the first step: a later file that does not fit is found
/// now, and not after the steps before it.
Status TrainRun::prepare(int64_t start) {
  const int64_t count =
      std::max<int64_t>(1, std::min(steps - start, source->typePeriod()));
  for (int64_t step = start; step < start + count; ++step) {
    const std::string file = source->fileOf(step);
    PIPEC_RETURN_IF_ERROR(checkShiftOf(step).withPrefix(file));
    const TensorTypes types = source->types(step);
    auto trainer = trainerFor(types, file);
    if (!trainer.ok()) {
      const Status &status = trainer.status();
      const bool isOfFile =
          step != start && status.message().find(file) == std::string::npos;
      return isOfFile ? status.withPrefix(file) : status;
    }
    PIPEC_RETURN_IF_ERROR(aboutTheModel(
        checkBatch(findPlan(types)->package.impl(), types).withPrefix(file),
        planPath(), arguments.model));
    if (step == start)
      current = *trainer;
  }
  return {};
}

/// A package has one plan for all of its sizes.
const TrainRun::Plan *TrainRun::findPlan(const TensorTypes &types) const {
  auto found = std::find_if(plans.begin(), plans.end(), [&](const Plan &plan) {
    return packaged || plan.types == types;
  });
  return found == plans.end() ? nullptr : &*found;
}

StatusOr<Trainer *> TrainRun::trainerFor(const TensorTypes &types,
                                         const std::string &from) {
  if (const Plan *plan = findPlan(types))
    return plan->trainer.get();
  std::string path = arguments.model;
  if (!packaged) {
    path = scratch->path() + "/plan" + std::to_string(plans.size()) + ".pipe";
    PIPEC_RETURN_IF_ERROR(compileInto(types, from, path));
  }
  auto made = makeTrainer(types, path);
  if (!made.ok())
    return aboutTheModel(made.status(), path, arguments.model);
  return made;
}

StatusOr<Trainer *> TrainRun::makeTrainer(const TensorTypes &types,
                                          const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(Package package, arguments.openPackage(path));
  PIPEC_ASSIGN_OR_RETURN(TrainerOptions options,
                         arguments.trainerOptions(steps));
  PIPEC_ASSIGN_OR_RETURN(std::unique_ptr<Trainer> trainer,
                         Trainer::create(package, options));
  if (plans.empty()) {
    for (const InputInfo &input : package.inputs())
      if (input.role == InputRole::Data || input.role == InputRole::Labels)
        packageInputs.push_back(input.name);
    PIPEC_RETURN_IF_ERROR(loadWeights(*trainer));
  }
  plans.push_back({types, package, std::move(trainer)});
  return plans.back().trainer.get();
}

Status TrainRun::loadWeights(Trainer &trainer) const {
  if (arguments.weightFiles.empty() || checkpoints.isResumed())
    return {};
  auto remarks = trainer.loadWeights(arguments.weightFiles);
  if (!remarks.ok())
    return remarks.status().withPrefix("--weights");
  for (const std::string &remark : *remarks)
    report("--weights: " + remark);
  return {};
}

/// What a package says of how it was compiled; see usePackage.
static bool isKnownOfPackages(const std::string &option) {
  return option == "reduction" || option == "labels" ||
         option == "ignore-index" || option == "shift-labels";
}

/// What decides the numbers beside model, optimizer and microbatches, which the
/// trainer knows.
CheckpointNotes TrainRun::notes() const {
  CheckpointNotes notes;
  notes.data = source->describe();
  notes.settings = fingerprints;
  auto number = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return std::string(text);
  };
  for (const auto &[option, value] : std::map<std::string, std::string>{
           {"loss", arguments.loss},
           {"reduction", arguments.reduction},
           {"labels", arguments.labels},
           {"ignore-index", std::to_string(arguments.ignoreIndex)},
           {"label-smoothing", number(arguments.labelSmoothing)},
           {"shift-labels", arguments.shiftLabels ? "yes" : "no"},
           {"batch-norm", arguments.batchNorm}})
    if (!value.empty() && (!packaged || isKnownOfPackages(option)))
      notes.settings[option] = value;
  return notes;
}

StatusOr<TensorMap> TrainRun::batchFor(int64_t step) const {
  PIPEC_ASSIGN_OR_RETURN(TensorMap batch, source->batch(step));
  if (arguments.shiftLabels) {
    Tensor &labels = batch.at(arguments.labels); // see checkShiftOf
    PIPEC_ASSIGN_OR_RETURN(labels, shifted(labels, arguments.ignoreIndex));
  }
  return batch;
}

/// Whole numbers in rows and columns are tokens; else rows are counted.
static StepWork workOf(const TensorMap &fed, const std::string &labels) {
  StepWork work;
  for (const auto &[name, tensor] : fed) {
    const TensorType &type = tensor.type();
    const bool isTokens =
        name != labels && type.rank() == 2 &&
        (type.dtype == DType::I64 || type.dtype == DType::I32);
    const int64_t rows = type.rank() > 0 ? type.shape[0] : 0;
    if (isTokens)
      work.count = work.isTokens ? std::max(work.count, tensor.numElements())
                                 : tensor.numElements();
    else if (!work.isTokens)
      work.count = std::max(work.count, rows);
    work.isTokens |= isTokens;
  }
  return work;
}

Status TrainRun::trainStep(int64_t step) {
  PIPEC_ASSIGN_OR_RETURN(TensorMap batch, batchFor(step));
  PIPEC_ASSIGN_OR_RETURN(Trainer * trainer,
                         trainerFor(typesOf(batch), source->fileOf(step)));
  if (current != trainer)
    PIPEC_RETURN_IF_ERROR(trainer->takeStateFrom(*current));
  current = trainer;
  TensorMap fed;
  for (const std::string &name : packageInputs)
    if (auto found = batch.find(name); found != batch.end())
      fed.insert(*found);
  double start = now();
  auto stepped = trainer->step(fed);
  if (!stepped.ok())
    return aboutTheModel(stepped.status(), planPath(), arguments.model);
  const StepResult &result = *stepped;
  double seconds = now() - start;
  totalSeconds += seconds;
  if (step == checkpoints.firstStep())
    PIPEC_RETURN_IF_ERROR(saveGradients(*trainer));
  PIPEC_RETURN_IF_ERROR(
      log.add(result, seconds, workOf(fed, arguments.labels)));
  showProgress(result, seconds);
  warnOfNumbers(result);
  return checkpoints.afterStep(*trainer, step + 1, steps, notes());
}

/// Once each: all later ones are likely to be so, too.
void TrainRun::warnOfNumbers(const StepResult &result) {
  auto warn = [&](const char *what, double number, bool &warned) {
    if (std::isfinite(number) || warned)
      return;
    warned = true;
    report(std::string("warning: the ") + what + " is " +
           (std::isnan(number) ? "nan"
            : number > 0       ? "inf"
                               : "-inf") +
           " at step " + std::to_string(result.step + 1) + " of " +
           std::to_string(steps) +
           (arguments.checkNumerics
                ? ", although no operation makes that of finite numbers: data "
                  "or weights hold one"
                : "; --check-numerics names the operation that makes it"));
  };
  warn("loss", result.loss, lossWarned);
  // A loss that is not finite has no other gradient.
  if (!lossWarned)
    warn("gradient norm", result.gradientNorm, normWarned);
}

/// On a terminal one line that is written over; elsewhere a line now and then.
void TrainRun::showProgress(const StepResult &result, double seconds) {
  if (arguments.quiet)
    return;
  const int64_t done = result.step + 1;
  const bool terminal = isatty(STDERR_FILENO);
  const int64_t every = std::max<int64_t>(1, steps / 20);
  if (!terminal && done % every && done != steps && done != 1)
    return;
  const double left = totalSeconds / double(done - checkpoints.firstStep()) *
                      double(steps - done);
  auto unsignedNan = [](double value) {
    return std::isnan(value) ? std::abs(value) : value;
  };
  std::fprintf(stderr,
               "%spipec: step %lld of %lld  loss %.6f  norm %.4f  lr %.3g  "
               "%.3f s  %.0f s left%s",
               terminal ? "\r\x1b[K" : "", static_cast<long long>(done),
               static_cast<long long>(steps), unsignedNan(result.loss),
               unsignedNan(result.gradientNorm), result.learningRate, seconds,
               left, terminal ? "" : "\n");
  std::fflush(stderr);
  progressIsOpen = terminal;
}

void TrainRun::endProgress() {
  if (progressIsOpen)
    std::fputc('\n', stderr);
  progressIsOpen = false;
}

static void addTied(TensorMap &tensors, const Trainer &trainer) {
  for (const auto &[name, aliases] : trainer.aliases())
    if (auto found = tensors.find(name); found != tensors.end()) {
      Tensor tensor = found->second;
      for (const std::string &alias : aliases)
        tensors.emplace(alias, tensor);
    }
}

/// Once something was saved that a user may take for the whole model.
void TrainRun::reportPartial() const {
  if (arguments.saveParams.empty() && arguments.checkpoints.folder.empty())
    return;
  const Package::Impl &impl = plans.front().package.impl();
  for (const std::string &line :
       describePartial(impl.missing, impl.guessedNames))
    report("warning: " + line);
}

Status TrainRun::saveWeights() const {
  if (arguments.saveParams.empty())
    return {};
  if (!arguments.overwrite && exists(arguments.saveParams)) {
    TensorMap weights = current->parameters();
    for (auto &buffer : current->buffers())
      weights.insert(buffer);
    addTied(weights, *current);
    if (!holds(arguments.saveParams, weights))
      return checkFree("--save-params", arguments.saveParams, false);
    report("--save-params " + arguments.saveParams + " holds them already");
    return {};
  }
  auto whole = postponeInterrupts();
  return current->saveParameters(arguments.saveParams, arguments.overwrite);
}

Status TrainRun::saveGradients(Trainer &trainer) const {
  if (arguments.dumpGrads.empty())
    return {};
  TensorMap gradients = trainer.gradients();
  addTied(gradients, trainer);
  // Of a run that was killed before its first checkpoint.
  if (!arguments.overwrite && exists(arguments.dumpGrads))
    return holds(arguments.dumpGrads, gradients)
               ? Status()
               : checkFree("--dump-grads", arguments.dumpGrads, false);
  auto whole = postponeInterrupts();
  return saveSafetensors(arguments.dumpGrads, gradients, arguments.overwrite);
}

Status TrainRun::run() {
  Status status = train();
  endProgress();
  return status;
}

/// Results that are there already, where the run goes on: gradients of the
/// first step were written by its first part; weights, by a part that came to
/// the last step (see saveWeights).
Status TrainRun::checkResults() {
  if (arguments.overwrite)
    return {};
  if (checkpoints.isResumed() && exists(arguments.dumpGrads)) {
    report("--dump-grads " + arguments.dumpGrads +
           " is there already, and stays: it is of the run's first step");
    arguments.dumpGrads.clear();
  }
  return checkpoints.firstStep() == steps
             ? Status()
             : checkFree("--save-params", arguments.saveParams, false);
}

Status TrainRun::train() {
  PIPEC_RETURN_IF_ERROR(openData());
  PIPEC_RETURN_IF_ERROR(checkpoints.open(arguments.overwrite));
  const int64_t start = checkpoints.firstStep();
  if (start > steps)
    return invalidArgument(
        "--resume: the latest checkpoint has " + std::to_string(start) +
        " steps already, more than --steps " + std::to_string(steps));
  PIPEC_RETURN_IF_ERROR(checkResults());
  // Before anything is written: a model that cannot be cut or trained so.
  PIPEC_RETURN_IF_ERROR(prepare(start));
  PIPEC_RETURN_IF_ERROR(checkpoints.resume(*current, notes()));
  PIPEC_RETURN_IF_ERROR(log.open(arguments.checkpoints.resume, start));
  if (!log.remark().empty())
    report("--log " + arguments.log + ": " + log.remark());
  for (int64_t step = start; step < steps; ++step)
    PIPEC_RETURN_IF_ERROR(trainStep(step));
  PIPEC_RETURN_IF_ERROR(saveWeights());
  reportPartial();
  const int64_t made = steps - start;
  report(made == 0 ? "the run is complete: all of the steps were done already"
                   : "trained " + std::to_string(made) +
                         (made == 1 ? " step" : " steps") + " in " +
                         std::to_string(totalSeconds) + " s");
  return {};
}

} // namespace pipec::tool

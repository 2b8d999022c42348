// `pipec run`: a model file or package, tensors in, tensors out.
// A model file is compiled into a temporary package first, its weights left in
// place. Tests: test/e2e/cli, test/conformance.
#include "compiler/BatchMixes.h"
#include "compiler/PackageWriter.h"
#include "pipec/session.h"
#include "runtime/base/input_text.h"
#include "runtime/base/printable.h"
#include "runtime/base/safetensors.h"
#include "runtime/base/temporaries.h"
#include "runtime/base/write_target.h"
#include "runtime/executor/batch_plan.h"
#include "runtime/package/package_impl.h"
#include "tools/pipec/CommandPaths.h"
#include "tools/pipec/Commands.h"
#include "tools/pipec/Compare.h"
#include "tools/pipec/ModelArguments.h"
#include "tools/pipec/NumberChecks.h"
#include "tools/pipec/ParseBytes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace pipec::tool {
namespace {

struct RunArguments : ModelArguments {
  std::string inputs, outputs, expected, memory;
  double absolute = 1e-5, relative = 1e-4;
  int64_t stage = -1;
  bool overwrite = false, json = false, checkNumerics = false,
       reference = false;
  std::vector<const CLI::Option *> tolerances;

  bool toleranceGiven() const {
    return std::any_of(tolerances.begin(), tolerances.end(),
                       [](const CLI::Option *o) { return o->count() > 0; });
  }
};

/// Compiles into `scratch` and returns the package's path.
StatusOr<std::string> compileForRun(const RunArguments &arguments,
                                    const TensorMap &inputs,
                                    const TemporaryFolder &scratch) {
  PIPEC_ASSIGN_OR_RETURN(CompileOptions options, arguments.options());
  options.given = GivenInputs{arguments.inputs, {}};
  for (const auto &[name, tensor] : inputs) {
    options.inputShapes[name] = tensor.shape();
    options.given->types[name] = tensor.type();
  }
  Reporter report = arguments.reporter();
  PIPEC_ASSIGN_OR_RETURN(CompiledModel model,
                         compileModel(arguments.model, options, report));
  std::string path = scratch.path() + "/model.pipe";
  PIPEC_RETURN_IF_ERROR(
      writePackage(model, path, {false, true}, [](const std::string &) {}));
  return path;
}

/// The model's inputs among the file's tensors; a file may hold labels and the
/// like beside them.
TensorMap selectInputs(const Package &package, const TensorMap &tensors,
                       const Reporter &report) {
  TensorMap inputs;
  for (const InputInfo &input : package.inputs())
    if (auto found = tensors.find(input.name); found != tensors.end())
      inputs.insert(*found);
  std::string surplus;
  for (const auto &[name, tensor] : tensors)
    if (!inputs.count(name))
      surplus += (surplus.empty() ? "" : ", ") + name;
  if (!surplus.empty())
    report("not inputs of this model, ignored: " + surplus);
  return inputs;
}

/// What one stage reads, against all that the file holds.
Status checkStageInputs(const RunArguments &arguments, const Package &package,
                        const TensorMap &tensors) {
  InputTexts expected, given;
  for (const ProgramInputDesc &input :
       package.impl().programs[arguments.stage][0].inputs)
    expected[input.name] = input.type.str();
  for (const auto &[name, tensor] : tensors)
    given[name] = tensor.type().str();
  std::string text = inputMismatch(expected, given, false);
  return text.empty()
             ? Status()
             : invalidArgument(arguments.inputs + ": stage " +
                               std::to_string(arguments.stage) + ": " + text);
}

/// One microbatch through one stage of a package, which reads that stage's
/// weights only.
StatusOr<TensorMap> runOneStage(const RunArguments &arguments,
                                const Package &package,
                                const TensorMap &tensors,
                                const SessionOptions &options) {
  if (arguments.microbatches > 1)
    return invalidArgument(
        "--stage runs one microbatch; --microbatches does not go with it");
  PIPEC_ASSIGN_OR_RETURN(
      std::unique_ptr<StageRunner> runner,
      StageRunner::create(package, arguments.stage, options));
  PIPEC_RETURN_IF_ERROR(checkStageInputs(arguments, package, tensors));
  TensorMap inputs;
  for (const std::string &name : runner->inputNames())
    if (auto found = tensors.find(name); found != tensors.end())
      inputs.insert(*found);
  return runner->run(inputs);
}

std::function<void(int64_t, int64_t)>
progressLine(const RunArguments &arguments) {
  if (arguments.quiet || !isatty(STDERR_FILENO))
    return {};
  return [](int64_t done, int64_t total) {
    std::fprintf(stderr, "\rpipec: microbatch %lld of %lld%s",
                 static_cast<long long>(done), static_cast<long long>(total),
                 done == total ? "\n" : "");
    std::fflush(stderr);
  };
}

/// Of a package; of a model file the compiler said it already.
void warnOfBatchMixes(const RunArguments &arguments, const Package &package,
                      const BatchPlan &plan) {
  const std::vector<std::string> &mixes = package.impl().batchMixes;
  if (!mixes.empty() && plan.count() > 1)
    arguments.reporter()(
        batchMixWarning(mixes, "a package compiled with --microbatches 1 for "
                               "the whole batch keeps them equal"));
}

StatusOr<TensorMap> runAllStages(const RunArguments &arguments,
                                 const Package &package,
                                 const TensorMap &tensors,
                                 const SessionOptions &options, bool isPacked) {
  PIPEC_RETURN_IF_ERROR(checkNames(package.impl(), typesOf(tensors), false)
                            .withPrefix(arguments.inputs));
  TensorMap inputs = selectInputs(package, tensors, arguments.reporter());
  RunOptions runOptions;
  runOptions.microbatches =
      arguments.microbatches; // 0 for a package: as many as its sizes give
  runOptions.progress = progressLine(arguments);
  // Before the weights are read, and with the name of the file.
  StatusOr<BatchPlan> plan =
      planBatch(package.impl(), inputs, runOptions.microbatches);
  if (!plan.ok())
    return plan.status().withPrefix(arguments.inputs);
  if (isPacked)
    warnOfBatchMixes(arguments, package, *plan);
  PIPEC_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::create(package, options));
  return session->run(inputs, runOptions);
}

void printSummary(const RunArguments &arguments, const Package &package,
                  const TensorMap &outputs, double seconds) {
  if (!arguments.json) {
    if (arguments.stage >= 0)
      std::printf("ran stage %lld in %.3f s\n",
                  static_cast<long long>(arguments.stage), seconds);
    else
      std::printf("ran %zu %s in %.3f s\n", package.stages().size(),
                  package.stages().size() == 1 ? "stage" : "stages", seconds);
    for (const auto &[name, tensor] : outputs)
      std::printf("  %s  %s\n", printable(name).c_str(),
                  tensor.type().str().c_str());
    if (!arguments.outputs.empty())
      std::printf("wrote %s\n", arguments.outputs.c_str());
    return;
  }
  nlohmann::ordered_json report;
  report["stages"] = package.stages().size();
  report["seconds"] = seconds;
  report["outputs"] = nlohmann::ordered_json::array();
  for (const auto &[name, tensor] : outputs)
    report["outputs"].push_back(
        {{"name", name},
         {"dtype", std::string(dtypeName(tensor.dtype()))},
         {"shape", tensor.shape()}});
  std::printf(
      "%s\n",
      report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
          .c_str());
}

Status checkArguments(const RunArguments &arguments, bool package) {
  if (arguments.outputs.empty() && arguments.expected.empty())
    return invalidArgument("nothing to do with the outputs: pass --outputs "
                           "FILE, --expect FILE, or both");
  if (!arguments.outputs.empty())
    PIPEC_RETURN_IF_ERROR(
        checkWholeFileTarget(arguments.outputs).withPrefix("--outputs"));
  std::error_code ignored;
  if (!arguments.outputs.empty() && !arguments.overwrite &&
      std::filesystem::exists(
          std::filesystem::symlink_status(arguments.outputs, ignored)))
    return invalidArgument(arguments.outputs +
                           " exists; pass --overwrite to replace it");
  CommandPaths paths;
  paths.model = arguments.model;
  paths.read = {{"--inputs", arguments.inputs},
                {"--expect", arguments.expected}};
  paths.written = {{"--outputs", arguments.outputs}};
  PIPEC_RETURN_IF_ERROR(checkPaths(paths));
  if (arguments.expected.empty() && arguments.toleranceGiven())
    return invalidArgument("--absolute-tolerance and --relative-tolerance are "
                           "of --expect FILE, which is missing");
  ModelArguments others = arguments;
  if (package && arguments.stages) {
    PIPEC_ASSIGN_OR_RETURN(const Package opened,
                           arguments.openPackage(arguments.model));
    if (arguments.stages == static_cast<int64_t>(opened.stages().size()))
      others.stages = 0; // says what is so
  }
  std::string given = others.givenCutOptions();
  if (!package && arguments.stage >= 0)
    return invalidArgument("--stage needs a package: compile the model first");
  if (package && !given.empty())
    return invalidArgument(arguments.model +
                           " is a package, already cut and bound; " + given +
                           needVerb(given) + "a model file");
  return {};
}

StatusOr<SessionOptions> sessionOptionsOf(const RunArguments &arguments) {
  SessionOptions options;
  options.checkNumerics = arguments.checkNumerics;
  options.referenceKernels = arguments.reference;
  if (!arguments.memory.empty()) {
    PIPEC_ASSIGN_OR_RETURN(options.memoryLimit, parseBytes(arguments.memory));
  }
  return options;
}

/// Opens `path`, runs it, compares and writes: nothing is written when the
/// outputs are not the expected ones.
Status runPackage(const RunArguments &arguments, const std::string &path,
                  const TensorMap &tensors, const TensorMap &expected) {
  PIPEC_ASSIGN_OR_RETURN(SessionOptions options, sessionOptionsOf(arguments));
  PIPEC_ASSIGN_OR_RETURN(Package package, arguments.openPackage(path));
  auto start = std::chrono::steady_clock::now();
  PIPEC_ASSIGN_OR_RETURN(
      TensorMap outputs,
      arguments.stage >= 0
          ? runOneStage(arguments, package, tensors, options)
          : runAllStages(arguments, package, tensors, options,
                         /*isPacked=*/path == arguments.model));
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  std::string differences;
  if (!arguments.expected.empty()) {
    PIPEC_ASSIGN_OR_RETURN(
        differences, compareOutputs(outputs, expected,
                                    {arguments.absolute, arguments.relative}));
  }
  if (!arguments.outputs.empty()) {
    auto whole = postponeInterrupts();
    PIPEC_RETURN_IF_ERROR(
        saveSafetensors(arguments.outputs, outputs, arguments.overwrite));
  }
  printSummary(arguments, package, outputs, seconds);
  if (!arguments.json)
    std::fputs(differences.c_str(), stdout);
  return {};
}

StatusOr<TensorMap> loadExpected(const RunArguments &arguments) {
  if (arguments.expected.empty())
    return TensorMap{};
  PIPEC_ASSIGN_OR_RETURN(TensorMap expected,
                         loadSafetensors(arguments.expected));
  if (expected.empty())
    return invalidArgument(arguments.expected +
                           " holds no tensors to compare with");
  return expected;
}

Status run(const RunArguments &arguments) {
  PIPEC_ASSIGN_OR_RETURN(bool isPacked, isPackage(arguments.model));
  PIPEC_RETURN_IF_ERROR(checkArguments(arguments, isPacked));
  PIPEC_ASSIGN_OR_RETURN(TensorMap expected, loadExpected(arguments));
  PIPEC_ASSIGN_OR_RETURN(TensorMap tensors, loadSafetensors(arguments.inputs));
  if (isPacked)
    return aboutTheModel(
        runPackage(arguments, arguments.model, tensors, expected),
        arguments.model, arguments.model);
  PIPEC_ASSIGN_OR_RETURN(auto scratch, TemporaryFolder::createScratch());
  PIPEC_ASSIGN_OR_RETURN(std::string path,
                         compileForRun(arguments, tensors, *scratch));
  return aboutTheModel(runPackage(arguments, path, tensors, expected), path,
                       arguments.model);
}

} // namespace

void addRunCommand(CLI::App &app, Exit &exit) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App *command =
      app.add_subcommand("run", "Run a model or package on a batch of inputs");
  arguments->addTo(*command, "Model file (.onnx) or package");
  arguments->addAllowExternalTo(*command);
  command
      ->add_option("--inputs", arguments->inputs,
                   "safetensors file with the inputs under the model's names")
      ->required();
  command->add_option("--outputs", arguments->outputs,
                      "safetensors file to write the outputs to");
  command->add_flag("--overwrite", arguments->overwrite,
                    "Replace an existing outputs file");
  command
      ->add_option("--expect", arguments->expected,
                   "safetensors file to compare the outputs with; a difference "
                   "is a failure")
      ->group("Checking");
  for (auto [name, value] :
       {std::pair("--absolute-tolerance", &arguments->absolute),
        std::pair("--relative-tolerance", &arguments->relative)})
    arguments->tolerances.push_back(
        command->add_option(name, *value, "for --expect")
            ->check(numberFrom(0))
            ->capture_default_str()
            ->group("Checking"));
  command
      ->add_flag("--check-numerics", arguments->checkNumerics,
                 "Stop at the first NaN or infinity, naming stage, microbatch "
                 "and operation")
      ->group("Checking");
  command
      ->add_flag("--reference-kernels", arguments->reference,
                 "Only the plain reference kernels: slow")
      ->group("Checking");
  command->add_option(
      "--memory", arguments->memory,
      "Refuse to start when buffers need more than this, such as 16GiB");
  command
      ->add_option("--stage", arguments->stage,
                   "Run this stage of a package alone, for one microbatch; its "
                   "inputs are named as 'inspect --json' names them")
      ->check(wholeNumber(0, 4095));
  command->add_flag("--json", arguments->json, "Print the summary as JSON");
  command->footer("Example: pipec run model.onnx --stages 3 --microbatches 4 "
                  "--inputs in.safetensors --outputs out.safetensors");
  command->callback([arguments, &exit] { exit.set(run(*arguments)); });
}

} // namespace pipec::tool

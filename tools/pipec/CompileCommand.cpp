// `pipec compile`: a model file in, a package out.
// Tests: test/e2e/cli.
#include "compiler/PackageWriter.h"
#include "tools/pipec/CommandPaths.h"
#include "tools/pipec/Commands.h"
#include "tools/pipec/ModelArguments.h"
#include "tools/pipec/ParseBytes.h"
#include "tools/pipec/StepMemory.h"
#include "tools/pipec/TrainingPackageArguments.h"

#include <cstdio>

namespace pipec::tool {
namespace {

struct CompileArguments : ModelArguments, TrainingPackageArguments {
  std::string output, memory;
  bool inPlace = false, overwrite = false, json = false;
};

/// Whether it is what `run` and `train` take.
Status opens(const std::string &folder) {
  return Package::open(folder).status();
}

Status compile(CompileArguments arguments) {
  PIPEC_ASSIGN_OR_RETURN(bool package, isPackage(arguments.model));
  if (package)
    return invalidArgument(arguments.model +
                           " is a package already; compile takes a model file");
  PIPEC_RETURN_IF_ERROR(arguments.takeCounts(
      arguments.stages, arguments.microbatches, !arguments.splits.empty()));
  PIPEC_ASSIGN_OR_RETURN(CompileOptions options, arguments.options());
  if (arguments.memory.empty() == (arguments.recompute == "auto"))
    return invalidArgument("--recompute auto and --memory SIZE go together: "
                           "stages recompute until a step fits");
  if (!arguments.loss.empty()) {
    PIPEC_ASSIGN_OR_RETURN(options.training, arguments.trainingOptions());
    if (!arguments.memory.empty()) {
      PIPEC_ASSIGN_OR_RETURN(options.training->memoryLimit,
                             parseBytes(arguments.memory));
      TrainerOptions run;
      run.memoryLimit = options.training->memoryLimit;
      options.training->stepMemory = [run](const CompiledModel &model) {
        return countStepMemory(model, run);
      };
    }
  } else if (std::string given = arguments.given(); !given.empty()) {
    return invalidArgument(given + ": training alone has that; add --loss");
  }
  CommandPaths paths;
  paths.model = arguments.model;
  paths.read = {{"--schedule", arguments.scheduleFile()}};
  paths.written = {{"--output", arguments.output}};
  PIPEC_RETURN_IF_ERROR(checkPaths(paths));
  PIPEC_RETURN_IF_ERROR(
      checkPackageTarget(arguments.output, arguments.overwrite));
  Reporter report = arguments.reporter();
  PIPEC_ASSIGN_OR_RETURN(CompiledModel model,
                         compileModel(arguments.model, options, report));
  WriteOptions write{arguments.overwrite, arguments.inPlace, opens};
  PIPEC_RETURN_IF_ERROR(writePackage(model, arguments.output, write, report));
  ReportContext context = reportContext(model, options.microbatches);
  std::string text = arguments.json ? jsonReport(model.manifest, context)
                                    : textReport(model.manifest, context);
  std::fputs(text.c_str(), stdout);
  if (!arguments.json)
    std::printf("wrote %s\n", arguments.output.c_str());
  return {};
}

} // namespace

void addCompileCommand(CLI::App &app, Exit &exit) {
  auto arguments = std::make_shared<CompileArguments>();
  CLI::App *command = app.add_subcommand(
      "compile", "Cut a model and write it as a package that 'pipec "
                 "run', 'pipec train' and the library load");
  arguments->ModelArguments::addTo(*command, "Model file (.onnx)");
  arguments->TrainingPackageArguments::addTo(*command);
  command
      ->add_option("--memory", arguments->memory,
                   "Of --recompute auto: what a training step may take, such "
                   "as 16GiB")
      ->group("Schedule");
  command
      ->add_option("-o,--output", arguments->output,
                   "Package folder to write, such as model.pipe")
      ->required();
  command->add_flag(
      "--weights-in-place", arguments->inPlace,
      "Leave the weights in the model's own files and refer to them");
  command->add_flag("--overwrite", arguments->overwrite,
                    "Replace an existing package");
  command->add_flag("--json", arguments->json, "Print the report as JSON");
  command->footer("Examples:\n"
                  "  pipec compile gpt2.onnx -o gpt2.pipe --stages 3 --bind "
                  "batch=8 --microbatches 4\n"
                  "  pipec compile mlp.onnx -o mlp.pipe --split layer0:END "
                  "--split layer1:END --bind batch=32\n"
                  "  pipec compile gpt2.onnx -o train.pipe --stages 3 --bind "
                  "batch=8 --microbatches 4 --loss cross_entropy\n"
                  "With --loss the package is for training, else for "
                  "inference.\n"
                  "A package runs batches of any number of microbatches of the "
                  "sizes that it was compiled for.");
  command->callback([arguments, &exit] { exit.set(compile(*arguments)); });
}

} // namespace pipec::tool

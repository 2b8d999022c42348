// `pipec inspect`: the stages of a model or package, and what crosses each cut.
// Tests: test/e2e/cli, test/conformance.
#include "tools/pipec/Commands.h"
#include "tools/pipec/ModelArguments.h"

#include "compiler/PackageWriter.h"
#include "passes/schedule/Csv.h"
#include "runtime/package/package_impl.h"

#include <cstdio>

namespace pipec::tool {
namespace {

struct InspectArguments : ModelArguments {
  bool json = false;
  bool scheduleCsv = false;
};

struct Inspected {
  schema::Manifest manifest;
  ReportContext context;
};

StatusOr<Inspected> inspectPackage(const InspectArguments &arguments) {
  std::string given = arguments.givenCutOptions();
  if (!given.empty())
    return invalidArgument(arguments.model +
                           " is a package, already cut and bound; " + given +
                           needVerb(given) + "a model file");
  PIPEC_ASSIGN_OR_RETURN(Package package, Package::open(arguments.model));
  Inspected inspected;
  PIPEC_ASSIGN_OR_RETURN(inspected.manifest, readManifest(arguments.model));
  inspected.context.microbatches =
      arguments.microbatches ? arguments.microbatches : 1;
  for (const StageInfo &stage : package.stages())
    inspected.context.arenaBytes.push_back(
        stage.arenaBytes.empty() ? 0
                                 : *std::max_element(stage.arenaBytes.begin(),
                                                     stage.arenaBytes.end()));
  return inspected;
}

StatusOr<Inspected> inspectModel(const InspectArguments &arguments) {
  PIPEC_ASSIGN_OR_RETURN(CompileOptions options, arguments.options());
  options.defaultBindings = true;
  PIPEC_ASSIGN_OR_RETURN(
      CompiledModel model,
      compileModel(arguments.model, options, arguments.reporter()));
  return Inspected{model.manifest, reportContext(model, options.microbatches)};
}

/// In torch's format, compute actions alone, for --schedule FILE.csv or for
/// torch.distributed.pipelining.
Status printSchedule(const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(Package package, Package::open(path));
  if (!package.isTrainable())
    return invalidArgument(path + " is a package for inference, which has no "
                                  "schedule; compile the model with --loss");
  PIPEC_ASSIGN_OR_RETURN(std::string csv,
                         writeScheduleCsv(package.impl().training->schedule));
  std::fputs(csv.c_str(), stdout);
  return {};
}

Status inspect(const InspectArguments &arguments) {
  PIPEC_ASSIGN_OR_RETURN(bool package, isPackage(arguments.model));
  if (arguments.scheduleCsv && !package)
    return invalidArgument("--schedule-csv is of a package for training; "
                           "'pipec compile' with --loss and --schedule makes "
                           "one of " +
                           arguments.model);
  if (arguments.scheduleCsv)
    return printSchedule(arguments.model);
  PIPEC_ASSIGN_OR_RETURN(Inspected inspected, package
                                                  ? inspectPackage(arguments)
                                                  : inspectModel(arguments));
  std::string text = arguments.json
                         ? jsonReport(inspected.manifest, inspected.context)
                         : textReport(inspected.manifest, inspected.context);
  std::fputs(text.c_str(), stdout);
  return {};
}

} // namespace

void addInspectCommand(CLI::App &app, Exit &exit) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App *command = app.add_subcommand(
      "inspect", "Show the stages, the modules and parameters in each, and "
                 "what crosses each cut");
  arguments->addTo(*command, "Model file (.onnx) or package");
  auto *json = command->add_flag("--json", arguments->json, "Print JSON");
  command
      ->add_flag("--schedule-csv", arguments->scheduleCsv,
                 "Print the schedule of a package for training, a row a rank, "
                 "as torch.distributed.pipelining writes it")
      ->excludes(json);
  command->footer(
      "Symbolic dimensions that are not bound count as 1.\n"
      "Example: pipec inspect mlp.onnx --split layer0:END --split layer1:END");
  command->callback([arguments, &exit] { exit.set(inspect(*arguments)); });
}

} // namespace pipec::tool

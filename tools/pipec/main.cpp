// The command line: registers the commands and maps failure to the exit status.
// 0: the whole thing was done. 1: it was not, and one message says why. 2: the
// command line itself is wrong.
#include "tools/pipec/Commands.h"

#include "pipec/version.h"

#include "compiler/Temporaries.h"

#include <cstdio>

namespace {

/// A first word that is no command is named, before CLI11 asks for one.
bool isUnknownCommand(const CLI::App &app, int argc, char **argv) {
  if (argc < 2 || argv[1][0] == '-')
    return false;
  for (const CLI::App *command : app.get_subcommands(nullptr))
    if (command->get_name() == argv[1])
      return false;
  std::fprintf(
      stderr,
      "pipec: error: there is no command '%s'; 'pipec --help' lists them\n",
      argv[1]);
  return true;
}

} // namespace

int main(int argc, char **argv) {
  pipec::removeTemporariesWhenInterrupted();
  CLI::App app{
      "pipec cuts a model exported from PyTorch into pipeline stages and runs "
      "them, with the same numbers as if it had never been cut."};
  app.set_version_flag("--version", std::string("pipec ") + pipec::kVersion);
  app.require_subcommand(1);
  app.footer("Start with:\n"
             "  pipec inspect model.onnx --stages 3          what lies in each "
             "stage, what crosses each cut\n"
             "  pipec run model.onnx --stages 3 --microbatches 4 --inputs "
             "in.safetensors --outputs out.safetensors\n"
             "'pipec COMMAND --help' explains each command.");
  pipec::tool::Exit result;
  pipec::tool::addCompileCommand(app, result);
  pipec::tool::addRunCommand(app, result);
  pipec::tool::addTrainCommand(app, result);
  pipec::tool::addCheckpointCommand(app, result);
  pipec::tool::addInspectCommand(app, result);
  pipec::tool::addDoctorCommand(app, result);
  if (isUnknownCommand(app, argc, argv))
    return 2;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    result.set(pipec::ioError("the result cannot be written to stdout"));
  return result.code;
}

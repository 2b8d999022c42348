// The command line: registers the commands and maps failure to the exit status.
// 0: the whole thing was done. 1: it was not, and one message says why. 2: the
// command line itself is wrong.
#include "tools/pipec/Commands.h"

#include "pipec/version.h"

int main(int argc, char **argv) {
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
  pipec::tool::addInspectCommand(app, result);
  pipec::tool::addDoctorCommand(app, result);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return result.code;
}

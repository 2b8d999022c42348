// The command line: registers the commands and maps failure to the exit status.
// 0: the whole thing was done. 1: it was not, and one message says why. 2: the
// command line itself is wrong.
#include "tools/pipec/Commands.h"
#include "tools/pipec/ParseFailure.h"

#include "pipec/version.h"

#include "runtime/base/mapped_file.h"
#include "runtime/base/printable.h"
#include "runtime/base/temporaries.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <new>
#include <string>
#include <vector>

namespace {

using pipec::tool::Exit;

/// A descriptor 0 to 2 that is closed would be the next file that is opened,
/// and messages would go into it. This way they fail as on a closed one.
void keepStandardDescriptors() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/// Where an exception cannot be caught any more: one that passes through a
/// library, or is thrown in a thread of one.
[[noreturn]] void endByException() {
  pipec::stopWhereInterrupted();
  try {
    if (std::current_exception())
      std::rethrow_exception(std::current_exception());
    std::fputs("pipec: error: ended without a reason\n", stderr);
  } catch (const std::bad_alloc &) {
    std::fputs("pipec: error: out of memory\n", stderr);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "pipec: error: the system or a library failed: %s\n",
                 error.what());
  } catch (...) {
    std::fputs("pipec: error: unknown exception\n", stderr);
  }
  pipec::removeTemporariesAndExit(1);
}

/// Parses and runs; nothing is thrown past this.
int parseAndRun(CLI::App &app, int argc, char **argv, Exit &result) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (app.exit(error) != 0)
      return 2; // else help or the version was asked for, on stdout
  } catch (const std::bad_alloc &) {
    result.set(pipec::resourceExhausted(
        "out of memory: the model, its constants and its data need more than "
        "this process may take; use a smaller model or batch, or raise the "
        "limit of the process (ulimit -v)"));
  } catch (const std::exception &error) {
    result.set(pipec::internalError(std::string("failed: ") + error.what()));
  }
  errno = 0;
  if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && result.code == 0)
    result.set(pipec::ioError(
        std::string("the result cannot be written to stdout") +
        (errno ? std::string(": ") + std::strerror(errno) : "")));
  return result.code;
}

/// An empty value, as of a variable that is not set, is none.
int refuseEmptyWords(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], before = argv[i - 1];
    const bool isOption = word.rfind("--", 0) == 0 && word.back() == '=';
    if (!word.empty() && !isOption)
      continue;
    const std::string option = isOption ? word.substr(0, word.size() - 1)
                               : before.rfind('-', 0) == 0 ? before
                                                           : "an argument";
    std::fprintf(stderr,
                 "pipec: error: %s has an empty value; give one, or leave it "
                 "out\n",
                 pipec::printable(option).c_str());
    return 2;
  }
  return 0;
}

/// "pipec help train" is "pipec train --help".
std::vector<char *> withHelp(int argc, char **argv) {
  std::vector<char *> words(argv, argv + argc);
  static char help[] = "--help";
  if (argc > 1 && std::strcmp(argv[1], "help") == 0) {
    words.erase(words.begin() + 1);
    words.push_back(help);
  }
  return words;
}

} // namespace

int main(int argc, char **argv) {
  keepStandardDescriptors();
  std::set_terminate(endByException);
  pipec::removeTemporariesWhenInterrupted();
  pipec::reportMappedFilesThatShrink(pipec::removeTemporariesAndExit);
  CLI::App app{
      "pipec cuts a model exported from PyTorch into pipeline stages and runs "
      "them, with the same numbers as if it had never been cut."};
  app.set_version_flag("--version", std::string("pipec ") + pipec::kVersion);
  app.require_subcommand(1);
  app.failure_message(pipec::tool::parseFailure);
  app.footer("Start with:\n"
             "  pipec inspect model.onnx --stages 3          what lies in each "
             "stage, what crosses each cut\n"
             "  pipec run model.onnx --stages 3 --microbatches 4 --inputs "
             "in.safetensors --outputs out.safetensors\n"
             "'pipec COMMAND --help' explains each command.");
  Exit result;
  pipec::tool::addCompileCommand(app, result);
  pipec::tool::addRunCommand(app, result);
  pipec::tool::addTrainCommand(app, result);
  pipec::tool::addCheckpointCommand(app, result);
  pipec::tool::addInspectCommand(app, result);
  pipec::tool::addDoctorCommand(app, result);
  if (const int code = refuseEmptyWords(argc, argv))
    return code;
  std::vector<char *> words = withHelp(argc, argv);
  return parseAndRun(app, static_cast<int>(words.size()), words.data(), result);
}

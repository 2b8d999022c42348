// The commands of `pipec`, each in a file of its own.
#ifndef PIPEC_TOOLS_PIPEC_COMMANDS_H
#define PIPEC_TOOLS_PIPEC_COMMANDS_H

#include "pipec/status.h"

#include <CLI/CLI.hpp>

namespace pipec::tool {

/// The exit status of the command that ran.
struct Exit {
  int code = 0;
  /// Prints an error to stderr and remembers the failure.
  void set(const Status &status);
};

void addCompileCommand(CLI::App &app, Exit &exit);
void addRunCommand(CLI::App &app, Exit &exit);
void addTrainCommand(CLI::App &app, Exit &exit);
void addCheckpointCommand(CLI::App &app, Exit &exit);
void addInspectCommand(CLI::App &app, Exit &exit);
void addDoctorCommand(CLI::App &app, Exit &exit);

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_COMMANDS_H

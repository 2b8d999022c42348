// What is said of a command line that CLI11 cannot parse.
#ifndef PIPEC_TOOLS_PIPEC_PARSEFAILURE_H
#define PIPEC_TOOLS_PIPEC_PARSEFAILURE_H

#include <CLI/CLI.hpp>

#include <string>

namespace pipec::tool {

/// For CLI::App::failure_message: one line as every other error has it. An
/// option that the command lacks comes first, with the nearest that it has:
/// mistyped, it also leaves what it stood for missing.
std::string parseFailure(const CLI::App *app, const CLI::Error &error);

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_PARSEFAILURE_H

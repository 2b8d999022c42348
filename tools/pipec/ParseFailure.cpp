#include "tools/pipec/ParseFailure.h"

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace pipec::tool {
namespace {

/// The command whose arguments were being read, and its words.
struct Reached {
  const CLI::App *app;
  std::string words;
};

Reached reached(const CLI::App *app) {
  Reached at{app, "pipec"};
  while (!at.app->get_subcommands().empty()) {
    at.app = at.app->get_subcommands().front();
    at.words += " " + at.app->get_name();
  }
  return at;
}

/// "; did you mean --stages?" of "--stage", "" where nothing is near.
std::string nearestOption(const CLI::App &command, llvm::StringRef wanted) {
  std::string nearest;
  unsigned least = wanted.size() / 3 + 1;
  for (const CLI::Option *option : command.get_options()) {
    if (option->get_lnames().empty())
      continue;
    std::string name = "--" + option->get_lnames().front();
    unsigned distance = wanted.edit_distance(name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

/// The first option among what the command did not take, without its value.
std::string unknownOption(const std::vector<std::string> &rest) {
  for (const std::string &word : rest) {
    if (word == "--")
      break;
    if (word.size() > 1 && word[0] == '-')
      return word.substr(0, word.find('='));
  }
  return "";
}

/// What is wrong, before CLI11's own words: those ask for what is missing.
std::string whatIsWrong(const Reached &at, const CLI::Error &error) {
  std::vector<std::string> rest = at.app->remaining();
  bool takesCommands = at.app->get_require_subcommand_min() > 0;
  if (takesCommands && !rest.empty() && rest.front()[0] != '-')
    return "there is no command '" + at.words + " " + rest.front() + "'";
  std::string unknown = unknownOption(rest);
  if (!unknown.empty())
    return at.words + " has no option " + unknown +
           nearestOption(*at.app, unknown);
  if (takesCommands)
    return at.words + " needs a command";
  // CLI11: "--lr: At Most 1 required but received 2".
  const std::string words = error.what();
  const size_t twice = words.find(": At Most 1 required");
  return twice == std::string::npos
             ? words
             : words.substr(0, twice) + " is given more than once";
}

} // namespace

std::string parseFailure(const CLI::App *app, const CLI::Error &error) {
  Reached at = reached(app);
  return "pipec: error: " + whatIsWrong(at, error) + "\n'" + at.words +
         " --help' lists what there is\n";
}

} // namespace pipec::tool

// Shared arguments: declaration, parsing, progress.
// Tests: test/e2e/cli.
#include "tools/pipec/ModelArguments.h"

#include "runtime/base/printable.h"
#include "runtime/base/temporaries.h"
#include "tools/pipec/Commands.h"
#include "tools/pipec/NumberChecks.h"

#include <cstdio>
#include <filesystem>

namespace fs = std::filesystem;

namespace pipec::tool {
namespace {

StatusOr<std::pair<std::string, std::string>>
parsePair(const std::string &option, const std::string &text,
          const std::string &form) {
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return invalidArgument(option + " " + text + ": expected " + form);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

StatusOr<Merge> parseMerge(const std::string &text) {
  const std::map<std::string, Merge> words = {{"concat", Merge::Concat},
                                              {"mean", Merge::Mean},
                                              {"sum", Merge::Sum},
                                              {"same", Merge::Same}};
  auto found = words.find(text);
  if (found == words.end())
    return invalidArgument("--merge: '" + text +
                           "' is none of concat, mean, sum, same");
  return found->second;
}

StatusOr<int64_t> parseSize(const std::string &option,
                            const std::string &text) {
  if (!isWholeNumber(text))
    return invalidArgument(option + ": '" + text +
                           "' is no size; expected a whole number, without "
                           "zeros in front");
  int64_t value = 0;
  if (text.size() > 15)
    return invalidArgument(option + ": '" + text + "' is no size");
  for (char c : text)
    value = value * 10 + (c - '0');
  return value;
}

} // namespace

void Exit::set(const Status &status) {
  if (status.ok())
    return;
  stopWhereInterrupted();
  std::string text = status.message();
  const std::string asked = "is not overwritten unless asked";
  if (const size_t at = text.find(asked); at != text.npos)
    text.replace(at, asked.size(), "is not overwritten without --overwrite");
  std::fprintf(stderr, "pipec: error: %s\n", printable(text, true).c_str());
  code = 1;
}

void ModelArguments::addTo(CLI::App &command, const std::string &modelHelp) {
  command.add_option("MODEL", model, modelHelp)->required();
  auto repeatable = [&](const char *name, std::vector<std::string> &values,
                        const char *help) {
    return command.add_option(name, values, help)
        ->allow_extra_args(false)
        ->group("Cutting and binding");
  };
  repeatable("--split", splits,
             "Cut at a module: 'layer0:END' behind its last operation, "
             "'layer1:BEGIN' before its first; * stands for "
             "any name within one component; an operation's name works too. "
             "Repeatable.");
  command
      .add_option("--stages", stages,
                  "Cut into this many stages, balanced by estimated time")
      ->check(wholeNumber(1, 4096))
      ->group("Cutting and binding");
  command
      .add_option("--microbatches", microbatches,
                  "Pieces that a batch is cut into along axis 0 (10 rows in 4: "
                  "3, 3, 2, 2)")
      ->check(wholeNumber(1, uint64_t(1) << 40))
      ->group("Cutting and binding");
  repeatable("--bind", bindings,
             "Sizes of symbolic dimensions: batch=32,seq=128. Repeatable.")
      ->delimiter(',');
  repeatable("--whole", whole,
             "Every microbatch gets this input uncut. Repeatable.");
  repeatable("--merge", merges,
             "How an output's microbatches join: NAME=concat|mean|sum|same. "
             "Repeatable.");
  repeatable("--tie", ties, "Make two parameters one: NAME=NAME. Repeatable.");
  repeatable("--untie", unties,
             "Keep a parameter apart that is stored like another. Repeatable.");
  command
      .add_option(
          "--names", names,
          "The state_dict that the model was exported with, as "
          "safetensors.torch.save_file(model.state_dict(), FILE) writes "
          "it: parameters get its names, by their bytes")
      ->option_text("FILE")
      ->group("Cutting and binding");
  command.add_flag("-q,--quiet", quiet, "No progress lines; warnings stay");
}

void ModelArguments::addAllowExternalTo(CLI::App &command) {
  command
      .add_option(
          "--allow-external", allowExternal,
          "Folder whose files a package may read as its weights, beside "
          "those that it was compiled with in place. Repeatable.")
      ->type_name("DIR")
      ->allow_extra_args(false);
}

StatusOr<Package> ModelArguments::openPackage(const std::string &path) const {
  return Package::open(path, {allowExternal});
}

StatusOr<CompileOptions> ModelArguments::options() const {
  if (!allowExternal.empty())
    return invalidArgument("--allow-external is of packages; the external data "
                           "of a model file has to lie beside it");
  CompileOptions options;
  options.splits = splits;
  options.stages = stages ? stages : 1;
  if (!splits.empty() && stages == 1)
    return invalidArgument("--split and --stages exclude each other where they "
                           "differ: a split point makes two stages");
  options.microbatches = microbatches ? microbatches : 1;
  for (const std::string &text : bindings) {
    PIPEC_ASSIGN_OR_RETURN(
        auto pair, parsePair("--bind", text, "NAME=SIZE, such as batch=32"));
    if (options.bindings.count(pair.first))
      return invalidArgument("--bind gives " + pair.first + " twice");
    PIPEC_ASSIGN_OR_RETURN(options.bindings[pair.first],
                           parseSize("--bind " + pair.first, pair.second));
  }
  options.wholeInputs = whole;
  for (const std::string &text : merges) {
    PIPEC_ASSIGN_OR_RETURN(
        auto pair, parsePair("--merge", text, "NAME=concat|mean|sum|same"));
    if (options.merges.count(pair.first))
      return invalidArgument("--merge gives " + pair.first + " twice");
    PIPEC_ASSIGN_OR_RETURN(options.merges[pair.first], parseMerge(pair.second));
  }
  for (const std::string &text : ties) {
    PIPEC_ASSIGN_OR_RETURN(auto pair, parsePair("--tie", text, "NAME=NAME"));
    options.ties.push_back(std::move(pair));
  }
  options.unties = unties;
  options.names = names;
  return options;
}

std::string ModelArguments::givenCutOptions() const {
  std::string given;
  auto note = [&](bool isGiven, const char *name) {
    if (isGiven)
      given += (given.empty() ? "" : ", ") + std::string(name);
  };
  note(!splits.empty(), "--split");
  note(stages != 0, "--stages");
  note(!bindings.empty(), "--bind");
  note(!whole.empty(), "--whole");
  note(!merges.empty(), "--merge");
  note(!ties.empty(), "--tie");
  note(!unties.empty(), "--untie");
  note(!names.empty(), "--names");
  return given;
}

Reporter ModelArguments::reporter() const {
  return [quiet = quiet](const std::string &line) {
    if (quiet && line.rfind("warning: ", 0) != 0)
      return;
    std::fprintf(stderr, "pipec: %s\n", printable(line).c_str());
  };
}

const char *needVerb(const std::string &options) {
  return options.find(',') == std::string::npos ? " needs " : " need ";
}

StatusOr<bool> isPackage(const std::string &path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return ioError(path + ": no such file or folder");
  if (!fs::is_directory(status))
    return false;
  if (fs::exists(fs::path(path) / "manifest.json", error))
    return true;
  return invalidArgument(
      path + " is a folder without manifest.json, so no package; give a .onnx "
             "file or a package made by 'pipec compile'");
}

Status aboutTheModel(const Status &status, const std::string &package,
                     const std::string &model) {
  if (status.ok())
    return status;
  std::string text = status.message();
  for (size_t at = text.find(package); at != std::string::npos;
       at = text.find(package, at + model.size()))
    text.replace(at, package.size(), model);
  // The package is one for this call alone: options are of the call then.
  const std::string again = "compile the model again with ";
  if (size_t at = text.find(again); package != model && at != text.npos)
    text.replace(at, again.size(), "pass ");
  const bool isOfOption = text.rfind("--", 0) == 0;
  if (!isOfOption && text.find(model) == std::string::npos)
    text = model + ": " + text;
  return Status(status.getCode(), text);
}

ReportContext reportContext(const CompiledModel &model, int64_t microbatches) {
  ReportContext context;
  context.microbatches = microbatches;
  context.arenaBytes.resize(model.programs.size());
  for (const auto *phase : {&model.programs, &model.backwardInput,
                            &model.backwardWeight, &model.lossTotals})
    for (size_t s = 0; s < phase->size(); ++s)
      for (const schema::Program &program : (*phase)[s])
        context.arenaBytes[s] =
            std::max<uint64_t>(context.arenaBytes[s], program.arena_bytes());
  return context;
}

} // namespace pipec::tool

// Opens checkpoints and fills tensors from them. In: a folder, whose content is
// not trusted. Out: names, types, bytes.
// Tests: test/unit/checkpoint/CheckpointTest.cpp, CheckpointCorruptTest.cpp.
#include "runtime/checkpoint/checkpoint.h"

#include "runtime/checkpoint/step_folder.h"

#include <filesystem>

namespace pipec {
namespace {

constexpr const char *kStatePrefix = "optimizer.";

// Damaged files, or those of two checkpoints mixed, would resume to numbers
// that no run has.
Status checkFiles(const TensorTable &table, int64_t step) {
  for (const SafetensorsFile &file : table.files()) {
    const auto found = file.metadata().find("pipec.step");
    const std::string got =
        found == file.metadata().end() ? "none" : found->second;
    if (got != std::to_string(step))
      return dataLoss("'" + file.path() + "' is of step " + got +
                      ", the checkpoint of step " + std::to_string(step) +
                      ": files of different checkpoints are mixed");
    PIPEC_RETURN_IF_ERROR(file.checkSeal());
  }
  return Status();
}

/// For each name, the groups of tied names that it is in.
using Groups =
    std::map<std::string, std::vector<const std::vector<std::string> *>>;

// "optimizer.STATE.PARAMETER" with PARAMETER, and every name tied to it.
std::vector<std::string> stateNames(const std::string &name,
                                    const Groups &groupsOf) {
  std::vector<std::string> names = {name};
  const size_t prefix = std::char_traits<char>::length(kStatePrefix);
  const size_t dot = name.find('.', prefix);
  if (name.compare(0, prefix, kStatePrefix) != 0 || dot == std::string::npos)
    return names;
  const auto groups = groupsOf.find(name.substr(dot + 1));
  if (groups != groupsOf.end())
    for (const auto *group : groups->second)
      for (const std::string &other : *group)
        names.push_back(name.substr(0, dot + 1) + other);
  return names;
}

// Another number would be counted from, kept and removed by its name.
Status checkName(const std::string &folder, int64_t step) {
  namespace fs = std::filesystem;
  fs::path path = fs::path(folder).lexically_normal();
  if (!path.has_filename())
    path = path.parent_path();
  const int64_t named = stepOfName(path.filename().string());
  if (named < 0 || named == step)
    return Status();
  return dataLoss("checkpoint '" + folder + "' is of step " +
                  std::to_string(step) + ", its name says " +
                  std::to_string(named) + ": rename it to step-" +
                  std::to_string(step) + ", or remove it");
}

} // namespace

StatusOr<std::string> Checkpoint::latest(const std::string &dir) {
  PIPEC_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, listSteps(dir));
  return steps.empty() ? std::string() : stepPath(dir, steps.back());
}

StatusOr<Checkpoint> Checkpoint::open(const std::string &path) {
  namespace fs = std::filesystem;
  Checkpoint checkpoint;
  checkpoint.folder = path;
  std::error_code ignored;
  if (!fs::exists(fs::path(path) / kCheckpointFile, ignored)) {
    PIPEC_ASSIGN_OR_RETURN(checkpoint.folder, latest(path));
    if (checkpoint.folder.empty())
      return invalidArgument("'" + path +
                             "' is no checkpoint and has no folder step-<k> "
                             "with a checkpoint.json in it: name another "
                             "folder");
  }
  const std::string &folder = checkpoint.folder;
  CheckpointContents &contents = checkpoint.contents;
  auto json = readCheckpointJson(folder + "/" + kCheckpointFile);
  if (!json.ok())
    return json.status().withPrefix("checkpoint '" + folder +
                                    "' cannot be used; remove it to resume "
                                    "from an earlier one");
  contents = std::move(*json);
  checkpoint.weightTable = TensorTable(folder);
  checkpoint.optimizerTable = TensorTable(folder);
  const int64_t step = contents.info.step;
  PIPEC_RETURN_IF_ERROR(checkName(folder, step));
  auto read = [&](TensorTable &table,
                  const std::map<std::string, std::string> &files) -> Status {
    PIPEC_RETURN_IF_ERROR(table.addIndexed(folder, files));
    return checkFiles(table, step);
  };
  Status status = read(checkpoint.weightTable, contents.weightFiles);
  if (status.ok())
    status = read(checkpoint.optimizerTable, contents.optimizerFiles);
  if (!status.ok())
    return status.withPrefix("checkpoint '" + folder +
                             "' is damaged; remove it to resume from an "
                             "earlier one");
  checkpoint.weightTable.tie(contents.tied);
  return checkpoint;
}

Status Checkpoint::loadInto(const std::vector<NamedView> &targets,
                            bool allowMissing) const {
  LoadRules rules;
  rules.allowMissing = allowMissing;
  rules.compareTied = true; // a run that had them apart made them differ
  return weightTable.load(targets, rules);
}

Status Checkpoint::loadOptimizer(const std::map<std::string, TensorView> &state,
                                 const TiedNames &ties,
                                 bool allowMissing) const {
  Groups groupsOf;
  for (const TiedNames *groups : {&ties, &contents.tied})
    for (const auto &group : *groups)
      for (const std::string &name : group)
        groupsOf[name].push_back(&group);
  std::vector<NamedView> targets;
  targets.reserve(state.size());
  for (const auto &[name, view] : state)
    targets.push_back({stateNames(name, groupsOf), view});
  LoadRules rules;
  rules.allowMissing = allowMissing;
  rules.compareTied = true; // a run that had them apart made them differ
  const auto kind = contents.info.optimizer.find("kind");
  return optimizerTable.load(targets, rules)
      .withPrefix("optimizer state, written by " +
                  (kind == contents.info.optimizer.end()
                       ? "an unnamed optimizer"
                       : kind->second));
}

} // namespace pipec

// Declares and parses the options that make a package one for training.
// Tests: test/e2e/cli.
#include "tools/pipec/TrainingPackageArguments.h"

#include "passes/schedule/Csv.h"
#include "tools/pipec/NumberChecks.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace pipec::tool {
namespace {

const char *const optionNames[] = {
    "--loss",         "--labels",          "--reduction",
    "--ignore-index", "--label-smoothing", "--freeze",
    "--allow-folded", "--batch-norm",      "--schedule",
    "--ranks",        "--recompute"};

void addLoss(CLI::App &command, TrainingPackageArguments &a) {
  const char *group = "Loss";
  command
      .add_option("--loss", a.loss,
                  "cross_entropy[:OUTPUT], mse[:OUTPUT], or output:NAME for a "
                  "loss that the model computes itself")
      ->group(group);
  command
      .add_option("--labels", a.labels, "Tensor that the loss compares with")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--reduction", a.reduction,
                  "mean over what counts in the whole batch, or sum")
      ->check(CLI::IsMember({"mean", "sum"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--ignore-index", a.ignoreIndex, "Label that does not count")
      ->check(anyWholeNumber())
      ->capture_default_str()
      ->group(group);
  command.add_option("--label-smoothing", a.labelSmoothing, "From 0 to 1")
      ->check(numberFrom(0, 1))
      ->group(group);
  command
      .add_option("--freeze", a.freeze,
                  "Parameters that keep their values; * stands for any part of "
                  "a name. Repeatable.")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_flag("--allow-folded", a.allowFolded,
                "Train although the exporter folded a tenth of the parameters "
                "or more into other tensors")
      ->group(group);
  command
      .add_option("--batch-norm", a.batchNorm,
                  "train: each microbatch's statistics; frozen: the stored "
                  "ones")
      ->check(CLI::IsMember({"train", "frozen"}))
      ->capture_default_str()
      ->group(group);
}

void addSchedule(CLI::App &command, TrainingPackageArguments &a) {
  const char *group = "Schedule";
  command
      .add_option("--schedule", a.schedule,
                  "gpipe, 1f1b, interleaved-1f1b, looped-bfs, zb-h1, "
                  "interleaved-zb, zb-v, dualpipe-v, or a .csv file as torch "
                  "writes it")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--ranks", a.ranks,
                  "Workers; with more stages than ranks, stages are dealt out")
      ->check(wholeNumber(1))
      ->group(group);
  command
      .add_option("--recompute", a.recompute,
                  "full: compute forward values again instead of keeping them; "
                  "auto: in as many stages as --memory asks for")
      ->check(CLI::IsMember({"none", "full", "auto"}))
      ->capture_default_str()
      ->group(group);
}

StatusOr<std::string> readText(const std::string &path) {
  std::error_code ignored; // opening a pipe would wait for its writer
  if (!std::filesystem::is_regular_file(path, ignored))
    return ioError("--schedule " + path + ": cannot be read");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file)
    return ioError("--schedule " + path + ": cannot be read");
  text << file.rdbuf(); // sets failbit where there is nothing to read
  return text.str();
}

/// "kind[:OUTPUT]".
Status parseLoss(const std::string &text, TrainingOptions &training) {
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon);
  if (colon != std::string::npos)
    training.output = text.substr(colon + 1);
  using Loss = TrainingOptions::Loss;
  if (kind == "cross_entropy")
    training.loss = Loss::CrossEntropy;
  else if (kind == "mse")
    training.loss = Loss::Mse;
  else if (kind == "output" && !training.output.empty())
    training.loss = Loss::Output;
  else
    return invalidArgument("--loss '" + text +
                           "': expected cross_entropy[:OUTPUT], mse[:OUTPUT] "
                           "or output:NAME");
  return {};
}

} // namespace

void TrainingPackageArguments::addTo(CLI::App &command) {
  addLoss(command, *this);
  addSchedule(command, *this);
  declaredIn = &command;
}

std::string TrainingPackageArguments::given() const {
  std::string names;
  for (const char *name : optionNames)
    if (isGiven(name))
      names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

bool TrainingPackageArguments::isGiven(const char *option) const {
  return declaredIn && declaredIn->count(option);
}

std::string TrainingPackageArguments::scheduleFile() const {
  const bool isFile = std::filesystem::path(schedule).extension() == ".csv";
  return isFile ? schedule : "";
}

Status TrainingPackageArguments::takeCounts(int64_t &stages,
                                            int64_t &microbatches,
                                            bool hasSplits) const {
  if (scheduleFile().empty())
    return {};
  PIPEC_ASSIGN_OR_RETURN(const std::string text, readText(schedule));
  const auto read = readScheduleCsv(text);
  if (!read.ok())
    return {}; // said where it is used
  if (!stages && !hasSplits)
    stages = read->stages;
  if (!microbatches)
    microbatches = read->microbatches;
  return {};
}

/// Silence would hide that an option does nothing.
Status TrainingPackageArguments::checkIdle(const TrainingOptions &training,
                                           bool feedsLabels) const {
  using Loss = TrainingOptions::Loss;
  for (const char *option : {"--label-smoothing", "--ignore-index"})
    if (isGiven(option) && training.loss != Loss::CrossEntropy)
      return invalidArgument(option + std::string(" goes with --loss "
                                                  "cross_entropy alone"));
  if (isGiven("--labels") && training.loss == Loss::Output && !feedsLabels)
    return invalidArgument(
        "--labels does nothing with --loss " + loss +
        ": the model computes that loss itself, from inputs of its own");
  if (!isGiven("--ranks") || !training.scheduleCsv)
    return {};
  const auto read = readScheduleCsv(*training.scheduleCsv); // else said later
  return !read.ok() || read->ranks() == ranks
             ? Status()
             : invalidArgument("--ranks is " + std::to_string(ranks) +
                               ", but --schedule " + schedule +
                               " has a row for each rank, and has " +
                               std::to_string(read->ranks()));
}

StatusOr<TrainingOptions>
TrainingPackageArguments::trainingOptions(bool feedsLabels) const {
  TrainingOptions training;
  PIPEC_RETURN_IF_ERROR(parseLoss(loss, training));
  training.labels = labels;
  training.mean = reduction == "mean";
  training.ignoreIndex = ignoreIndex;
  training.labelSmoothing = labelSmoothing;
  training.freeze = freeze;
  training.allowFolded = allowFolded;
  training.batchNormFrozen = batchNorm == "frozen";
  using Recompute = TrainingOptions::Recompute;
  training.recompute = recompute == "full"   ? Recompute::Full
                       : recompute == "auto" ? Recompute::Auto
                                             : Recompute::None;
  training.ranks = ranks;
  training.schedule = schedule;
  if (!scheduleFile().empty()) {
    PIPEC_ASSIGN_OR_RETURN(training.scheduleCsv, readText(schedule));
  }
  PIPEC_RETURN_IF_ERROR(checkIdle(training, feedsLabels));
  return training;
}

} // namespace pipec::tool

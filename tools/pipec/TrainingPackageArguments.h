// Options that make a package one for training: `compile` and `train` share
// them.
#ifndef PIPEC_TOOLS_PIPEC_TRAININGPACKAGEARGUMENTS_H
#define PIPEC_TOOLS_PIPEC_TRAININGPACKAGEARGUMENTS_H

#include "compiler/Options.h"

#include <CLI/CLI.hpp>

namespace pipec::tool {

/// Loss, frozen parameters, schedule and recomputation, as given on the command
/// line.
struct TrainingPackageArguments {
  // loss
  std::string loss, labels = "labels", reduction = "mean", batchNorm = "train";
  int64_t ignoreIndex = -100;
  double labelSmoothing = 0;
  std::vector<std::string> freeze;
  bool allowFolded = false;
  // schedule
  std::string schedule = "1f1b", recompute = "none";
  int64_t ranks = 0;

  /// `command` must outlive this.
  void addTo(CLI::App &command);
  /// Names of these options that were given, with commas between.
  std::string given() const;
  /// Whether any option of the command was given.
  bool isGiven(const char *option) const;
  /// The CSV file of --schedule; empty where it names one of ours.
  std::string scheduleFile() const;
  /// Stages and microbatches of the file of --schedule, where it is one and
  /// nothing else says how many: `stages` and `microbatches` are 0 then.
  Status takeCounts(int64_t &stages, int64_t &microbatches,
                    bool hasSplits) const;
  /// Labels are i64 until the caller knows better. `feedsLabels`: --labels
  /// names a tensor that is made or changed even where the loss reads none.
  StatusOr<TrainingOptions> trainingOptions(bool feedsLabels = false) const;

private:
  Status checkIdle(const TrainingOptions &training, bool feedsLabels) const;

  const CLI::App *declaredIn = nullptr;
};

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_TRAININGPACKAGEARGUMENTS_H

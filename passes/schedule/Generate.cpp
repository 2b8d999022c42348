// From a name to a schedule: what each schedule asks for, the default number of
// ranks, the placement of stages. In: name and sizes; out: compute actions, or
// an error that says what would work. The orders themselves are in the other
// Generate*.cpp. Tests: test/unit/passes/schedule/GenerateTest.cpp.
#include "passes/schedule/Generate.h"

#include "passes/schedule/Generators.h"

namespace pipec {
namespace {

enum class Placement { OneEach, Loop, V };

struct Definition {
  const char *name;
  Placement placement;
  void (*fill)(Schedule &);
  bool microbatchPerStage; // as many microbatches as stages, or more
};

const Definition kDefinitions[] = {
    {"gpipe", Placement::OneEach, fillBreadthFirst, false},
    {"1f1b", Placement::OneEach, fillInterleaved, false},
    {"interleaved-1f1b", Placement::Loop, fillInterleaved, false},
    {"looped-bfs", Placement::Loop, fillBreadthFirst, false},
    {"zb-h1", Placement::OneEach, fillInterleavedZeroBubble, false},
    {"interleaved-zb", Placement::Loop, fillInterleavedZeroBubble, false},
    {"zb-v", Placement::V, fillZeroBubbleV, false},
    {"dualpipe-v", Placement::V, fillDualPipeV, true},
};

/// Far above any use, and far below what memory and int64 hold.
constexpr int64_t kMaxActions = 100'000'000;

std::string join(const std::vector<std::string> &words, const char *last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
  return text;
}

std::string number(int64_t n, const char *noun) {
  const std::string word = noun;
  const char *plural = word.back() == 'h' ? "es" : "s";
  return std::to_string(n) + " " + word + (n == 1 ? "" : plural);
}

StatusOr<const Definition *> find(const std::string &name) {
  for (const Definition &definition : kDefinitions)
    if (name == definition.name)
      return &definition;
  return invalidArgument(
      "there is no schedule '" + name + "', but " +
      join(scheduleNames(), " and ") +
      "; a schedule of your own is a file that ends in .csv");
}

int64_t defaultRanks(Placement placement, int64_t stages) {
  if (placement == Placement::OneEach || stages == 1)
    return stages;
  if (placement == Placement::V || stages % 2 == 0)
    return stages / 2;
  for (int64_t ranks = stages / 3; ranks > 1; --ranks)
    if (stages % ranks == 0)
      return ranks;
  return stages;
}

Status checkPlacement(const Definition &definition, int64_t stages,
                      int64_t ranks) {
  const std::string name = definition.name;
  const std::string got =
      "got " + number(stages, "stage") + " on " + number(ranks, "rank");
  switch (definition.placement) {
  case Placement::OneEach:
    if (ranks != stages)
      return invalidArgument(
          name + " runs one stage a rank, " + got + ": give it " +
          number(stages, "rank") +
          ", or take looped-bfs, interleaved-1f1b or interleaved-zb");
    return {};
  case Placement::Loop:
    if (stages % ranks != 0) {
      std::vector<std::string> even;
      for (int64_t r = 1; r <= stages; ++r)
        if (stages % r == 0)
          even.push_back(std::to_string(r));
      return invalidArgument(name + " deals stages out evenly, " + got +
                             ": give it " + join(even, " or ") + " ranks");
    }
    return {};
  case Placement::V:
    if (stages % 2 != 0)
      return invalidArgument(
          name + " runs two stages a rank, so it needs an even number, got " +
          number(stages, "stage") + ": cut the model into " +
          std::to_string(stages + 1) +
          ", or take zb-h1 or 1f1b, which run one stage a rank");
    if (ranks != stages / 2)
      return invalidArgument(name + " runs two stages a rank, " + got +
                             ": give it " + number(stages / 2, "rank") +
                             ", or take interleaved-zb");
    return {};
  }
  return internalError("a placement without a rule");
}

Status checkSizes(const Definition &definition, int64_t stages, int64_t ranks,
                  int64_t microbatches) {
  const std::string name = definition.name;
  if (stages < 1 || ranks < 0 || microbatches < 1)
    return invalidArgument(name + " needs at least one stage, rank and " +
                           "microbatch, got " + number(stages, "stage") + ", " +
                           number(ranks, "rank") + ", " +
                           number(microbatches, "microbatch"));
  if (ranks > stages)
    return invalidArgument(number(ranks, "rank") + " for " +
                           number(stages, "stage") +
                           ": every rank needs a stage: give it " +
                           number(stages, "rank") + " or fewer");
  if (microbatches > kMaxActions / 3 / stages)
    return invalidArgument(
        number(stages, "stage") + " times " +
        number(microbatches, "microbatch") +
        " are too many: the step would be over a hundred million actions");
  if (definition.microbatchPerStage && microbatches < stages)
    return invalidArgument(
        name + " needs at least as many microbatches as stages, got " +
        number(microbatches, "microbatch") + " for " + number(stages, "stage") +
        ": give it " + std::to_string(stages) +
        ", or take zb-v, which needs no more than one");
  return {};
}

void place(const Definition &definition, Schedule &schedule) {
  const int64_t ranks = schedule.ranks();
  for (int64_t stage = 0; stage < schedule.stages; ++stage)
    schedule.rankOfStage.push_back(definition.placement == Placement::V &&
                                           stage >= ranks
                                       ? schedule.stages - 1 - stage
                                       : stage % ranks);
}

} // namespace

std::vector<std::string> scheduleNames() {
  std::vector<std::string> names;
  for (const Definition &definition : kDefinitions)
    names.push_back(definition.name);
  return names;
}

StatusOr<Schedule> makeSchedule(const std::string &name, int64_t stages,
                                int64_t ranks, int64_t microbatches) {
  PIPEC_ASSIGN_OR_RETURN(const Definition *definition, find(name));
  PIPEC_RETURN_IF_ERROR(checkSizes(*definition, stages, ranks, microbatches));
  if (ranks == 0)
    ranks = defaultRanks(definition->placement, stages);
  // A single stage in a V gives no ranks; the rule for stages says so first.
  PIPEC_RETURN_IF_ERROR(checkPlacement(*definition, stages, ranks));
  Schedule schedule;
  schedule.name = name;
  schedule.stages = stages;
  schedule.microbatches = microbatches;
  schedule.lists.resize(static_cast<size_t>(ranks));
  place(*definition, schedule);
  definition->fill(schedule);
  return schedule;
}

} // namespace pipec

// The schedule of a package for training. In: a manifest with its stages and
// transfers. Out: its action lists, with sends and receives, proved.
// Tests: test/e2e/cli/train-package.test, test/conformance/train_models.py.
#include "compiler/Emit.h"
#include "compiler/Predict.h"

#include "passes/schedule/Communication.h"
#include "passes/schedule/Csv.h"
#include "passes/schedule/Generate.h"
#include "runtime/schedule/verify.h"

namespace pipec {

StageGraph stageGraphOf(const schema::Manifest &manifest) {
  StageGraph graph;
  graph.stages = manifest.stages_size();
  for (const schema::Transfer &transfer : manifest.transfers())
    graph.addTransfer(transfer.from(), transfer.to(), transfer.gradient());
  for (const schema::Stage &stage : manifest.stages())
    graph.backward.push_back(
        backwardWork(stage.backward_input(), stage.backward_weight()));
  return graph;
}

std::vector<StageTimes> stageTimes(const schema::Manifest &manifest) {
  std::vector<StageTimes> times;
  for (const schema::Stage &stage : manifest.stages()) {
    double forward = std::max(stage.estimated_seconds(0), 1e-9);
    times.push_back({forward, forward, forward});
  }
  return times;
}

std::vector<StageMemory> stageMemory(const schema::Manifest &manifest) {
  std::vector<StageMemory> all;
  for (const schema::Stage &stage : manifest.stages()) {
    StageMemory memory{0, 0, 0};
    if (stage.context_bytes_size()) {
      memory.forward = static_cast<double>(stage.context_bytes(0));
      memory.weight = static_cast<double>(stage.context_weight_bytes(0));
    }
    memory.gradient = static_cast<double>(gradientBytes(stage));
    all.push_back(memory);
  }
  return all;
}

Schedule scheduleOf(const schema::Manifest &manifest) {
  const schema::Schedule &source = manifest.training().schedule();
  Schedule schedule;
  schedule.name = source.name();
  schedule.stages = manifest.stages_size();
  schedule.microbatches = source.microbatches();
  schedule.rankOfStage.assign(source.rank_of_stage().begin(),
                              source.rank_of_stage().end());
  schedule.communicates = true;
  for (const schema::ScheduleRank &rank : source.ranks()) {
    ScheduleList &list = schedule.lists.emplace_back();
    for (int i = 0; i < rank.kind_size(); ++i)
      list.push_back({static_cast<ScheduleAction::Kind>(rank.kind(i)),
                      rank.stage(i), rank.microbatch(i), rank.peer(i),
                      rank.overlaps_next(i)});
  }
  return schedule;
}

namespace {

std::string counted(int64_t count, const std::string &what) {
  const bool isEs = what.back() == 'h'; // "microbatches"
  return std::to_string(count) + " " + what +
         (count == 1 ? ""
          : isEs     ? "es"
                     : "s");
}

/// With a memory limit: no rank of a user's schedule may exceed it with
/// its contexts alone. Where
/// stages recompute by memory, that is for the compiler to reach.
VerifyOptions limitsOf(const schema::Manifest &manifest,
                       const TrainingOptions &training) {
  VerifyOptions options;
  if (!training.memoryLimit ||
      training.recompute == TrainingOptions::Recompute::Auto)
    return options;
  options.maxMemory = static_cast<double>(training.memoryLimit);
  options.memory = stageMemory(manifest);
  return options;
}

/// The compute actions of a file. They are proved before sends and receives are
/// added, while each is where the file has it.
StatusOr<Schedule> readCsv(const std::string &text, const std::string &name,
                           const StageGraph &graph, int64_t microbatches,
                           const VerifyOptions &limits) {
  PIPEC_ASSIGN_OR_RETURN(Schedule schedule, readScheduleCsv(text, name));
  if (schedule.stages != graph.stages || schedule.microbatches != microbatches)
    return invalidArgument(
        "the schedule is for " + counted(schedule.stages, "stage") + " and " +
        counted(schedule.microbatches, "microbatch") + "; the model has " +
        counted(graph.stages, "stage") + ", and --microbatches is " +
        std::to_string(microbatches));
  // Skip connections are not in the format: the sends and receives that run
  // are ours. A file that has some is held to them all the same.
  PIPEC_RETURN_IF_ERROR(checkWrittenCommunication(schedule));
  removeCommunication(schedule);
  adaptBackward(schedule, graph);
  PIPEC_RETURN_IF_ERROR(verifySchedule(schedule, graph, limits).status());
  return schedule;
}

StatusOr<Schedule> makeOrRead(const schema::Manifest &manifest,
                              const TrainingOptions &training,
                              const StageGraph &graph, int64_t microbatches) {
  if (!training.scheduleCsv)
    return makeSchedule(training.schedule, graph.stages, training.ranks,
                        microbatches);
  auto schedule = readCsv(*training.scheduleCsv, training.schedule, graph,
                          microbatches, limitsOf(manifest, training));
  if (!schedule.ok())
    return schedule.status().withPrefix(training.schedule);
  return schedule;
}

} // namespace

Status addSchedule(schema::Manifest &manifest, const CompileOptions &options) {
  StageGraph graph = stageGraphOf(manifest);
  PIPEC_ASSIGN_OR_RETURN(
      Schedule schedule,
      makeOrRead(manifest, *options.training, graph, options.microbatches));
  PIPEC_RETURN_IF_ERROR(
      addCommunication(schedule, graph, stageTimes(manifest)));
  PIPEC_RETURN_IF_ERROR(verifySchedule(schedule, graph).status());
  schema::Schedule *message = manifest.mutable_training()->mutable_schedule();
  message->set_name(schedule.name);
  message->set_microbatches(schedule.microbatches);
  for (int64_t rank : schedule.rankOfStage)
    message->add_rank_of_stage(rank);
  for (const ScheduleList &list : schedule.lists) {
    schema::ScheduleRank *rank = message->add_ranks();
    for (const ScheduleAction &action : list) {
      rank->add_kind(static_cast<uint32_t>(action.kind));
      rank->add_stage(action.stage);
      rank->add_microbatch(action.microbatch);
      rank->add_peer(action.peerStage);
      rank->add_overlaps_next(action.overlapsNext);
    }
  }
  return {};
}

} // namespace pipec

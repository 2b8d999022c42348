// schema::Schedule -> Schedule, proved. In: the manifest's lists, untrusted,
// and the stages and transfers they are for. Out: a schedule that is complete,
// ordered and free of deadlock. Tests:
// test/unit/runtime/TrainingPackageTest.cpp.
#include "runtime/package/readers.h"
#include "runtime/schedule/verify.h"

#include <algorithm>

namespace pipec {
namespace {

/// More actions than this are no schedule but an attack.
constexpr int64_t kMostActions = int64_t(1) << 26;

StatusOr<ScheduleList> readRank(const schema::ScheduleRank &source) {
  const int count = source.kind_size();
  if (source.stage_size() != count || source.microbatch_size() != count ||
      source.peer_size() != count || source.overlaps_next_size() != count)
    return dataLoss("the columns of a rank differ in length");
  ScheduleList list;
  for (int i = 0; i < count; ++i) {
    if (source.kind(i) > static_cast<uint32_t>(ScheduleAction::Kind::Step))
      return dataLoss("action " + std::to_string(i) + " has unknown kind " +
                      std::to_string(source.kind(i)));
    ScheduleAction action;
    action.kind = static_cast<ScheduleAction::Kind>(source.kind(i));
    action.stage = source.stage(i);
    action.microbatch = source.microbatch(i);
    action.peerStage = source.peer(i);
    action.overlapsNext = source.overlaps_next(i);
    list.push_back(action);
  }
  return list;
}

} // namespace

StageGraph Package::Impl::stageGraph() const {
  StageGraph graph;
  graph.stages = static_cast<int64_t>(stages.size());
  for (const TransferInfo &transfer : transfers)
    graph.addTransfer(transfer.from, transfer.to, transfer.gradient);
  for (const auto &phases : hasPhase)
    graph.backward.push_back(backwardWork(phases[1], phases[2]));
  return graph;
}

Status readSchedule(const schema::Schedule &source, Package::Impl &package) {
  Schedule schedule;
  schedule.name = source.name();
  schedule.stages = static_cast<int64_t>(package.stages.size());
  schedule.microbatches = source.microbatches();
  schedule.rankOfStage.assign(source.rank_of_stage().begin(),
                              source.rank_of_stage().end());
  schedule.communicates = true;
  if (schedule.microbatches < 1 ||
      schedule.microbatches > kMostActions / schedule.stages ||
      schedule.rankOfStage.size() != package.stages.size() ||
      source.ranks_size() < 1 ||
      source.ranks_size() > static_cast<int>(package.stages.size()))
    return dataLoss("schedule '" + source.name() +
                    "': the numbers of ranks, stages or microbatches are out "
                    "of range");
  for (const schema::ScheduleRank &rank : source.ranks()) {
    PIPEC_ASSIGN_OR_RETURN(ScheduleList list, readRank(rank));
    schedule.lists.push_back(std::move(list));
  }
  auto report = verifySchedule(schedule, package.stageGraph());
  if (!report.ok())
    return dataLoss("schedule '" + source.name() +
                    "': " + report.status().message());
  package.training->schedule = std::move(schedule);
  return {};
}

} // namespace pipec

// The executor of schedules: actions of one rank, one after the other. In: the
// proved lists of a package. Out: gradients in the stages, or the error that
// ended the step. Tests: test/unit/runtime/TrainerTest.cpp.
#include "runtime/training/rank_worker.h"

#include <algorithm>
#include <set>

namespace pipec {
namespace {

using Kind = ScheduleAction::Kind;

/// The last phase of a stage, after which a microbatch's context is free.
ProgramPhase lastPhase(const Package::Impl &package, size_t stage) {
  const auto &has = package.hasPhase[stage];
  return has[2]   ? ProgramPhase::BackwardWeight
         : has[1] ? ProgramPhase::BackwardInput
                  : ProgramPhase::Forward;
}

std::vector<ProgramPhase> phasesOf(Kind kind) {
  switch (kind) {
  case Kind::Forward:
    return {ProgramPhase::Forward};
  case Kind::Backward:
    return {ProgramPhase::BackwardInput, ProgramPhase::BackwardWeight};
  case Kind::BackwardInput:
    return {ProgramPhase::BackwardInput};
  case Kind::BackwardWeight:
    return {ProgramPhase::BackwardWeight};
  default:
    return {};
  }
}

} // namespace

std::vector<size_t> contextsNeeded(const Package::Impl &package) {
  const Schedule &schedule = package.training->schedule;
  std::vector<size_t> most(package.stages.size(), 0);
  std::vector<std::set<int64_t>> open(package.stages.size());
  auto acquire = [&](size_t stage, int64_t microbatch) {
    open[stage].insert(microbatch);
    most[stage] = std::max(most[stage], open[stage].size());
  };
  for (const ScheduleList &list : schedule.lists)
    for (const ScheduleAction &action : list) {
      if (action.isReceive())
        acquire(static_cast<size_t>(action.stage), action.microbatch);
      for (ProgramPhase phase : phasesOf(action.kind)) {
        const auto stage = static_cast<size_t>(action.stage);
        acquire(stage, action.microbatch);
        // What the next stage of the rank gets directly waits in its context.
        for (const TransferInfo &transfer : package.transfers)
          if (phase == ProgramPhase::Forward && !transfer.gradient &&
              transfer.from == action.stage &&
              schedule.rankOfStage[transfer.to] ==
                  schedule.rankOfStage[transfer.from])
            acquire(static_cast<size_t>(transfer.to), action.microbatch);
        if (phase == lastPhase(package, stage))
          open[stage].erase(action.microbatch);
      }
    }
  return most;
}

Status RankWorker::run(const Feed &feed, const RunControl &control) {
  Status status = runList(feed, control);
  Status queued = device.synchronize(stream);
  return status.ok() ? queued : status;
}

Status RankWorker::runList(const Feed &feed, const RunControl &control) {
  live = peak = 0;
  const ScheduleList &list = schedule.lists[rank];
  sent.assign(list.size(), false);
  for (size_t i = 0; i < list.size(); ++i) {
    if (control.stopped())
      return cancelled("another rank failed");
    PIPEC_RETURN_IF_ERROR(perform(i, feed, control));
  }
  return {};
}

Status RankWorker::perform(size_t index, const Feed &feed,
                           const RunControl &control) {
  const ScheduleAction &action = schedule.lists[rank][index];
  if (action.isSend())
    return sent[index] ? Status() : send(action, feed);
  if (action.isReceive())
    return receive(action, feed);
  for (ProgramPhase phase : phasesOf(action.kind)) {
    // The weight half of a Backward writes over what its input half made.
    if (phase == ProgramPhase::BackwardWeight && action.kind == Kind::Backward)
      PIPEC_RETURN_IF_ERROR(sendWhatFollows(index, feed));
    PIPEC_RETURN_IF_ERROR(compute(phase, action, feed, control));
  }
  return {}; // reduction and update follow when all ranks are through
}

/// The sends of the action at `index`, which stand between it and the next
/// compute action.
Status RankWorker::sendWhatFollows(size_t index, const Feed &feed) {
  const ScheduleList &list = schedule.lists[rank];
  for (size_t i = index + 1; i < list.size() && !list[i].isCompute(); ++i) {
    if (!list[i].isSend() || list[i].stage != list[index].stage ||
        list[i].microbatch != list[index].microbatch)
      continue;
    PIPEC_RETURN_IF_ERROR(send(list[i], feed));
    sent[i] = true;
  }
  return {};
}

Status RankWorker::compute(ProgramPhase phase, const ScheduleAction &action,
                           const Feed &feed, const RunControl &control) {
  const auto index = static_cast<size_t>(action.stage);
  TrainStage &stage = *stages[index];
  if (!stage.has(phase))
    return {}; // of a Backward that has one half only
  if (phase == ProgramPhase::Forward)
    peak = std::max(peak, ++live);
  PIPEC_RETURN_IF_ERROR(stage.run(phase, action.microbatch, feed, &control));
  PIPEC_RETURN_IF_ERROR(handOver(phase, stage, action.microbatch, feed));
  if (phase == lastPhase(package, index))
    end(index, action.microbatch);
  return {};
}

void RankWorker::end(size_t stage, int64_t microbatch) {
  stages[stage]->release(microbatch);
  --live;
}

/// To other stages of this rank, from memory to memory.
Status RankWorker::handOver(ProgramPhase phase, TrainStage &stage,
                            int64_t microbatch, const Feed &feed) {
  if (phase == ProgramPhase::BackwardWeight)
    return {}; // makes nothing that others read
  const bool gradient = phase == ProgramPhase::BackwardInput;
  for (uint32_t t = 0; t < package.transfers.size(); ++t) {
    const TransferInfo &transfer = package.transfers[t];
    if (transfer.from != static_cast<int64_t>(stage.stageIndex()) ||
        transfer.gradient != gradient || channels[t])
      continue;
    PIPEC_ASSIGN_OR_RETURN(TensorView value, stage.sent(t, microbatch, feed));
    PIPEC_RETURN_IF_ERROR(
        stages[transfer.to]->receive(t, microbatch, feed, value.data));
  }
  return {};
}

Status RankWorker::send(const ScheduleAction &action, const Feed &feed) {
  TrainStage &stage = *stages[action.stage];
  for (uint32_t t = 0; t < package.transfers.size(); ++t) {
    const TransferInfo &transfer = package.transfers[t];
    if (transfer.from != action.stage || transfer.to != action.peerStage)
      continue;
    PIPEC_ASSIGN_OR_RETURN(TensorView value,
                           stage.sent(t, action.microbatch, feed));
    PIPEC_RETURN_IF_ERROR(channels[t]->send(stream, action.microbatch,
                                            value.data, value.type.byteSize()));
  }
  return {};
}

Status RankWorker::receive(const ScheduleAction &action, const Feed &feed) {
  TrainStage &stage = *stages[action.stage];
  const size_t variant = feed.plan().microbatches[action.microbatch].variant;
  for (uint32_t t = 0; t < package.transfers.size(); ++t) {
    const TransferInfo &transfer = package.transfers[t];
    if (transfer.to != action.stage || transfer.from != action.peerStage)
      continue;
    PIPEC_ASSIGN_OR_RETURN(
        void *data, channels[t]->receive(stream, action.microbatch,
                                         transfer.types[variant].byteSize()));
    PIPEC_RETURN_IF_ERROR(stage.receive(t, action.microbatch, feed, data));
    PIPEC_RETURN_IF_ERROR(channels[t]->release(stream));
  }
  return {};
}

} // namespace pipec

// The executor of schedules: actions of one rank, one after the other. In: the
// proved lists of a package. Out: gradients in the stages, or the error that
// ended the step. Tests: test/unit/runtime/TrainerTest.cpp.
#include "runtime/training/rank_worker.h"

#include <algorithm>
#include <set>

namespace pipec {
namespace {

using Kind = ScheduleAction::Kind;

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

/// Whether `send` takes away what `compute` made.
bool sendsOf(const ScheduleAction &compute, const ScheduleAction &send) {
  return send.isSend() && send.stage == compute.stage &&
         send.microbatch == compute.microbatch;
}

} // namespace

std::vector<std::optional<size_t>> releases(const ScheduleList &list) {
  std::vector<std::optional<size_t>> after(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].isCompute())
      continue;
    size_t last = i;
    for (size_t s = i + 1; s < list.size() && !list[s].isCompute(); ++s)
      if (sendsOf(list[i], list[s]))
        last = s;
    after[last] = i;
  }
  return after;
}

std::vector<ContextCounts> contextsNeeded(const Package::Impl &package) {
  const Schedule &schedule = package.training->schedule;
  std::vector<ContextCounts> most(package.stages.size());
  std::vector<std::set<int64_t>> forWeight(most.size()), forInput(most.size());
  auto acquire = [&](size_t stage, int64_t microbatch) {
    forWeight[stage].insert(microbatch);
    most[stage].forWeight =
        std::max(most[stage].forWeight, forWeight[stage].size());
    forInput[stage].insert(microbatch);
    most[stage].forInput =
        std::max(most[stage].forInput, forInput[stage].size());
  };
  auto start = [&](const ScheduleAction &action) {
    // Later phases have what the forward took.
    if (action.kind != Kind::Forward && !action.isReceive())
      return;
    acquire(static_cast<size_t>(action.stage), action.microbatch);
    // What the next stage of the rank gets directly waits in its context.
    for (const TransferInfo &transfer : package.transfers)
      if (!action.isReceive() && !transfer.gradient &&
          transfer.from == action.stage &&
          schedule.rankOfStage[transfer.to] ==
              schedule.rankOfStage[transfer.from])
        acquire(static_cast<size_t>(transfer.to), action.microbatch);
  };
  auto end = [&](const ScheduleAction &action) {
    const auto stage = static_cast<size_t>(action.stage);
    for (ProgramPhase phase : phasesOf(action.kind)) {
      if (package.releasesInputPart(stage, phase))
        forInput[stage].erase(action.microbatch);
      if (phase == package.lastPhase(stage))
        forWeight[stage].erase(action.microbatch);
    }
  };
  for (const ScheduleList &list : schedule.lists) {
    const auto released = releases(list);
    for (size_t i = 0; i < list.size(); ++i) {
      start(list[i]);
      if (released[i])
        end(list[*released[i]]);
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
  peak = 0;
  peakOfBytes = 0;
  const ScheduleList &list = schedule.lists[rank];
  sent.assign(list.size(), false);
  for (size_t i = 0; i < list.size(); ++i) {
    if (control.stopped())
      return cancelled("another rank failed");
    PIPEC_RETURN_IF_ERROR(perform(i, feed, control));
    if (releasedAfter[i])
      PIPEC_RETURN_IF_ERROR(release(*releasedAfter[i]));
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
    if (!sendsOf(list[index], list[i]))
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
  PIPEC_RETURN_IF_ERROR(stage.run(phase, action.microbatch, feed, &control));
  notePeaks();
  return handOver(phase, stage, action.microbatch, feed);
}

void RankWorker::notePeaks() {
  int64_t live = 0;
  uint64_t bytes = 0;
  for (const auto &stage : stages)
    if (schedule.rankOfStage[stage->stageIndex()] ==
        static_cast<int64_t>(rank)) {
      live += stage->liveContexts();
      bytes += stage->liveBytes();
    }
  peak = std::max(peak, live);
  peakOfBytes = std::max(peakOfBytes, bytes);
}

/// What the compute action at `index` needed last.
Status RankWorker::release(size_t index) {
  const ScheduleAction &action = schedule.lists[rank][index];
  TrainStage &stage = *stages[static_cast<size_t>(action.stage)];
  for (ProgramPhase phase : phasesOf(action.kind))
    if (stage.has(phase))
      PIPEC_RETURN_IF_ERROR(stage.release(phase, action.microbatch));
  return {};
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

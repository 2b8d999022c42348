// The verifier's static checks, and the order in which all are made. In: a
// schedule from anywhere, hostile files included; out: what it holds at most,
// or the first action that is wrong. Nothing is indexed before it is in range.
// Tests: test/unit/passes/schedule/VerifyTest.cpp.
#include "runtime/schedule/verify.h"

#include "runtime/schedule/needs.h"
#include "runtime/schedule/verify_order.h"

#include <algorithm>

namespace pipec {
namespace {

using Kind = ScheduleAction::Kind;

std::string microbatchText(int64_t microbatch) {
  return ", microbatch " + std::to_string(microbatch);
}

/// Sizes and placement, before any action is looked at.
Status checkSizes(const Schedule &schedule, const StageGraph &graph) {
  PIPEC_RETURN_IF_ERROR(graph.verify());
  if (schedule.stages != graph.stages)
    return invalidArgument(
        "the schedule is for " + std::to_string(schedule.stages) +
        " stages, the model has " + std::to_string(graph.stages));
  if (schedule.microbatches < 1)
    return invalidArgument("the schedule has " +
                           std::to_string(schedule.microbatches) +
                           " microbatches");
  if (schedule.rankOfStage.size() != static_cast<size_t>(schedule.stages))
    return invalidArgument("ranks are given for " +
                           std::to_string(schedule.rankOfStage.size()) +
                           " stages of " + std::to_string(schedule.stages));
  for (size_t stage = 0; stage < schedule.rankOfStage.size(); ++stage)
    if (int64_t rank = schedule.rankOfStage[stage];
        rank < 0 || rank >= schedule.ranks())
      return invalidArgument("stage " + std::to_string(stage) + " is on rank " +
                             std::to_string(rank) + " of " +
                             std::to_string(schedule.ranks()));
  // Tables have a place a stage and microbatch: a few bytes must not ask for
  // many.
  size_t actions = 0;
  for (const ScheduleList &list : schedule.lists)
    actions += list.size();
  const int64_t most =
      static_cast<int64_t>(std::max<size_t>(1'000'000, actions));
  if (schedule.microbatches > most / schedule.stages)
    return invalidArgument(
        std::to_string(actions) + " actions cannot be complete for " +
        std::to_string(schedule.stages) + " stages and " +
        std::to_string(schedule.microbatches) + " microbatches");
  return {};
}

/// What is wrong with an action by itself; empty if nothing is.
std::string faultOf(const Schedule &schedule, int64_t rank,
                    const ScheduleAction &action) {
  if (action.kind > Kind::Step)
    return "this kind of action does not exist";
  if (action.kind == Kind::Step)
    return "";
  auto outside = [&](int64_t s) { return s < 0 || s >= schedule.stages; };
  const bool travels = action.isSend() || action.isReceive();
  if (outside(action.stage) || (travels && outside(action.peerStage)))
    return "there are stages 0 to " + std::to_string(schedule.stages - 1);
  if (action.kind != Kind::ReduceGradients &&
      (action.microbatch < 0 || action.microbatch >= schedule.microbatches))
    return "there are microbatches 0 to " +
           std::to_string(schedule.microbatches - 1);
  const int64_t own = schedule.rankOfStage[static_cast<size_t>(action.stage)];
  if (own != rank)
    return "stage " + std::to_string(action.stage) + " is on " +
           rankText(schedule, own);
  if (travels && !schedule.communicates)
    return "the schedule is marked as one without sends and receives";
  return "";
}

std::string faultOfPair(const ScheduleList &list, size_t index) {
  if (!list[index].overlapsNext)
    return "";
  if (list[index].kind != Kind::Forward || index + 1 == list.size() ||
      !list[index + 1].isBackward())
    return "only a Forward and a backward action after it can overlap";
  if (list[index].stage == list[index + 1].stage &&
      list[index].microbatch == list[index + 1].microbatch)
    return "its own backward action cannot overlap it";
  return "";
}

std::string faultOfTravel(const Schedule &schedule, const Needs &needs,
                          const ScheduleAction &action) {
  if (!(action.isSend() || action.isReceive()) || needs.remoteOf(action))
    return "";
  if (schedule.rankOfStage[static_cast<size_t>(action.peerStage)] ==
      schedule.rankOfStage[static_cast<size_t>(action.stage)])
    return "both stages are on the same rank, nothing has to be sent";
  bool gradient =
      action.kind == Kind::SendGradient || action.kind == Kind::ReceiveGradient;
  return std::string("no ") + (gradient ? "gradient" : "value") +
         " goes between these stages";
}

/// Counts what ran and what travelled, and names the first too many or missing.
class Completeness {
public:
  Completeness(const Schedule &schedule, const StageGraph &graph)
      : schedule(schedule), graph(graph), needs(schedule, graph),
        ran(needs.numRanSlots()), sent(needs.numArrivalSlots()),
        received(sent) {}

  /// What is wrong with the action, given those before it.
  std::string add(const ScheduleAction &action) {
    for (Phase phase : Needs::phasesOf(action.kind)) {
      if (!wants(action.stage, phase))
        return "stage " + std::to_string(action.stage) + " has no " +
               (phase == Phase::Input ? "input" : "weight") + " gradients";
      if (!mark(ran, needs.ranSlot(phase, action.stage, action.microbatch)))
        return "it is there a second time";
    }
    if (action.isSend() || action.isReceive())
      if (!mark(action.isSend() ? sent : received,
                needs.slotOf(*needs.remoteOf(action), action.microbatch)))
        return "it is there a second time";
    return "";
  }

  Status missing() const {
    for (int64_t stage = 0; stage < schedule.stages; ++stage)
      for (int64_t k = 0; k < schedule.microbatches; ++k)
        for (Phase phase : {Phase::Forward, Phase::Input, Phase::Weight})
          if (wants(stage, phase) && !ran[needs.ranSlot(phase, stage, k)])
            return lacks(stage, missingText(phase, stage, k));
    if (!schedule.communicates)
      return {};
    for (const Needs::Remote &remote : needs.remotes())
      for (int64_t k = 0; k < schedule.microbatches; ++k) {
        const auto [edge, gradient, index] = remote;
        if (!sent[needs.slotOf(remote, k)])
          return lacks(edge.from,
                       text({gradient ? Kind::SendGradient : Kind::SendForward,
                             edge.from, k, edge.to}));
        if (!received[needs.slotOf(remote, k)])
          return lacks(edge.to, text({gradient ? Kind::ReceiveGradient
                                               : Kind::ReceiveForward,
                                      edge.to, k, edge.from}));
      }
    return {};
  }

private:
  bool wants(int64_t stage, Phase phase) const {
    BackwardWork work = graph.workOf(stage);
    return phase == Phase::Forward ||
           (phase == Phase::Input ? hasInputWork(work) : hasWeightWork(work));
  }
  static bool mark(std::vector<bool> &table, size_t slot) {
    bool first = !table[slot];
    table[slot] = true;
    return first;
  }
  static std::string nameOf(Phase phase) {
    return phase == Phase::Forward ? "Forward"
           : phase == Phase::Input ? "BackwardInput (or Backward)"
                                   : "BackwardWeight (or Backward)";
  }
  std::string missingText(Phase phase, int64_t stage, int64_t k) const {
    if (!schedule.isFromFile)
      return nameOf(phase) + " of stage " + std::to_string(stage) +
             microbatchText(k);
    auto quoted = [&](Kind kind) {
      return "'" + shortText({kind, stage, k}) + "'";
    };
    return phase == Phase::Forward
               ? quoted(Kind::Forward)
               : quoted(Kind::Backward) + " (or " +
                     quoted(phase == Phase::Input ? Kind::BackwardInput
                                                  : Kind::BackwardWeight) +
                     ")";
  }
  std::string text(const ScheduleAction &action) const {
    return schedule.isFromFile ? "'" + shortText(action) + "'" : str(action);
  }
  Status lacks(int64_t stage, const std::string &what) const {
    return invalidArgument(
        rankText(schedule, schedule.rankOfStage[static_cast<size_t>(stage)]) +
        ": " + what + " is missing");
  }

  const Schedule &schedule;
  const StageGraph &graph;
  Needs needs;
  std::vector<bool> ran, sent, received;
};

/// Calls `fault(rank, index)` for every action; the first text it gives is the
/// error.
template <typename Fault>
Status checkEach(const Schedule &schedule, const Fault &fault) {
  for (size_t rank = 0; rank < schedule.lists.size(); ++rank)
    for (size_t i = 0; i < schedule.lists[rank].size(); ++i)
      if (std::string text = fault(rank, i); !text.empty())
        return invalidArgument(
            actionAt(schedule, static_cast<int64_t>(rank), i) + ": " + text);
  return {};
}

/// ReduceGradients after all backward work of its stage, once; Step last, on
/// every rank or on none.
Status checkUpdate(const Schedule &schedule) {
  std::vector<bool> reduced(static_cast<size_t>(schedule.stages));
  PIPEC_RETURN_IF_ERROR(checkEach(schedule, [&](size_t rank, size_t i) {
    const ScheduleList &list = schedule.lists[rank];
    const ScheduleAction &action = list[i];
    if (action.kind == Kind::Step)
      return std::string(i + 1 < list.size() ? "nothing may follow it" : "");
    const size_t stage = static_cast<size_t>(action.stage);
    if (action.kind == Kind::ReduceGradients) {
      if (reduced[stage])
        return std::string("it is there a second time");
      reduced[stage] = true;
    } else if (action.isCompute() && reduced[stage]) {
      return std::string("it comes after its stage's ReduceGradients");
    }
    return std::string();
  }));
  auto steps = [](const ScheduleList &list) {
    return !list.empty() && list.back().kind == Kind::Step;
  };
  for (size_t rank = 1; rank < schedule.lists.size(); ++rank)
    if (steps(schedule.lists[rank]) != steps(schedule.lists[0]))
      return invalidArgument(
          "rank " + std::to_string(steps(schedule.lists[rank]) ? 0 : rank) +
          ": Step is missing, although other ranks have it");
  return {};
}

/// "300 bytes"; without the stages' sizes it counts activations.
std::string amount(double count, const VerifyOptions &options) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f %s", count,
                options.memory.empty() ? "activations" : "bytes");
  return text;
}

Status checkMemory(const Schedule &schedule, const StageGraph &graph,
                   const VerifyOptions &options, ScheduleReport &report) {
  for (size_t rank = 0; rank < schedule.lists.size(); ++rank) {
    MemoryCount count(schedule, graph, options.memory);
    int64_t live = 0;
    double held = 0;
    for (size_t i = 0; i < schedule.lists[rank].size(); ++i) {
      count.run(schedule.lists[rank][i]);
      const std::string at = actionAt(schedule, static_cast<int64_t>(rank), i);
      if (options.maxLive > 0 && count.live() > options.maxLive)
        return resourceExhausted(at + " would make " +
                                 std::to_string(count.live()) +
                                 " activations alive, the limit is " +
                                 std::to_string(options.maxLive));
      if (options.maxMemory > 0 && count.held() > options.maxMemory)
        return resourceExhausted(
            at + " would hold " + amount(count.held(), options) +
            ", the limit is " + amount(options.maxMemory, options));
      live = std::max(live, count.live());
      held = std::max(held, count.held());
    }
    report.peakLive.push_back(live);
    report.peakMemory.push_back(held);
    report.ascending &= count.ascending();
  }
  return {};
}

} // namespace

Status checkShape(const Schedule &schedule, const StageGraph &graph) {
  PIPEC_RETURN_IF_ERROR(checkSizes(schedule, graph));
  PIPEC_RETURN_IF_ERROR(checkEach(schedule, [&](size_t rank, size_t i) {
    const std::string fault =
        faultOf(schedule, static_cast<int64_t>(rank), schedule.lists[rank][i]);
    return fault.empty() ? faultOfPair(schedule.lists[rank], i) : fault;
  }));
  const Needs needs(schedule, graph);
  return checkEach(schedule, [&](size_t rank, size_t i) {
    return faultOfTravel(schedule, needs, schedule.lists[rank][i]);
  });
}

StatusOr<ScheduleReport> verifySchedule(const Schedule &schedule,
                                        const StageGraph &graph,
                                        const VerifyOptions &options) {
  PIPEC_RETURN_IF_ERROR(checkShape(schedule, graph));
  if (!options.memory.empty() &&
      options.memory.size() != static_cast<size_t>(schedule.stages))
    return invalidArgument("sizes are given for " +
                           std::to_string(options.memory.size()) +
                           " stages of " + std::to_string(schedule.stages));
  Completeness completeness(schedule, graph);
  PIPEC_RETURN_IF_ERROR(checkEach(schedule, [&](size_t rank, size_t i) {
    return completeness.add(schedule.lists[rank][i]);
  }));
  PIPEC_RETURN_IF_ERROR(completeness.missing());
  PIPEC_RETURN_IF_ERROR(checkUpdate(schedule));
  PIPEC_RETURN_IF_ERROR(checkOrder(schedule, graph, options.sendsBlock));
  ScheduleReport report;
  PIPEC_RETURN_IF_ERROR(checkMemory(schedule, graph, options, report));
  return report;
}

} // namespace pipec

// Times a schedule by events. In: lists, graph, times; out: when each action
// runs, spans, bubbles, peaks.
//
// Of all ranks, the one whose next action can begin first is taken each time;
// that action's results then tell others when they can begin. Starts never go
// back, so the result does not depend on the order in which ranks are looked
// at. Cost: O(actions * ranks), a number compared each.
// Tests: SimulateTest.cpp and VectorsTest.cpp in test/unit/passes/schedule.
#include "passes/schedule/Simulate.h"

#include "runtime/schedule/needs.h"
#include "runtime/schedule/verify.h"

#include <algorithm>
#include <limits>

namespace pipec {
namespace {

using Kind = ScheduleAction::Kind;
constexpr double kNever = std::numeric_limits<double>::infinity();

class Simulator {
public:
  Simulator(const Schedule &schedule, const StageGraph &graph,
            const SimulationOptions &options)
      : schedule(schedule), graph(graph), options(options),
        needs(schedule, graph), ran(needs.numRanSlots(), kNever),
        sent(needs.numArrivalSlots(), kNever), arrived(sent),
        ranks(static_cast<size_t>(schedule.ranks())), heads(ranks),
        clocks(ranks), starts(ranks, kNever), linkFree(ranks * ranks) {}

  StatusOr<Simulation> run();

private:
  bool isPair(size_t rank, size_t index) const;
  void findStart(size_t rank);
  double timeOf(const Need &need) const {
    return need.arrival ? arrived[need.slot] : ran[need.slot];
  }
  double duration(const ScheduleAction &action) const;
  void step(size_t rank);
  void runPair(size_t rank, double start);
  void finish(const ScheduleAction &action, double end);
  void send(const Needs::Remote &remote, size_t slot, double time);
  Status stuck() const;
  void summarise();

  const Schedule &schedule;
  const StageGraph &graph;
  const SimulationOptions &options;
  Needs needs;
  std::vector<double> ran, sent, arrived; // by slot: when
  size_t ranks;
  std::vector<size_t> heads;
  std::vector<double> clocks;
  std::vector<double> starts;   // of each rank's next action, if it is known
  std::vector<double> linkFree; // from rank * ranks + to rank
  Simulation result;
};

bool Simulator::isPair(size_t rank, size_t index) const {
  const ScheduleList &list = schedule.lists[rank];
  return options.pairs == SimulationOptions::Pairs::Together &&
         list[index].overlapsNext && index + 1 < list.size();
}

/// The next action's start, or kNever while something it needs has no time.
void Simulator::findStart(size_t rank) {
  starts[rank] = kNever;
  const ScheduleList &list = schedule.lists[rank];
  if (heads[rank] == list.size())
    return;
  double start = clocks[rank];
  const size_t count = isPair(rank, heads[rank]) ? 2 : 1;
  for (size_t i = heads[rank]; i < heads[rank] + count; ++i)
    for (const Need &need : needs.of(list[i]))
      start = std::max(start, timeOf(need));
  const ScheduleAction &action = list[heads[rank]];
  // A rank waits inside of a receive, so that alone begins at once.
  if (action.isReceive()) {
    const Needs::Remote *remote = needs.remoteOf(action);
    if (!remote || sent[needs.slotOf(*remote, action.microbatch)] == kNever)
      start = kNever;
  }
  starts[rank] = start;
}

double Simulator::duration(const ScheduleAction &action) const {
  if (!action.isCompute())
    return 0;
  const StageTimes times =
      options.stages.empty()
          ? StageTimes()
          : options.stages[static_cast<size_t>(action.stage)];
  switch (action.kind) {
  case Kind::Forward:
    return times.forward;
  case Kind::Backward:
    return times.backwardInput + times.backwardWeight;
  case Kind::BackwardInput:
    return times.backwardInput;
  default:
    return times.backwardWeight;
  }
}

void Simulator::send(const Needs::Remote &remote, size_t slot, double time) {
  const auto &all = remote.gradient ? options.gradient : options.forward;
  const EdgeTimes times = all.empty() ? EdgeTimes() : all[remote.index];
  const size_t to = static_cast<size_t>(
      schedule.rankOfStage[static_cast<size_t>(remote.edge.to)]);
  const size_t from = static_cast<size_t>(
      schedule.rankOfStage[static_cast<size_t>(remote.edge.from)]);
  double &free = linkFree[from * ranks + to];
  free = std::max(free, time) + times.transfer;
  sent[slot] = free + times.latency;
  if (!schedule.communicates)
    arrived[slot] = sent[slot];
  if (starts[to] == kNever)
    findStart(to);
}

void Simulator::finish(const ScheduleAction &action, double end) {
  for (Phase phase : Needs::phasesOf(action.kind))
    ran[needs.ranSlot(phase, action.stage, action.microbatch)] = end;
  if (!schedule.communicates)
    for (const Needs::Remote *remote : needs.sentBy(action))
      send(*remote, needs.slotOf(*remote, action.microbatch), end);
}

void Simulator::runPair(size_t rank, double start) {
  const ScheduleAction *pair = &schedule.lists[rank][heads[rank]];
  const double forward = duration(pair[0]);
  const double backward = duration(pair[1]);
  const double hidden = options.pairOverlap * std::min(forward, backward);
  const double end = start + forward + backward - hidden;
  result.actions[rank].push_back({start, start + forward});
  result.actions[rank].push_back({start + forward - hidden, end});
  result.work[rank] += end - start;
  clocks[rank] = end;
  heads[rank] += 2;
  finish(pair[0], end);
  finish(pair[1], end);
}

void Simulator::step(size_t rank) {
  const ScheduleAction &action = schedule.lists[rank][heads[rank]];
  const double start = starts[rank];
  if (isPair(rank, heads[rank])) {
    runPair(rank, start);
  } else {
    double end = start + duration(action);
    if (action.isReceive()) {
      const size_t slot =
          needs.slotOf(*needs.remoteOf(action), action.microbatch);
      end = std::max(start, sent[slot]);
      arrived[slot] = end;
    }
    result.actions[rank].push_back({start, end});
    result.work[rank] += duration(action);
    clocks[rank] = end;
    ++heads[rank];
    finish(action, end);
    if (action.isSend())
      if (const Needs::Remote *remote = needs.remoteOf(action))
        send(*remote, needs.slotOf(*remote, action.microbatch), end);
  }
  findStart(rank);
}

Status Simulator::stuck() const {
  for (size_t rank = 0; rank < ranks; ++rank) {
    const ScheduleList &list = schedule.lists[rank];
    if (heads[rank] == list.size())
      continue;
    const std::string at =
        actionAt(schedule, static_cast<int64_t>(rank), heads[rank]);
    for (const Need &need : needs.of(list[heads[rank]]))
      if (timeOf(need) == kNever)
        return invalidArgument("the schedule gets stuck: " + at +
                               " never gets " + str(need));
    return invalidArgument("the schedule gets stuck at " + at);
  }
  return {};
}

void Simulator::summarise() {
  double longest = 0;
  for (size_t rank = 0; rank < ranks; ++rank) {
    MemoryCount count(schedule, graph, options.memory);
    double first = kNever, last = 0, memory = 0;
    int64_t live = 0;
    for (size_t i = 0; i < schedule.lists[rank].size(); ++i) {
      count.run(schedule.lists[rank][i]);
      live = std::max(live, count.live());
      memory = std::max(memory, count.held());
      result.makespan = std::max(result.makespan, result.actions[rank][i].end);
      if (!schedule.lists[rank][i].isCompute())
        continue;
      first = std::min(first, result.actions[rank][i].start);
      last = std::max(last, result.actions[rank][i].end);
    }
    result.span.push_back(first < last ? last - first : 0);
    result.peakLive.push_back(live);
    result.peakMemory.push_back(memory);
    result.ideal = std::max(result.ideal, result.work[rank]);
    longest = std::max(longest, result.span.back());
  }
  result.bubble = longest - result.ideal;
  result.makespanBubble = result.makespan - result.ideal;
}

StatusOr<Simulation> Simulator::run() {
  result.actions.resize(ranks);
  result.work.resize(ranks);
  for (size_t rank = 0; rank < ranks; ++rank)
    findStart(rank);
  while (true) {
    auto next = std::min_element(starts.begin(), starts.end());
    if (next == starts.end() || *next == kNever)
      break;
    step(static_cast<size_t>(next - starts.begin()));
  }
  PIPEC_RETURN_IF_ERROR(stuck());
  summarise();
  return std::move(result);
}

Status checkLength(const char *what, size_t got, size_t want) {
  if (got == 0 || got == want)
    return {};
  return invalidArgument(std::string(what) + " are given for " +
                         std::to_string(got) + ", wanted none or " +
                         std::to_string(want));
}

Status checkOptions(const StageGraph &graph, const SimulationOptions &options) {
  const size_t stages = static_cast<size_t>(graph.stages);
  PIPEC_RETURN_IF_ERROR(
      checkLength("times of stages", options.stages.size(), stages));
  PIPEC_RETURN_IF_ERROR(
      checkLength("sizes of stages", options.memory.size(), stages));
  PIPEC_RETURN_IF_ERROR(checkLength(
      "times of value edges", options.forward.size(), graph.forward.size()));
  PIPEC_RETURN_IF_ERROR(checkLength("times of gradient edges",
                                    options.gradient.size(),
                                    graph.gradient.size()));
  bool sound = options.pairOverlap >= 0 && options.pairOverlap <= 1;
  auto check = [&](double time) { sound &= time >= 0 && time < kNever; };
  for (const StageTimes &times : options.stages) {
    check(times.forward);
    check(times.backwardInput);
    check(times.backwardWeight);
  }
  for (const auto *edges : {&options.forward, &options.gradient})
    for (const EdgeTimes &times : *edges) {
      check(times.transfer);
      check(times.latency);
    }
  return sound ? Status()
               : invalidArgument("a time is negative or not a number, or the "
                                 "overlap of pairs is not within 0 and 1");
}

} // namespace

StatusOr<Simulation> simulateSchedule(const Schedule &schedule,
                                      const StageGraph &graph,
                                      const SimulationOptions &options) {
  PIPEC_RETURN_IF_ERROR(checkShape(schedule, graph));
  PIPEC_RETURN_IF_ERROR(checkOptions(graph, options));
  return Simulator(schedule, graph, options).run();
}

} // namespace pipec

// Inserts sends and receives. In: compute actions; out: lists that cannot
// deadlock.
//
// Every list is a part of one sequence of events: computes at their start,
// sends at the end of what makes their value, each together with its receive.
// Run in that sequence, each event finds its inputs there and each send its
// receive, whatever the ranks' queues hold; so the lists have no circle.
// Invariant: a compute takes some time, so that its sends come after it.
// Cost: O(n log n). Tests: test/unit/passes/schedule/CommunicationTest.cpp,
// PropertyTest.cpp.
#include "passes/schedule/Communication.h"

#include "passes/schedule/Generate.h"
#include "runtime/schedule/needs.h"
#include "runtime/schedule/verify.h"

#include <algorithm>
#include <tuple>

namespace pipec {
namespace {

using Kind = ScheduleAction::Kind;

struct Event {
  double time;
  bool start; // sends that end at a time go before what begins then
  size_t rank;
  size_t index;                // of the action in its list
  const Needs::Remote *remote; // of a send

  bool operator<(const Event &o) const {
    return std::tie(time, start, rank, index) <
           std::tie(o.time, o.start, o.rank, o.index);
  }
};

/// The same with nothing shorter than a millionth of the longest.
std::vector<StageTimes> aboveZero(std::vector<StageTimes> times) {
  double longest = 0;
  for (const StageTimes &t : times)
    longest = std::max({longest, t.forward, t.backwardInput, t.backwardWeight});
  const double least = longest > 0 ? longest * 1e-6 : 1;
  for (StageTimes &t : times)
    t = {std::max(t.forward, least), std::max(t.backwardInput, least),
         std::max(t.backwardWeight, least)};
  return times;
}

std::vector<Event> sequence(const Schedule &schedule, const Needs &needs,
                            const Simulation &simulation) {
  std::vector<Event> events;
  for (size_t rank = 0; rank < schedule.lists.size(); ++rank) {
    const ScheduleList &list = schedule.lists[rank];
    for (size_t i = 0; i < list.size(); ++i) {
      // A pair begins and ends as one, and its sends follow it.
      const bool second = i > 0 && list[i - 1].overlapsNext;
      const size_t first = second ? i - 1 : i;
      const size_t last = list[i].overlapsNext ? i + 1 : i;
      events.push_back(
          {simulation.actions[rank][first].start, true, rank, i, nullptr});
      for (const Needs::Remote *remote : needs.sentBy(list[i]))
        events.push_back(
            {simulation.actions[rank][last].end, false, rank, i, remote});
    }
  }
  std::stable_sort(events.begin(), events.end());
  return events;
}

} // namespace

Status addCommunication(Schedule &schedule, const StageGraph &graph,
                        const std::vector<StageTimes> &times) {
  if (schedule.communicates)
    return invalidArgument("the schedule has its sends and receives already");
  PIPEC_RETURN_IF_ERROR(checkShape(schedule, graph));
  Schedule adapted = schedule;
  adaptBackward(adapted, graph);
  SimulationOptions options;
  options.stages = aboveZero(times);
  PIPEC_ASSIGN_OR_RETURN(Simulation simulation,
                         simulateSchedule(adapted, graph, options));
  Needs needs(adapted, graph);
  std::vector<ScheduleList> lists(adapted.lists.size());
  for (const Event &event : sequence(adapted, needs, simulation)) {
    const ScheduleAction &action = adapted.lists[event.rank][event.index];
    if (event.start) {
      lists[event.rank].push_back(action);
      continue;
    }
    const auto [edge, gradient, index] = *event.remote;
    const size_t to =
        static_cast<size_t>(adapted.rankOfStage[static_cast<size_t>(edge.to)]);
    lists[event.rank].push_back(
        {gradient ? Kind::SendGradient : Kind::SendForward, edge.from,
         action.microbatch, edge.to});
    lists[to].push_back(
        {gradient ? Kind::ReceiveGradient : Kind::ReceiveForward, edge.to,
         action.microbatch, edge.from});
  }
  adapted.lists = std::move(lists);
  adapted.communicates = true;
  schedule = std::move(adapted);
  return {};
}

void removeCommunication(Schedule &schedule) {
  for (ScheduleList &list : schedule.lists)
    list.erase(std::remove_if(list.begin(), list.end(),
                              [](const ScheduleAction &action) {
                                return action.isSend() || action.isReceive();
                              }),
               list.end());
  schedule.communicates = false;
}

} // namespace pipec

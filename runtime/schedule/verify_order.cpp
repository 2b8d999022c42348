// Runs the lists with sends that block until they are received. In: a complete
// schedule; out: ok, or the action that comes too early or waits for ever.
//
// Nothing but a send or a receive may wait: what a compute needs is earlier in
// its rank's list, or the list is wrong. (Before sends are in the lists, a
// compute waits for values of other ranks instead.) If the lists run through
// here they do under any speeds and any queues, because a rendezvous is the
// most that an executor can ask. Cost: O(actions) and a
// round over the ranks for each time that all wait.
// Tests: test/unit/passes/schedule/VerifyTest.cpp.
#include "runtime/schedule/verify_order.h"

#include "runtime/schedule/needs.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace pipec {
namespace {

using Kind = ScheduleAction::Kind;

class Machine {
public:
  Machine(const Schedule &schedule, const StageGraph &graph, bool sendsBlock)
      : schedule(schedule), sendsBlock(sendsBlock), needs(schedule, graph),
        ran(needs.numRanSlots()), arrived(needs.numArrivalSlots()),
        heads(schedule.lists.size()) {}

  Status run();

private:
  const ScheduleAction *head(size_t rank) const {
    return heads[rank] < schedule.lists[rank].size()
               ? &schedule.lists[rank][heads[rank]]
               : nullptr;
  }
  size_t rankOf(int64_t stage) const {
    return static_cast<size_t>(
        schedule.rankOfStage[static_cast<size_t>(stage)]);
  }
  std::string at(size_t rank) const {
    return actionAt(schedule, static_cast<int64_t>(rank), heads[rank]);
  }
  std::optional<Need> missing(const ScheduleAction &action) const;
  StatusOr<bool> advance(size_t rank);
  bool meet(size_t rank);
  StatusOr<bool> take(size_t rank);
  void finish(const ScheduleAction &action);
  size_t waitsFor(size_t rank) const;
  Status deadlock() const;

  const Schedule &schedule;
  const bool sendsBlock;
  // Of sends that do not block: what is on its way, by ranks from and to, as
  // indices of the sender's list.
  std::map<std::pair<size_t, size_t>, std::deque<size_t>> onTheWay;
  Needs needs;
  std::vector<bool> ran, arrived;
  std::vector<size_t> heads;
};

std::optional<Need> Machine::missing(const ScheduleAction &action) const {
  for (const Need &need : needs.of(action))
    if (need.arrival ? !arrived[need.slot] : !ran[need.slot])
      return need;
  return std::nullopt;
}

void Machine::finish(const ScheduleAction &action) {
  for (Phase phase : Needs::phasesOf(action.kind))
    ran[needs.ranSlot(phase, action.stage, action.microbatch)] = true;
  if (!schedule.communicates)
    for (const Needs::Remote *remote : needs.sentBy(action))
      arrived[needs.slotOf(*remote, action.microbatch)] = true;
}

/// A send and its receive at the heads of both lists: both go on.
bool Machine::meet(size_t rank) {
  const ScheduleAction &send = *head(rank);
  const size_t to = rankOf(send.peerStage);
  const ScheduleAction *other = head(to);
  const Needs::Remote *remote = needs.remoteOf(send);
  if (!other || !other->isReceive() || needs.remoteOf(*other) != remote ||
      other->microbatch != send.microbatch)
    return false;
  arrived[needs.slotOf(*remote, send.microbatch)] = true;
  ++heads[rank];
  ++heads[to];
  return true;
}

/// A receive of the first value on its way.
StatusOr<bool> Machine::take(size_t rank) {
  const ScheduleAction &receive = *head(rank);
  const size_t from = rankOf(receive.peerStage);
  std::deque<size_t> &queue = onTheWay[{from, rank}];
  if (queue.empty())
    return false;
  const ScheduleAction &send = schedule.lists[from][queue.front()];
  const Needs::Remote *remote = needs.remoteOf(send);
  if (needs.remoteOf(receive) != remote ||
      receive.microbatch != send.microbatch)
    return invalidArgument(
        "sends and receives are in different orders: " + at(rank) + " meets " +
        actionAt(schedule, static_cast<int64_t>(from), queue.front()));
  queue.pop_front();
  arrived[needs.slotOf(*remote, send.microbatch)] = true;
  ++heads[rank];
  return true;
}

/// True if the rank's next action ran.
StatusOr<bool> Machine::advance(size_t rank) {
  const ScheduleAction *action = head(rank);
  if (!action)
    return false;
  if (action->isReceive())
    return sendsBlock ? false : take(rank);
  if (auto need = missing(*action)) {
    if (need->arrival && !schedule.communicates)
      return false;
    return invalidArgument(at(rank) + " comes before " + str(*need) +
                           (!need->arrival   ? ""
                            : need->gradient ? " is received"
                                             : " are received"));
  }
  if (action->isSend() && sendsBlock)
    return meet(rank);
  if (action->isSend())
    onTheWay[{rank, rankOf(action->peerStage)}].push_back(heads[rank]);
  finish(*action);
  ++heads[rank];
  return true;
}

size_t Machine::waitsFor(size_t rank) const {
  const ScheduleAction &action = *head(rank);
  if (action.isSend() || action.isReceive())
    return rankOf(action.peerStage);
  return rankOf(missing(action)->edge.from);
}

/// Follows who waits for whom until a rank comes up twice or has ended.
Status Machine::deadlock() const {
  size_t rank = 0;
  while (!head(rank))
    ++rank;
  std::vector<size_t> chain;
  while (head(rank) &&
         std::find(chain.begin(), chain.end(), rank) == chain.end()) {
    chain.push_back(rank);
    rank = waitsFor(rank);
  }
  if (!head(rank))
    return invalidArgument("deadlock: " + at(chain.back()) +
                           " waits for rank " + std::to_string(rank) +
                           ", which has ended");
  chain.erase(chain.begin(), std::find(chain.begin(), chain.end(), rank));
  const ScheduleAction &first = *head(chain.front());
  const ScheduleAction &second = *head(chain.back());
  if (chain.size() == 2 && first.isSend() != second.isSend() &&
      first.isReceive() != second.isReceive())
    return invalidArgument("deadlock: sends and receives are in different "
                           "orders, " +
                           at(chain.front()) + " meets " + at(chain.back()));
  std::string text = "deadlock: " + at(chain.front());
  for (size_t i = 1; i < chain.size(); ++i)
    text += " waits for " + at(chain[i]);
  return invalidArgument(text + ", which waits for rank " +
                         std::to_string(rank));
}

Status Machine::run() {
  bool moved = true;
  while (moved) {
    moved = false;
    for (size_t rank = 0; rank < schedule.lists.size(); ++rank)
      while (true) {
        PIPEC_ASSIGN_OR_RETURN(bool advanced, advance(rank));
        if (!advanced)
          break;
        moved = true;
      }
  }
  for (size_t rank = 0; rank < schedule.lists.size(); ++rank)
    if (head(rank))
      return deadlock();
  return {};
}

} // namespace

Status checkOrder(const Schedule &schedule, const StageGraph &graph,
                  bool sendsBlock) {
  return Machine(schedule, graph, sendsBlock).run();
}

} // namespace pipec

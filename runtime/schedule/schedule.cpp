// How a schedule and its actions read, and what ends its training step.
// In: the data of Schedule.h; out: text, or the schedule with its update.
// Tests: test/unit/passes/schedule/ScheduleTest.cpp.
#include "runtime/schedule/schedule.h"

#include <algorithm>

namespace pipec {
namespace {

using Kind = ScheduleAction::Kind;

struct KindText {
  const char *name;
  const char *letters;
};

const KindText &textOf(Kind kind) {
  static const KindText table[] = {
      {"Forward", "F"},
      {"Backward", "B"},
      {"BackwardInput", "I"},
      {"BackwardWeight", "W"},
      {"SendForward", "SEND_F"},
      {"ReceiveForward", "RECV_F"},
      {"SendGradient", "SEND_B"},
      {"ReceiveGradient", "RECV_B"},
      {"ReduceGradients", "REDUCE_GRAD"},
      {"Step", "STEP"},
  };
  return table[static_cast<size_t>(kind)];
}

/// Where torch, which knows neighbours only, takes the peer to be.
int64_t neighbour(const ScheduleAction &action) {
  bool next =
      action.kind == Kind::SendForward || action.kind == Kind::ReceiveGradient;
  return next ? action.stage + 1 : action.stage - 1;
}

} // namespace

std::string str(const ScheduleAction &action) {
  std::string text = textOf(action.kind).name;
  if (action.kind == Kind::Step)
    return text;
  text += " of stage " + std::to_string(action.stage);
  if (action.isSend())
    text += " to stage " + std::to_string(action.peerStage);
  if (action.isReceive())
    text += " from stage " + std::to_string(action.peerStage);
  if (action.kind != Kind::ReduceGradients)
    text += ", microbatch " + std::to_string(action.microbatch);
  return text;
}

std::string shortText(const ScheduleAction &action) {
  std::string letters = textOf(action.kind).letters;
  if (action.kind == Kind::Step)
    return letters;
  std::string text = std::to_string(action.stage) + letters;
  if (action.kind != Kind::ReduceGradients)
    text += std::to_string(action.microbatch);
  bool travels = action.isSend() || action.isReceive();
  if (travels && action.peerStage != neighbour(action))
    text += (action.isSend() ? ">" : "<") + std::to_string(action.peerStage);
  return text;
}

std::string rankText(const Schedule &schedule, int64_t rank) {
  const std::string text = "rank " + std::to_string(rank);
  return schedule.isFromFile
             ? "row " + std::to_string(rank + 1) + " (" + text + ")"
             : text;
}

std::string actionAt(const Schedule &schedule, int64_t rank, size_t index) {
  ScheduleAction action = schedule.lists[static_cast<size_t>(rank)][index];
  if (action.column > 0) {
    action.kind = action.writtenKind;
    return rankText(schedule, rank) + ", column " +
           std::to_string(action.column) + ": '" + shortText(action) + "'";
  }
  return "rank " + std::to_string(rank) + ", action " + std::to_string(index) +
         ": " + str(action);
}

std::string dump(const Schedule &schedule) {
  std::string text = schedule.name + ": " + std::to_string(schedule.stages) +
                     " stages on " + std::to_string(schedule.ranks()) +
                     " ranks, " + std::to_string(schedule.microbatches) +
                     " microbatches\n";
  std::vector<std::vector<std::string>> rows;
  std::vector<size_t> widths;
  for (const ScheduleList &list : schedule.lists) {
    auto &row = rows.emplace_back();
    for (const ScheduleAction &action : list)
      row.push_back(shortText(action) + (action.overlapsNext ? "&" : ""));
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  for (size_t rank = 0; rank < rows.size(); ++rank) {
    text += "rank " + std::to_string(rank) + ":";
    for (size_t i = 0; i < rows[rank].size(); ++i) {
      text += " " + rows[rank][i];
      if (i + 1 < rows[rank].size())
        text.append(widths[i] - rows[rank][i].size(), ' ');
    }
    text += "\n";
  }
  return text;
}

void addUpdate(Schedule &schedule, const std::vector<bool> &reduces) {
  for (size_t stage = 0; stage < schedule.rankOfStage.size(); ++stage)
    if (stage < reduces.size() && reduces[stage])
      schedule.lists[static_cast<size_t>(schedule.rankOfStage[stage])]
          .push_back({Kind::ReduceGradients, static_cast<int64_t>(stage), -1});
  for (ScheduleList &list : schedule.lists)
    list.push_back({Kind::Step, -1, -1});
}

} // namespace pipec

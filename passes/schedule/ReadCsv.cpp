// Reads a schedule in torch's CSV format. In: text from anywhere; out: lists,
// or the cell that is wrong.
//
// Memory follows the text's length, whatever numbers it holds: a stage or
// microbatch beyond the number of cells cannot be part of a complete schedule.
// Tests: test/unit/passes/schedule/CsvTest.cpp.
#include "passes/schedule/Csv.h"

#include "runtime/schedule/verify.h"

#include <algorithm>
#include <optional>
#include <set>

namespace pipec {
namespace {

using Kind = ScheduleAction::Kind;

struct Letters {
  std::string_view text;
  std::optional<Kind> kind; // none: known to torch, nothing here
  bool hasMicrobatch;
};

const Letters kLetters[] = {
    {"F", Kind::Forward, true},
    {"B", Kind::Backward, true},
    {"I", Kind::BackwardInput, true},
    {"W", Kind::BackwardWeight, true},
    {"BW", Kind::Backward, true}, // of older torch: see readOlderLetters
    {"SEND_F", Kind::SendForward, true},
    {"RECV_F", Kind::ReceiveForward, true},
    {"SEND_B", Kind::SendGradient, true},
    {"RECV_B", Kind::ReceiveGradient, true},
    {"REDUCE_GRAD", Kind::ReduceGradients, false},
    {"WAIT_REDUCE_GRAD", std::nullopt, false},
    {"WAIT_SEND_F", std::nullopt, true},
    {"WAIT_SEND_B", std::nullopt, true},
    {"UNSHARD", std::nullopt, false},
    {"RESHARD", std::nullopt, false},
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

/// Takes up to `separator` off the front of `text`.
std::string_view take(std::string_view &text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  std::string_view front = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return front;
}

/// The digits at the front of `text`, kept from overflowing at a number beyond
/// any that is allowed; -1 without any.
int64_t takeNumber(std::string_view &text) {
  int64_t number = -1;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    number = std::max<int64_t>(number, 0) * 10 + (text.front() - '0');
    number = std::min<int64_t>(number, INT32_MAX);
    text.remove_prefix(1);
  }
  return number;
}

class Reader {
public:
  explicit Reader(size_t cells) : limit(static_cast<int64_t>(cells)) {}

  Status row(std::string_view line);
  Status readOlderLetters();
  Schedule schedule;

private:
  Status cell(std::string_view text);
  Status pair(std::string_view text);
  StatusOr<std::optional<ScheduleAction>> action(std::string_view text) const;
  Status add(const ScheduleAction &action);
  Status error(std::string_view got, const std::string &problem) const;

  int64_t limit;
  size_t column = 0;
  bool hasInput = false;                         // I
  std::set<std::pair<int64_t, int64_t>> whole;   // stage, microbatch of BW
  std::set<std::pair<int64_t, int64_t>> weights; // .. and of W
};

Status Reader::error(std::string_view got, const std::string &problem) const {
  constexpr size_t kShown = 40;
  std::string shown(got.substr(0, kShown));
  // Control characters would upset a terminal, and no action has any.
  for (char &c : shown)
    if (c < ' ' || c > '~')
      c = '?';
  return invalidArgument(rankText(schedule, schedule.ranks() - 1) +
                         ", column " + std::to_string(column) + ": '" + shown +
                         (got.size() > kShown ? "..." : "") + "' " + problem);
}

/// One action, or none where torch's has no counterpart.
StatusOr<std::optional<ScheduleAction>>
Reader::action(std::string_view text) const {
  const std::string expected =
      "is not an action; expected a stage, F, B, I, W, SEND_F, RECV_F, SEND_B, "
      "RECV_B or REDUCE_GRAD, and a microbatch, as in 2F0";
  std::string_view rest = text;
  const int64_t stage = takeNumber(rest);
  std::string_view letters =
      rest.substr(0, std::min(rest.find_first_of("0123456789"), rest.size()));
  const auto *found =
      std::find_if(std::begin(kLetters), std::end(kLetters),
                   [&](const Letters &known) { return known.text == letters; });
  if (stage < 0 || found == std::end(kLetters))
    return error(text, expected);
  rest.remove_prefix(letters.size());
  int64_t microbatch = rest.empty() ? -1 : takeNumber(rest);
  if (!rest.empty() || (found->hasMicrobatch && microbatch < 0))
    return error(text, expected);
  if (!found->kind)
    return std::optional<ScheduleAction>();
  if (stage >= limit || microbatch >= limit)
    return error(text, "has a number as large as the file has cells, " +
                           std::to_string(limit) +
                           ", so the schedule cannot be complete");
  ScheduleAction made{*found->kind, stage,
                      found->hasMicrobatch ? microbatch : -1};
  made.column = static_cast<int32_t>(std::min<size_t>(column, INT32_MAX));
  made.writtenKind = made.kind;
  made.isOfBoth = letters == "BW";
  const bool next =
      made.kind == Kind::SendForward || made.kind == Kind::ReceiveGradient;
  if (made.isSend() || made.isReceive())
    made.peerStage = next ? stage + 1 : stage - 1;
  if (made.peerStage < 0 && (made.isSend() || made.isReceive()))
    return error(text, "has no stage before it to exchange values with");
  return std::optional<ScheduleAction>(made);
}

Status Reader::add(const ScheduleAction &action) {
  const size_t stage = static_cast<size_t>(action.stage);
  hasInput |= action.kind == Kind::BackwardInput;
  if (action.isOfBoth)
    whole.emplace(action.stage, action.microbatch);
  if (action.kind == Kind::BackwardWeight)
    weights.emplace(action.stage, action.microbatch);
  if (schedule.rankOfStage.size() <= stage)
    schedule.rankOfStage.resize(stage + 1, -1);
  if (schedule.rankOfStage[stage] < 0)
    schedule.rankOfStage[stage] = schedule.ranks() - 1;
  schedule.microbatches =
      std::max(schedule.microbatches, action.microbatch + 1);
  schedule.communicates |= action.isSend() || action.isReceive();
  schedule.lists.back().push_back(action);
  return {};
}

Status Reader::pair(std::string_view text) {
  const std::string expected =
      "is not a pair; expected a forward and a backward, as in "
      "(2F3;1B0)OVERLAP_F_B";
  std::string_view rest = text.substr(1);
  std::string_view members = take(rest, ')');
  std::string_view first = trim(take(members, ';'));
  std::string_view second = trim(members);
  if (trim(rest) != "OVERLAP_F_B" || first.empty() || second.empty() ||
      second.find(';') != second.npos)
    return error(text, expected);
  PIPEC_ASSIGN_OR_RETURN(auto forward, action(first));
  PIPEC_ASSIGN_OR_RETURN(auto backward, action(second));
  if (!forward || forward->kind != Kind::Forward || !backward ||
      !backward->isBackward())
    return error(text, expected);
  forward->overlapsNext = true;
  PIPEC_RETURN_IF_ERROR(add(*forward));
  return add(*backward);
}

Status Reader::cell(std::string_view text) {
  ++column;
  text = trim(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = trim(text.substr(1, text.size() - 2));
  if (text.empty())
    return {};
  if (text.front() == '(')
    return pair(text);
  PIPEC_ASSIGN_OR_RETURN(auto made, action(text));
  return made ? add(*made) : Status();
}

/// Torch up to 2.5 wrote B for the input gradients alone, which is I today, and
/// BW for both; up to 2.4 it had no BW either. A W whose B is no half would
/// make the gradients of the weights twice, so that a file tells which it is.
Status Reader::readOlderLetters() {
  if (!whole.empty() && hasInput)
    return invalidArgument("the schedule has both I, of torch's letters today, "
                           "and BW, of older ones, between which B means "
                           "another thing: write I, W and B, or B, W and BW");
  if (hasInput || (whole.empty() && weights.empty()))
    return {};
  for (ScheduleList &list : schedule.lists)
    for (ScheduleAction &action : list) {
      const std::pair at(action.stage, action.microbatch);
      if (action.kind != Kind::Backward || action.isOfBoth)
        continue;
      if (!whole.empty() || weights.count(at))
        action.kind = Kind::BackwardInput; // written as B
    }
  return {};
}

Status Reader::row(std::string_view line) {
  schedule.lists.emplace_back();
  column = 0;
  while (!line.empty())
    PIPEC_RETURN_IF_ERROR(cell(take(line, ',')));
  return {};
}

/// What a file of neighbours' sends and receives is about: a chain, with the
/// backward work that the file has.
StageGraph writtenGraph(const Schedule &schedule) {
  StageGraph graph;
  graph.stages = schedule.stages;
  std::vector<bool> input(static_cast<size_t>(schedule.stages)), weight(input);
  for (const ScheduleList &list : schedule.lists)
    for (const ScheduleAction &action : list) {
      const auto stage = static_cast<size_t>(action.stage);
      const bool both = action.kind == Kind::Backward;
      if (both || action.kind == Kind::BackwardInput)
        input[stage] = true;
      if (both || action.kind == Kind::BackwardWeight)
        weight[stage] = true;
    }
  for (size_t s = 0; s < input.size(); ++s) {
    graph.backward.push_back(backwardWork(input[s], weight[s]));
    if (s == 0)
      continue;
    const auto stage = static_cast<int64_t>(s);
    graph.addTransfer(stage - 1, stage, false);
    if (input[s] && (input[s - 1] || weight[s - 1]))
      graph.addTransfer(stage, stage - 1, true);
  }
  return graph;
}

} // namespace

Status checkWrittenCommunication(const Schedule &schedule) {
  if (!schedule.communicates)
    return {};
  VerifyOptions options;
  options.sendsBlock = false;
  return verifySchedule(schedule, writtenGraph(schedule), options).status();
}

StatusOr<Schedule> readScheduleCsv(std::string_view text,
                                   const std::string &name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
    text.remove_prefix(kByteOrderMark.size());
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return invalidArgument("the file is empty; expected a row a rank, as in "
                           "0F0,0B0");
  // Blank lines at the end are no ranks, elsewhere they are idle ones.
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  const auto count = [&](char c) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), c));
  };
  Reader reader(1 + count(',') + count('\n') + count(';'));
  reader.schedule.name = name;
  reader.schedule.isFromFile = true;
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    PIPEC_RETURN_IF_ERROR(reader.row(line));
  }
  PIPEC_RETURN_IF_ERROR(reader.readOlderLetters());
  Schedule schedule = std::move(reader.schedule);
  schedule.stages = static_cast<int64_t>(schedule.rankOfStage.size());
  if (schedule.stages == 0)
    return invalidArgument("the schedule has no actions; expected a row a "
                           "rank, as in 0F0,0B0");
  for (size_t stage = 0; stage < schedule.rankOfStage.size(); ++stage)
    if (schedule.rankOfStage[stage] < 0)
      return invalidArgument("the schedule has no action of stage " +
                             std::to_string(stage) + ", but of stage " +
                             std::to_string(schedule.stages - 1));
  return schedule;
}

} // namespace pipec

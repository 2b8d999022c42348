// Writes a schedule in torch's CSV format. In: any schedule; out: text with a
// row a rank. Tests: test/unit/passes/schedule/CsvTest.cpp.
#include "passes/schedule/Csv.h"

namespace pipec {
namespace {

using Kind = ScheduleAction::Kind;

Status addRow(std::string &text, const ScheduleList &list, bool communication) {
  bool first = true;
  auto cell = [&](const std::string &action) {
    text += (first ? "" : ",") + action;
    first = false;
  };
  for (size_t i = 0; i < list.size(); ++i) {
    const ScheduleAction &action = list[i];
    const bool travels = action.isSend() || action.isReceive();
    if (action.kind == Kind::Step || (travels && !communication))
      continue;
    if (travels && action.peerStage != action.stage - 1 &&
        action.peerStage != action.stage + 1)
      return unsupported(str(action) +
                         " goes past a neighbouring stage, which torch's CSV "
                         "format cannot say: write the compute actions alone");
    if (action.overlapsNext && i + 1 < list.size()) {
      cell("(" + shortText(action) + ";" + shortText(list[i + 1]) +
           ")OVERLAP_F_B");
      ++i;
      continue;
    }
    cell(shortText(action));
  }
  text += "\n";
  return {};
}

} // namespace

StatusOr<std::string> writeScheduleCsv(const Schedule &schedule,
                                       bool communication) {
  std::string text;
  for (const ScheduleList &list : schedule.lists)
    PIPEC_RETURN_IF_ERROR(addRow(text, list, communication));
  return text;
}

} // namespace pipec

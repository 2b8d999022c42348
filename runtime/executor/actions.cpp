// Action lists for a run without training. In: what crosses a stage's border
// and the number of microbatches; out: the list that its worker follows.
// Tests: test/unit/runtime/ActionsTest.cpp.
#include "runtime/executor/actions.h"

namespace pipec {

ActionList forwardActions(const StageRouting &routing, int64_t microbatches,
                          bool lastStage) {
  using Kind = Action::Kind;
  ActionList list;
  const size_t each = 2 * routing.receives.size() + routing.sends.size() +
                      routing.emits.size() + 1 + (lastStage ? 1 : 0);
  list.reserve(each * static_cast<size_t>(microbatches));
  for (int64_t k = 0; k < microbatches; ++k) {
    for (uint32_t transfer : routing.receives)
      list.push_back({Kind::Receive, k, transfer});
    list.push_back({Kind::Forward, k, 0});
    for (uint32_t transfer : routing.sends)
      list.push_back({Kind::Send, k, transfer});
    for (uint32_t output : routing.emits)
      list.push_back({Kind::Emit, k, output});
    // Only now: a value received may be sent on or emitted as it is.
    for (uint32_t transfer : routing.receives)
      list.push_back({Kind::Release, k, transfer});
    if (lastStage)
      list.push_back({Kind::Report, k, 0});
  }
  return list;
}

std::string str(const Action &action) {
  static const char *const names[] = {"receive transfer", "forward",
                                      "send transfer",    "emit output",
                                      "release transfer", "report"};
  std::string text = names[static_cast<size_t>(action.kind)];
  if (action.kind != Action::Kind::Forward &&
      action.kind != Action::Kind::Report)
    text += " " + std::to_string(action.index);
  return text + ", microbatch " + std::to_string(action.microbatch);
}

} // namespace pipec

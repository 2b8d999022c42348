// The rules of dependence. In: a schedule's placement and the graph; out: for
// each action, what must have run on its rank or arrived there.
//
// F of a stage needs its inputs; B and I need its F and every gradient that is
// handed to it; W needs its I. In a stage without input gradients W is the
// whole backward pass, and needs what I would. Tests: all of
// test/unit/passes/schedule.
#include "runtime/schedule/needs.h"

namespace pipec {

using Kind = ScheduleAction::Kind;

std::string str(const Need &need) {
  if (need.arrival)
    return std::string(need.gradient ? "the gradient" : "the values") +
           " from stage " + std::to_string(need.edge.from) + " to stage " +
           std::to_string(need.edge.to);
  static const char *const names[] = {"Forward", "input gradients",
                                      "weight gradients"};
  return std::string("the ") + names[static_cast<size_t>(need.phase)] +
         " of stage " + std::to_string(need.edge.from);
}

Needs::Needs(const Schedule &schedule, const StageGraph &graph)
    : graph(graph), stages(static_cast<size_t>(schedule.stages)),
      microbatches(static_cast<size_t>(schedule.microbatches)) {
  addEdges(schedule, false);
  addEdges(schedule, true);
}

void Needs::addEdges(const Schedule &schedule, bool gradient) {
  links[gradient].resize(stages);
  leaving[gradient].resize(stages);
  const auto &list = gradient ? graph.gradient : graph.forward;
  for (size_t i = 0; i < list.size(); ++i) {
    size_t from = static_cast<size_t>(list[i].from);
    size_t to = static_cast<size_t>(list[i].to);
    int64_t remote = -1;
    if (schedule.rankOfStage[from] != schedule.rankOfStage[to]) {
      remote = static_cast<int64_t>(edges.size());
      leaving[gradient][from].push_back(edges.size());
      edges.push_back({list[i], gradient, i});
    }
    links[gradient][to].push_back({list[i].from, remote});
  }
}

Need Needs::ran(Phase phase, int64_t stage, int64_t microbatch) const {
  Need need;
  need.phase = phase;
  need.edge = {stage, stage};
  need.slot = ranSlot(phase, stage, microbatch);
  return need;
}

void Needs::needInputs(std::vector<Need> &needs, const ScheduleAction &action,
                       bool gradient) const {
  for (const Link &link : links[gradient][static_cast<size_t>(action.stage)]) {
    if (link.remote < 0) {
      needs.push_back(ran(gradient ? Phase::Input : Phase::Forward, link.from,
                          action.microbatch));
      continue;
    }
    const Remote &remote = edges[static_cast<size_t>(link.remote)];
    Need need;
    need.arrival = true;
    need.edge = remote.edge;
    need.gradient = gradient;
    need.slot = slotOf(remote, action.microbatch);
    needs.push_back(need);
  }
}

std::vector<Need> Needs::of(const ScheduleAction &action) const {
  std::vector<Need> needs;
  switch (action.kind) {
  case Kind::Forward:
    needInputs(needs, action, false);
    break;
  case Kind::Backward:
  case Kind::BackwardInput:
    needs.push_back(ran(Phase::Forward, action.stage, action.microbatch));
    needInputs(needs, action, true);
    break;
  case Kind::BackwardWeight: {
    bool split = hasInputWork(graph.workOf(action.stage));
    needs.push_back(ran(split ? Phase::Input : Phase::Forward, action.stage,
                        action.microbatch));
    if (!split)
      needInputs(needs, action, true);
    break;
  }
  case Kind::SendForward:
    needs.push_back(ran(Phase::Forward, action.stage, action.microbatch));
    break;
  case Kind::SendGradient:
    needs.push_back(ran(Phase::Input, action.stage, action.microbatch));
    break;
  default:
    break;
  }
  return needs;
}

std::vector<Phase> Needs::phasesOf(ScheduleAction::Kind kind) {
  switch (kind) {
  case Kind::Forward:
    return {Phase::Forward};
  case Kind::Backward:
    return {Phase::Input, Phase::Weight};
  case Kind::BackwardInput:
    return {Phase::Input};
  case Kind::BackwardWeight:
    return {Phase::Weight};
  default:
    return {};
  }
}

std::vector<const Needs::Remote *>
Needs::sentBy(const ScheduleAction &action) const {
  std::vector<const Remote *> sent;
  auto add = [&](bool gradient) {
    for (size_t edge : leaving[gradient][static_cast<size_t>(action.stage)])
      sent.push_back(&edges[edge]);
  };
  if (action.kind == Kind::Forward)
    add(false);
  if (action.kind == Kind::Backward || action.kind == Kind::BackwardInput)
    add(true);
  return sent;
}

const Needs::Remote *Needs::remoteOf(const ScheduleAction &action) const {
  StageEdge edge{action.stage, action.peerStage};
  if (action.isReceive())
    std::swap(edge.from, edge.to);
  bool gradient =
      action.kind == Kind::SendGradient || action.kind == Kind::ReceiveGradient;
  for (size_t i : leaving[gradient][static_cast<size_t>(edge.from)])
    if (edges[i].edge == edge)
      return &edges[i];
  return nullptr;
}

} // namespace pipec

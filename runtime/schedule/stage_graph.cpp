// Builds and checks the edges between stages. In: values with their makers and
// readers; out: the graph of StageGraph.h, or what is wrong with it.
// Tests: test/unit/passes/schedule/StageGraphTest.cpp.
#include "runtime/schedule/stage_graph.h"

#include <algorithm>
#include <set>

namespace pipec {
namespace {

void addOnce(std::vector<StageEdge> &edges, StageEdge edge) {
  if (std::find(edges.begin(), edges.end(), edge) == edges.end())
    edges.push_back(edge);
}

Status checkEdges(const StageGraph &graph, bool gradient) {
  std::set<std::pair<int64_t, int64_t>> seen;
  for (const StageEdge &edge : gradient ? graph.gradient : graph.forward) {
    std::string text = std::string(gradient ? "the gradient" : "the value") +
                       " edge from stage " + std::to_string(edge.from) +
                       " to stage " + std::to_string(edge.to);
    auto outside = [&](int64_t s) { return s < 0 || s >= graph.stages; };
    if (outside(edge.from) || outside(edge.to))
      return invalidArgument(text + " names a stage that is not there, of " +
                             std::to_string(graph.stages));
    if (gradient ? edge.from <= edge.to : edge.from >= edge.to)
      return invalidArgument(text + " goes the wrong way");
    if (!seen.insert({edge.from, edge.to}).second)
      return invalidArgument(text + " is there twice");
    if (gradient && !hasInputWork(graph.workOf(edge.from)))
      return invalidArgument(text + " leaves a stage without input gradients");
    if (gradient && graph.workOf(edge.to) == BackwardWork::None)
      return invalidArgument(text + " reaches a stage without backward work");
  }
  return {};
}

} // namespace

StageGraph StageGraph::chain(int64_t stages) {
  StageGraph graph;
  graph.stages = stages;
  for (int64_t stage = 0; stage + 1 < stages; ++stage) {
    graph.forward.push_back({stage, stage + 1});
    graph.gradient.push_back({stage + 1, stage});
  }
  return graph;
}

void StageGraph::addTransfer(int64_t from, int64_t to, bool isGradient) {
  addOnce(isGradient ? gradient : forward, {from, to});
}

void StageGraph::addValue(int64_t maker, const std::vector<int64_t> &readers,
                          const std::vector<int64_t> &gradientReaders) {
  for (int64_t reader : readers)
    if (reader != maker)
      addOnce(forward, {maker, reader});
  std::set<int64_t> chain(gradientReaders.begin(), gradientReaders.end());
  chain.erase(maker);
  int64_t earlier = maker;
  for (int64_t reader : chain) {
    addOnce(gradient, {reader, earlier});
    earlier = reader;
  }
}

Status StageGraph::verify() const {
  if (stages < 1)
    return invalidArgument("a graph of " + std::to_string(stages) + " stages");
  if (!backward.empty() && backward.size() != static_cast<size_t>(stages))
    return invalidArgument("backward work is given for " +
                           std::to_string(backward.size()) + " stages of " +
                           std::to_string(stages));
  PIPEC_RETURN_IF_ERROR(checkEdges(*this, false));
  return checkEdges(*this, true);
}

} // namespace pipec

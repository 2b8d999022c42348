// Puts the nodes of a graph in topological order: see ModelFile.h.
//
// In: the parsed graph. Out: the same nodes, each behind those that it reads;
// otherwise in the file's order. With a cycle all stay, and checkGraph()
// reports it. Tests: test/unit/frontends/NodeOrderTest.cpp.
#include "frontends/onnx/file/ModelFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace pipec::onnx {
namespace {

class Order {
public:
  explicit Order(const ::onnx::GraphProto &graph) : graph(graph) {
    for (int n = 0; n < graph.node_size(); ++n)
      for (const std::string &output : graph.node(n).output())
        makers.try_emplace(output,
                           n); // of two, checkGraph() reports the second
    states.resize(graph.node_size());
  }

  bool isInOrder() const {
    for (int n = 0; n < graph.node_size(); ++n)
      for (const std::string &input : graph.node(n).input())
        if (maker(input) >= n)
          return false;
    return true;
  }

  /// Positions in the file, in the new order; empty where there is a cycle.
  std::vector<int> sorted() {
    for (int n = 0; n < graph.node_size(); ++n)
      if (!place(n))
        return {};
    return std::move(order);
  }

private:
  enum class State : char { Waiting, Open, Placed };
  struct Visit {
    int node, nextInput;
  };

  const ::onnx::GraphProto &graph;
  llvm::StringMap<int> makers;
  std::vector<State> states;
  std::vector<int> order;

  int maker(const std::string &name) const {
    auto found = makers.find(name);
    return name.empty() || found == makers.end() ? -1 : found->second;
  }

  // A node behind its makers, depth first; without recursion, as chains are as
  // long as the file. False where it depends on itself.
  bool place(int root) {
    std::vector<Visit> open;
    auto enter = [&](int node) {
      if (states[node] == State::Waiting) {
        states[node] = State::Open;
        open.push_back({node, 0});
      }
    };
    enter(root);
    while (!open.empty()) {
      Visit &visit = open.back();
      const auto &node = graph.node(visit.node);
      if (visit.nextInput == node.input_size()) {
        states[visit.node] = State::Placed;
        order.push_back(visit.node);
        open.pop_back();
        continue;
      }
      int from = maker(node.input(visit.nextInput++));
      if (from >= 0 && states[from] == State::Open)
        return false;
      if (from >= 0)
        enter(from);
    }
    return true;
  }
};

} // namespace

std::vector<int> sortNodes(::onnx::GraphProto &graph) {
  Order finder(graph);
  if (finder.isInOrder())
    return {};
  std::vector<int> order = finder.sorted();
  if (order.empty())
    return {};
  google::protobuf::RepeatedPtrField<::onnx::NodeProto> nodes;
  nodes.Reserve(graph.node_size());
  for (int from : order)
    nodes.Add()->Swap(graph.mutable_node(from));
  graph.mutable_node()->Swap(&nodes);
  return order;
}

} // namespace pipec::onnx

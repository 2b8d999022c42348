// Changes a graph's signature: see GraphBoundary.h.
// Tests: test/passes/differentiate/attach-loss.mlir.
#include "ir/GraphBoundary.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace pipec::pipe {

std::optional<unsigned> findInput(GraphOp graph, StringRef name) {
  for (unsigned i = 0; i < graph.getArgumentTypes().size(); ++i)
    if (graph.getInputName(i) == name)
      return i;
  return std::nullopt;
}

std::optional<unsigned> findOutput(GraphOp graph, StringRef name) {
  for (unsigned i = 0; i < graph.getResultTypes().size(); ++i)
    if (graph.getOutputName(i) == name)
      return i;
  return std::nullopt;
}

BlockArgument addInput(GraphOp graph, StringRef name, Type type, StringRef role,
                       bool whole) {
  std::string unique = name.str();
  for (int suffix = 1; findInput(graph, unique); ++suffix)
    unique = name.str() + "." + std::to_string(suffix);
  Builder builder(graph.getContext());
  NamedAttrList attrs;
  attrs.set(PipeDialect::kNameAttr, builder.getStringAttr(unique));
  if (!role.empty())
    attrs.set(PipeDialect::kRoleAttr, builder.getStringAttr(role));
  if (whole)
    attrs.set(PipeDialect::kWholeAttr, builder.getUnitAttr());
  unsigned index = graph.getArgumentTypes().size();
  (void)graph.insertArgument(
      index, type, attrs.getDictionary(graph.getContext()), graph.getLoc());
  return graph.getBody().getArgument(index);
}

llvm::SmallVector<GraphResult> getResults(GraphOp graph) {
  llvm::SmallVector<GraphResult> results;
  for (auto [i, value] : llvm::enumerate(graph.getOutput().getOperands())) {
    auto buffer =
        graph.getResultAttrOfType<StringAttr>(i, PipeDialect::kBufferAttr);
    results.push_back({value, graph.getOutputName(i).str(),
                       buffer ? buffer.getValue().str() : ""});
  }
  return results;
}

void setResults(GraphOp graph, llvm::ArrayRef<GraphResult> results) {
  Builder builder(graph.getContext());
  llvm::SmallVector<Value> values;
  llvm::SmallVector<Type> types;
  llvm::SmallVector<Attribute> attrs;
  for (const GraphResult &result : results) {
    values.push_back(result.value);
    types.push_back(result.value.getType());
    NamedAttrList list;
    if (!result.name.empty())
      list.set(PipeDialect::kNameAttr, builder.getStringAttr(result.name));
    if (!result.buffer.empty())
      list.set(PipeDialect::kBufferAttr, builder.getStringAttr(result.buffer));
    attrs.push_back(list.getDictionary(graph.getContext()));
  }
  graph.getOutput()->setOperands(values);
  graph.setFunctionType(
      builder.getFunctionType(graph.getFunctionType().getInputs(), types));
  graph.setResAttrsAttr(builder.getArrayAttr(attrs));
}

} // namespace pipec::pipe

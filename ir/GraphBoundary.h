// Adding inputs to a graph and replacing its results, as training does.
#ifndef PIPEC_IR_GRAPHBOUNDARY_H
#define PIPEC_IR_GRAPHBOUNDARY_H

#include "ir/PipelineOps.h"

namespace pipec::pipe {

/// Position of the input with that name; nothing where there is none.
std::optional<unsigned> findInput(GraphOp graph, llvm::StringRef name);
std::optional<unsigned> findOutput(GraphOp graph, llvm::StringRef name);

/// Appends an input that every microbatch gets whole where `whole`. `role`: see
/// PipeDialect::kRoleAttr; empty for data. A name that is taken gets a suffix.
mlir::BlockArgument addInput(GraphOp graph, llvm::StringRef name,
                             mlir::Type type, llvm::StringRef role, bool whole);

struct GraphResult {
  mlir::Value value;
  std::string name;
  std::string buffer; // see PipeDialect::kBufferAttr; empty for none
};
/// The graph's results as they are.
llvm::SmallVector<GraphResult> getResults(GraphOp graph);
void setResults(GraphOp graph, llvm::ArrayRef<GraphResult> results);

} // namespace pipec::pipe

#endif // PIPEC_IR_GRAPHBOUNDARY_H

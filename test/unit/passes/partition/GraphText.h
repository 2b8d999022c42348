// Parses a graph from text for the partition tests.
#ifndef PIPEC_TEST_UNIT_PASSES_PARTITION_GRAPHTEXT_H
#define PIPEC_TEST_UNIT_PASSES_PARTITION_GRAPHTEXT_H

#include "passes/partition/Passes.h"

#include "mlir/Parser/Parser.h"

namespace pipec::pipe::test {

/// A parsed module and its graph.
class GraphText {
public:
  explicit GraphText(const std::string &text) {
    context.loadDialect<PipeDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (module)
      graph = findGraph(*module);
  }

  /// A chain of elementwise ops on `elements` floats, one per module path, at
  /// positions 0, 1, 2...
  static std::string chain(const std::vector<std::string> &paths,
                           int64_t elements = 4) {
    std::string type = "tensor<" + std::to_string(elements) + "xf32>", text;
    std::string last = "%x";
    for (size_t i = 0; i < paths.size(); ++i) {
      std::string name = "%v" + std::to_string(i);
      text += "  " + name + " = pipe.relu " + last + " : (" + type + ") -> " +
              type + " loc(fused<#pipe.origin<" + std::to_string(i) +
              ", \"Relu\", \"node" + std::to_string(i) + "\", \"" + paths[i] +
              "\">>[\"m\"])\n";
      last = name;
    }
    return "pipe.graph @main(%x: " + type + ") -> " + type + " {\n" + text +
           "  pipe.output " + last + " : " + type + "\n}\n";
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  GraphOp graph;
};

} // namespace pipec::pipe::test

#endif

// Which function imports which ONNX operator.
//
// In: an operator's name and the opset. Out: its importer. Each family of
// operators has a table in its own file. Tests:
// test/unit/frontends/ImportTest.cpp, UnsupportedTest.cpp.
#ifndef PIPEC_FRONTENDS_ONNX_OPS_OPTABLE_H
#define PIPEC_FRONTENDS_ONNX_OPS_OPTABLE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace pipec::onnx {

class NodeContext;

/// Imports one node; after it the results are set or the emitter holds an
/// error.
using NodeImporter = void (*)(NodeContext &);

/// The importer of operator `op` of the default domain at `opset`; null where
/// pipec has none.
NodeImporter findImporter(const std::string &op, int64_t opset);
/// The first opset at which `op`, which has an importer, is read.
int64_t oldestOpsetOf(const std::string &op);

/// One line of a family's table: the operator, the first opset with the form
/// that `import` reads, the importer.
struct OpEntry {
  const char *op;
  int since;
  NodeImporter import;
};
struct OpTable {
  const OpEntry *begin;
  size_t size;
};
OpTable elementwiseOps();
OpTable activationOps();
OpTable variadicOps();
OpTable shapeOps();
OpTable layoutOps();
OpTable constantOps();
OpTable reduceOps();
OpTable selectionOps();
OpTable indexOps();
OpTable linearOps();
OpTable convolutionOps();
OpTable poolOps();
OpTable normOps();
OpTable softmaxOps();
OpTable attentionOps();
OpTable einsumOps();
OpTable resizeOps();
OpTable lossOps();
OpTable sequenceOps();

} // namespace pipec::onnx

#endif

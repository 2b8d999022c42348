// Parses a module from text for tests.
#ifndef PIPEC_TEST_UNIT_IR_PARSEGRAPH_H
#define PIPEC_TEST_UNIT_IR_PARSEGRAPH_H

#include "ir/PipeOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

namespace pipec::pipe::testing {

/// Null where `text` does not parse or verify.
inline mlir::OwningOpRef<mlir::ModuleOp> parseModule(mlir::MLIRContext &context,
                                                     llvm::StringRef text) {
  context.loadDialect<PipeDialect>();
  return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
}

/// The first op of type `Op` in `module`; null where there is none.
template <typename Op> Op findOp(mlir::ModuleOp module) {
  Op found;
  module.walk([&](Op op) {
    if (!found)
      found = op;
  });
  return found;
}

} // namespace pipec::pipe::testing

#endif // PIPEC_TEST_UNIT_IR_PARSEGRAPH_H

// Prints the names of the ops that have a derivative, one a line, for
// docs/dialect.md: tablegen does not know them, because the rules are attached
// to the ops when a context is made.
#include "passes/differentiate/Derivatives.h"
#include "ir/PipeDialect.h"

#include "llvm/Support/raw_ostream.h"

int main() {
  mlir::MLIRContext context;
  context.loadDialect<pipec::pipe::PipeDialect>();
  pipec::pipe::registerDerivatives(context);
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations())
    if (op.hasInterface<pipec::pipe::VjpInterface>())
      llvm::outs() << op.getStringRef() << '\n';
  return 0;
}

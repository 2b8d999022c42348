// pipec-opt: reads IR, runs the passes named on the command line, prints IR.
// Registration only; the passes are in passes/.
// Tests: everything in test/ir and test/passes.
#include "ir/PipeDialect.h"
#include "passes/RegisterPasses.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include <cstdio>
#include <exception>

static int run(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<pipec::pipe::PipeDialect>();
  pipec::pipe::registerAllPipecPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerStripDebugInfoPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "pipec optimizer driver\n", registry));
}

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &error) { // such as std::bad_alloc
    std::fprintf(stderr, "pipec-opt: error: %s\n", error.what());
    return 1;
  }
}

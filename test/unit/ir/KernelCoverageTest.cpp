// Dialect and kernels agree: each tensor op has a reference kernel, and the
// kernel takes what describe() says of every op in the round-trip tests.
#include "ir/OpDescs.h"
#include "runtime/kernels/kernel.h"
#include "test/unit/ir/ParseGraph.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pipec;
using namespace pipec::pipe;

namespace {

TEST(KernelCoverage, EveryTensorOpHasAReferenceKernel) {
  MLIRContext context;
  context.loadDialect<PipeDialect>();
  int checked = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "pipe" ||
        !name.hasInterface<CostInterface>())
      continue;
    ++checked;
    EXPECT_TRUE(KernelRegistry::get().hasReference(name.stripDialect().str()))
        << name.getStringRef().str();
  }
  EXPECT_GT(checked, 80);
}

class Family : public ::testing::TestWithParam<const char *> {};

TEST_P(Family, KernelsTakeDescriptions) {
  MLIRContext context;
  context.loadDialect<PipeDialect>();
  std::string path =
      std::string(PIPEC_TEST_DIR "/ir/") + GetParam() + "-roundtrip.mlir";
  auto module = parseSourceFile<ModuleOp>(path, &context);
  ASSERT_TRUE(module) << path;
  int checked = 0;
  module->walk([&](CostInterface op) {
    if (auto dropout = dyn_cast<DropoutOp>(op.getOperation());
        dropout && !dropout.getKey())
      return; // stands for nothing to compute until it has a key
    ++checked;
    auto kernel = KernelRegistry::get().create(describe(op), true);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  });
  EXPECT_GT(checked, 0);
}

INSTANTIATE_TEST_SUITE_P(Ops, Family,
                         ::testing::Values("elementwise", "reduce", "shape",
                                           "index", "linear", "norm",
                                           "training"));

} // namespace

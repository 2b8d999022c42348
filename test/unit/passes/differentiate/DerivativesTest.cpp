// Each tensor op has a derivative that the gradient checks cover, or stands on
// the list of those that have none.
#include "passes/differentiate/Derivatives.h"
#include "test/unit/passes/differentiate/GradientCheck.h"

#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

#include <map>

using namespace mlir;

namespace pipec::test {
namespace {

// The same list stands in passes/differentiate/rules/README.md.
const std::map<std::string, std::string> kWithoutDerivative = {
    {"is_nan", "result is bool"},
    {"is_inf", "result is bool"},
    {"compare", "result is bool"},
    {"chain", "made by differentiation"},
    {"stop_gradient", "ends the gradient"},
    {"not", "bool only"},
    {"and", "bool only"},
    {"or", "bool only"},
    {"xor", "bool only"},
    {"bitwise_not", "integers only"},
    {"bitwise_and", "integers only"},
    {"bitwise_or", "integers only"},
    {"bitwise_xor", "integers only"},
    {"shift_left", "integers only"},
    {"shift_right", "integers only"},
    {"arg_reduce", "result is a position"},
    {"iota", "no operands"},
    {"cross_entropy_grad", "made by differentiation"},
    {"max_pool_grad", "made by differentiation"},
    {"avg_pool_grad", "made by differentiation"},
    {"resize_grad", "made by differentiation"},
};

std::vector<const GradientCases *> allCases() {
  return {&unaryCases(), &binaryCases(), &reduceCases(), &shapeCases(),
          &indexCases(), &linearCases(), &normCases(),   &attentionCases()};
}

llvm::StringSet<> checkedOps() {
  llvm::StringSet<> names;
  for (const GradientCases *cases : allCases())
    for (const GradientCase &test : *cases)
      names.insert(test.op.substr(0, test.op.find(' ')));
  return names;
}

TEST(Derivatives, EveryTensorOpHasOneOrIsListed) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<pipe::PipeDialect>();
  pipe::registerDerivatives(context);
  const llvm::StringSet<> checked = checkedOps();
  size_t without = 0, with = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "pipe" ||
        !name.hasInterface<pipe::CostInterface>())
      continue;
    const std::string op = name.stripDialect().str();
    const bool listed = kWithoutDerivative.count(op) > 0;
    const bool differentiable = name.hasInterface<pipe::VjpInterface>();
    EXPECT_NE(listed, differentiable) << op;
    EXPECT_TRUE(!differentiable || checked.contains(name.getStringRef())) << op;
    ++(differentiable ? with : without);
  }
  EXPECT_EQ(without, kWithoutDerivative.size());
  EXPECT_EQ(with, checked.size());
}

TEST(Derivatives, HoldForEveryElementTypeAndTheLibrariesKernels) {
  for (const GradientCases *cases : allCases())
    checkOtherTypes(*cases);
}

} // namespace
} // namespace pipec::test

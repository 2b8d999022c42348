// Sizes of inputs: symbols, given shapes, conflicts.
#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

using namespace testing;

class InputShapes : public ::testing::Test {
protected:
  InputShapes() {
    builder.input("x", {"batch", "4"});
    builder.input("z", {"batch", "seq"});
    builder.node("Relu", {"x"}, {"y"});
    builder.node("Relu", {"z"}, {"v"});
    builder.output("y");
    builder.output("v");
  }
  Imported run(const ImportOptions &options) {
    return importFile(folder.write("m.onnx", builder.bytes()), options, false);
  }
  void expectError(const ImportOptions &options,
                   const std::vector<const char *> &mentions) {
    Imported result = run(options);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status.getCode(), StatusCode::InvalidArgument);
    for (const char *text : mentions)
      EXPECT_NE(result.message().find(text), std::string::npos)
          << result.message();
  }
  ModelBuilder builder;
  ScratchFolder folder;
};

TEST_F(InputShapes, SymbolsUnifyAcrossInputs) {
  ImportOptions options;
  options.inputShapes["x"] = {3, 4};
  options.bindings["seq"] = 7;
  options.wholeInputs = {"z"};
  Imported result = run(options);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_NE(result.text().find("tensor<3x7xf32>"), std::string::npos);
  EXPECT_TRUE(result.graph().isWhole(1));
  EXPECT_FALSE(result.graph().isWhole(0));
  EXPECT_EQ(result.graph().getInputName(1), "z");
}

TEST_F(InputShapes, UnboundSymbol) {
  ImportOptions options;
  options.bindings["batch"] = 3;
  expectError(options, {"'z'", "'seq'", "--bind seq"});
}

TEST_F(InputShapes, Conflict) {
  ImportOptions options;
  options.inputShapes["x"] = {3, 4};
  options.inputShapes["z"] = {5, 7};
  expectError(options, {"'batch'", "3", "5", "'z'"});
}

TEST_F(InputShapes, FixedDimensionDiffers) {
  ImportOptions options;
  options.inputShapes["x"] = {3, 6};
  options.bindings["seq"] = 7;
  expectError(options, {"'x'", "declared as 4", "6"});
}

TEST_F(InputShapes, WrongRankAndNames) {
  ImportOptions rank;
  rank.inputShapes["x"] = {3};
  expectError(rank, {"'x'", "rank"});
  ImportOptions name;
  name.inputShapes["xx"] = {3, 4};
  expectError(name, {"'xx'", "x, z"});
  ImportOptions symbol;
  symbol.bindings["bach"] = 3;
  expectError(symbol, {"'bach'", "did you mean batch"});
  ImportOptions whole;
  whole.wholeInputs = {"q"};
  expectError(whole, {"--whole", "'q'"});
}

TEST_F(InputShapes, AbsurdSizesAreErrors) {
  ImportOptions options;
  options.inputShapes["x"] = {int64_t(1) << 62, 4};
  options.bindings["seq"] = 7;
  EXPECT_FALSE(run(options).ok());
}

} // namespace
} // namespace pipec::onnx

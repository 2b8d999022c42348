// Values that the exporter computed, by the record that the file has of them:
// moved parameters are the parameters, everything else is not.
#include "frontends/onnx/names/Names.h"

#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

using namespace testing;

/// x @ f(w) with `result`, which the exporter computed from `sources`.
Imported computedMatrix(ScratchFolder &folder, const std::string &result,
                        const std::string &sources, bool kept = false) {
  ModelBuilder builder;
  builder.input("x", {"batch", "2"});
  builder.signature("p_fc_w: PARAMETER target='fc.w'\n"
                    "p_fc_b: PARAMETER target='fc.b'\n");
  builder.floats(result, {2, 3}, {1, 2, 3, 4, 5, 6});
  builder.foldedFrom(result, sources);
  fxNode(builder.node("MatMul", {"x", result}, {"y"}), "fc",
         "aten.matmul.default](args = (%x, %" + result + ")");
  builder.output("y");
  if (kept) {
    builder.floats("fc.w", {3, 2}, {1, 4, 2, 5, 3, 6});
    fxNode(builder.node("MatMul", {"y", "fc.w"}, {"z"}), "fc",
           "aten.matmul.default](args = (%y, %p_fc_w)");
    builder.output("z");
  }
  return importFile(folder.write("m.onnx", builder.bytes()));
}

TEST(Weights, ExplicitTransposeIsTheParameter) {
  ScratchFolder folder;
  for (const char *result : {"numpy_t", "t_1", "transpose"}) {
    Imported named = computedMatrix(folder, result, "['fc.w']");
    ASSERT_TRUE(named.ok()) << named.message();
    auto weights = named.weights();
    ASSERT_EQ(weights.count("fc.w"), 1u) << named.text();
    EXPECT_EQ(pipe::toTensorType(weights.at("fc.w").getType()).shape,
              (std::vector<int64_t>{3, 2}));
    auto out = named.run({{"x", floatTensor({2, 2}, {1, 0, 0, 1})}});
    ASSERT_TRUE(out.ok());
    EXPECT_EQ(floatsOf((*out)[0]), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  }
  Imported twice = computedMatrix(folder, "t_1", "['fc.w', 't']");
  EXPECT_EQ(pipe::toTensorType(twice.weights().at("fc.w").getType()).shape,
            (std::vector<int64_t>{2, 3}));
}

TEST(Weights, WhatElseWasComputedIsNotTheParameter) {
  ScratchFolder folder;
  using Case = std::pair<const char *, const char *>;
  for (auto [result, sources] :
       std::vector<Case>{{"exp", "['fc.w']"},
                         {"permute_4", "['fc.w']"}, // may move nothing
                         {"mul", "['fc.w', 'val_0']"},
                         {"t", "['fc.w', 'mul']"},
                         {"t", "['fc.b', 'fc.w']"},
                         {"val_2", "['fc.w']"},
                         {"t", "['val_0']"}}) {
    Imported apart = computedMatrix(folder, result, sources);
    ASSERT_TRUE(apart.ok()) << apart.message();
    EXPECT_EQ(apart.weights().count("fc.w"), 0u) << result << " " << sources;
  }
}

/// Two matrices of zeros, both transposed: the exporter keeps t for both, and
/// the call of the second reads t_1, which nothing makes.
TEST(Weights, MergedTransposesAreNotOneParameter) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"1", "2"});
  builder.signature("p_a_w: PARAMETER target='a.w'\n"
                    "p_b_w: PARAMETER target='b.w'\n");
  builder.floats("t", {2, 2}, {0, 0, 0, 0});
  builder.foldedFrom("t", "['a.w']");
  fxNode(builder.node("MatMul", {"x", "t"}, {"h"}), "a",
         "aten.matmul.default](args = (%x, %t)");
  fxNode(builder.node("MatMul", {"h", "t"}, {"y"}), "b",
         "aten.matmul.default](args = (%h, %t_1)");
  builder.output("y");
  std::string path = folder.write("m.onnx", builder.bytes());
  Imported result = importFile(path);
  ASSERT_TRUE(result.ok()) << result.message();
  auto weights = result.weights();
  ASSERT_EQ(weights.count("a.w"), 1u) << result.text();
  EXPECT_EQ(weights.at("a.w").getKind(), pipe::WeightKind::parameter);
  EXPECT_FALSE(weights.at("a.w").getAliases());
  EXPECT_EQ(weights.count("b.w"), 0u);
  EXPECT_EQ((*OnnxModel::open(path))->foldedParameters(),
            (std::vector<std::string>{"b.w"}));
}

/// Where the file still has the parameter, the bytes say what was done,
/// whatever the value is called.
TEST(Weights, MovedCopyIsTheParameter) {
  ScratchFolder folder;
  for (const char *result : {"t", "val_2", "view"}) {
    Imported both = computedMatrix(folder, result, "['fc.w']", true);
    ASSERT_TRUE(both.ok()) << both.message();
    EXPECT_EQ(both.weights().size(), 1u) << both.text();
    auto out = both.run({{"x", floatTensor({2, 2}, {1, 2, 1, 0})}});
    ASSERT_TRUE(out.ok());
    EXPECT_EQ(floatsOf((*out)[0]), (std::vector<float>{9, 12, 15, 1, 2, 3}));
    EXPECT_EQ(floatsOf((*out)[1]), (std::vector<float>{78, 186, 14, 32}));
  }
}

} // namespace
} // namespace pipec::onnx

// Whole compilations: what the manifest says, and what is refused before
// anything is written.
#include "compiler/Compiler.h"
#include "test/unit/compiler/Models.h"

#include <gtest/gtest.h>

#include <set>

using namespace pipec;
using test::modelPath;

namespace {

StatusOr<CompiledModel> compile(const std::string &path,
                                CompileOptions options) {
  options.defaultBindings = true;
  return compileModel(path, options, test::ignore);
}

std::string refusal(const std::string &path, const CompileOptions &options) {
  auto model = compile(path, options);
  return model.ok() ? "" : model.status().message();
}

TEST(Compiler, TheTutorialNetworkInThreeStages) {
  CompileOptions options;
  options.splits = {"layer0:END", "layer1:END"};
  options.bindings = {{"batch", 10}};
  options.microbatches = 4;
  auto model = compile(modelPath("mlp3"), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const schema::Manifest &m = model->manifest;
  ASSERT_EQ(m.stages_size(), 3);
  EXPECT_EQ(m.stages(0).modules(0), "layer0");
  EXPECT_EQ(m.stages(0).weights_size(), 2);
  ASSERT_EQ(m.variants_size(), 2); // 3, 3, 2, 2 rows
  EXPECT_EQ(m.variants(0).microbatch_rows(), 3);
  EXPECT_EQ(m.variants(1).microbatch_rows(), 2);
  ASSERT_EQ(m.transfers_size(), 2);
  EXPECT_EQ(m.transfers(0).producer(), "layer0");
  EXPECT_EQ(m.outputs(0).merge(), schema::CONCAT);
  for (const auto &stage : model->programs)
    for (const schema::Program &program : stage)
      EXPECT_GT(program.instructions_size(), 0);
}

TEST(Compiler, TiedWeightsCarryBothNames) {
  CompileOptions options;
  options.splits = {"h.0:END", "h.2:END"};
  auto model = compile(modelPath("tiny-gpt"), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::set<int> stages;
  for (const schema::Stage &stage : model->manifest.stages())
    for (const schema::Weight &weight : stage.weights())
      if (weight.name() == "wte.weight") {
        stages.insert(stage.index());
        ASSERT_EQ(weight.aliases_size(), 1);
        EXPECT_EQ(weight.aliases(0), "lm_head.weight");
      }
  EXPECT_EQ(stages, std::set<int>({0, 2}));
}

/// The biases of a and b are zero: the exporter removed them, and they are
/// there again.
TEST(Compiler, EqualInitializersAreOneParameterAModule) {
  auto model = compile(modelPath("fresh-norms"), {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::set<std::string> names;
  for (const schema::Weight &weight : model->manifest.stages(0).weights())
    if (weight.kind() == schema::PARAMETER)
      names.insert(weight.name());
  EXPECT_EQ(names,
            std::set<std::string>({"a.bias", "a.weight", "b.bias", "b.weight",
                                   "norm_a.bias", "norm_a.weight",
                                   "norm_b.bias", "norm_b.weight"}));
}

TEST(Compiler, MasksAreRepeatedAndSkipsGoStraight) {
  CompileOptions options;
  options.splits = {"a:END", "b:END", "c:BEGIN"};
  options.wholeInputs = {"scale"};
  auto model = compile(modelPath("skips"), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  bool skip = false;
  for (const schema::Transfer &transfer : model->manifest.transfers()) {
    EXPECT_NE(transfer.types(0).dtype(), schema::BOOL) << transfer.value();
    skip |= transfer.to() - transfer.from() > 1;
  }
  EXPECT_TRUE(skip);
}

TEST(Compiler, RefusalsNameTheFileAndWhatIsWrong) {
  CompileOptions options;
  EXPECT_NE(refusal("nowhere.onnx", options).find("nowhere.onnx"),
            std::string::npos);
  options.splits = {"layer9:END"};
  std::string text = refusal(modelPath("mlp3"), options);
  EXPECT_NE(text.find("model.onnx"), std::string::npos) << text;
  EXPECT_NE(text.find("closest: layer"), std::string::npos) << text;
  options.splits = {"layer0:END", "layer1:END"};
  options.stages = 2;
  EXPECT_NE(refusal(modelPath("mlp3"), options).find("exclude each other"),
            std::string::npos);
  options = {};
  options.stages = 1000;
  EXPECT_NE(refusal(modelPath("mlp3"), options).find("too few for 1000 stages"),
            std::string::npos);
  options = {};
  options.merges = {{"logit", Merge::Sum}};
  EXPECT_NE(refusal(modelPath("mlp3"), options).find("it has logits"),
            std::string::npos);
  options = {};
  options.inputShapes = {{"x", {4, 15}}};
  text = refusal(modelPath("mlp3"), options);
  EXPECT_NE(text.find("'x'"), std::string::npos) << text;
  EXPECT_NE(text.find("15"), std::string::npos) << text;
}

TEST(Compiler, IsDeterministic) {
  CompileOptions options;
  options.stages = 3;
  auto a = compile(modelPath("tiny-gpt"), options),
       b = compile(modelPath("tiny-gpt"), options);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->manifest.SerializeAsString(), b->manifest.SerializeAsString());
  for (size_t s = 0; s < a->programs.size(); ++s)
    EXPECT_EQ(a->programs[s][0].SerializeAsString(),
              b->programs[s][0].SerializeAsString());
}

} // namespace

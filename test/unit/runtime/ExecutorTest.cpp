// Runs: the same bits for every cut, microbatch count and queue capacity;
// skip connections, uncut inputs, values passed through, merges.
#include "test/unit/runtime/TestSession.h"

namespace pipec::test {
namespace {

Tensor runMlp(uint32_t stages, std::vector<int64_t> rows, int64_t batch,
              int64_t microbatches, int capacity) {
  TestSession s(mlp(stages, std::move(rows)), referenceOptions(capacity));
  auto outputs = s.run({{"x", pattern({batch, 4}, 7)}}, microbatches);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? outputs->at("y") : Tensor();
}

TEST(ExecutorTest, SameBitsHoweverItIsCut) {
  struct {
    int64_t microbatches;
    std::vector<int64_t> rows;
  } const splits[] = {{1, {12}}, {2, {6}}, {3, {4}}, {4, {3}}, {5, {3, 2}}};
  const Tensor expected = runMlp(1, {12}, 12, 1, 1);
  for (uint32_t stages : {1, 2, 3, 4})
    for (const auto &split : splits)
      for (int capacity : {1, 2, 8}) {
        Tensor y = runMlp(stages, split.rows, 12, split.microbatches, capacity);
        EXPECT_TRUE(sameBits(y, expected))
            << stages << " stages, " << split.microbatches
            << " microbatches, capacity " << capacity;
      }
}

TEST(ExecutorTest, OptimisedKernelsAgreeWithEachOther) {
  auto run = [](uint32_t stages) {
    TestSession s(mlp(stages, {3}), SessionOptions());
    auto outputs = s.run({{"x", pattern({12, 4}, 7)}});
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs.ok() ? outputs->at("y") : Tensor();
  };
  const Tensor expected = run(1);
  for (uint32_t stages : {2, 3, 4})
    EXPECT_TRUE(sameBits(run(stages), expected)) << stages;
}

TEST(ExecutorTest, FiftyRunsOfOneSession) {
  TestSession s(mlp(4, {3, 2}), referenceOptions(1));
  const TensorMap inputs = {{"x", pattern({10, 4}, 3)}};
  auto first = s.run(inputs, 4);
  ASSERT_TRUE(first.ok()) << first.status().message();
  for (int i = 0; i < 50; ++i) {
    auto again = s.run(inputs, i % 2 ? 4 : 5);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(sameBits(again->at("y"), first->at("y"))) << "run " << i;
  }
}

TEST(ExecutorTest, SkipConnectionsOverSeveralStages) {
  // Stage 0's value is read by stages 1, 2 and 3; stage 1's by stage 3.
  Model model;
  model.stages = 4;
  model.rows = {1};
  model.inputs = {{"x", {-1}}};
  model.nodes = {{"neg", {"x"}, "a", {-1}, 0},
                 {"add", {"a", "a"}, "b", {-1}, 1},
                 {"add", {"a", "b"}, "c", {-1}, 2},
                 {"add", {"c", "a"}, "d", {-1}, 3},
                 {"add", {"d", "b"}, "e", {-1}, 3}};
  model.outputs = {{"e", "e"}, {"b", "b"}};
  for (int capacity : {1, 2, 8}) {
    TestSession s(model, referenceOptions(capacity));
    Tensor x = pattern({9}, 1);
    auto outputs = s.run({{"x", x}});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    for (int64_t i = 0; i < 9; ++i) {
      const float a = -x.as<float>()[i], b = a + a;
      EXPECT_EQ(outputs->at("e").as<float>()[i], ((a + b) + a) + b);
      EXPECT_EQ(outputs->at("b").as<float>()[i], b);
    }
  }
}

TEST(ExecutorTest, WholeAndScalarInputs) {
  Model model;
  model.stages = 2;
  model.rows = {2};
  model.inputs = {
      {"x", {-1, 2}}, {"shift", {2}, DType::F32, true}, {"scale", {}}};
  model.nodes = {{"mul", {"x", "scale"}, "s", {-1, 2}, 0},
                 {"add", {"s", "shift"}, "y", {-1, 2}, 1}};
  model.outputs = {{"y", "y"}};
  TestSession s(model);
  auto outputs = s.run({{"x", f32({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                        {"shift", f32({2}, {10, 20})},
                        {"scale", f32({}, {2})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(floats(outputs->at("y")),
            (std::vector<float>{12, 24, 16, 28, 20, 32, 24, 36}));
}

TEST(ExecutorTest, OutputsPassedThrough) {
  // An input, a weight and a received value leave as they are.
  Model model;
  model.stages = 2;
  model.rows = {2};
  model.inputs = {{"x", {-1}}};
  model.weights["w"] = f32({3}, {1, 2, 3});
  model.nodes = {{"neg", {"x"}, "n", {-1}, 0}, {"neg", {"n"}, "m", {-1}, 1}};
  model.outputs = {{"x_out", "x", schema::CONCAT, 0},
                   {"w_out", "w", schema::SAME, 1},
                   {"n_out", "n", schema::CONCAT, 1},
                   {"m", "m"}};
  TestSession s(model);
  Tensor x = pattern({6}, 5);
  auto outputs = s.run({{"x", x}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_TRUE(sameBits(outputs->at("x_out"), x));
  EXPECT_TRUE(sameBits(outputs->at("m"), x));
  EXPECT_TRUE(sameBits(outputs->at("w_out"), f32({3}, {1, 2, 3})));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(outputs->at("n_out").as<float>()[i], -x.as<float>()[i]);
}

TEST(ExecutorTest, LiteralsAndReshapesInPlace) {
  Model model;
  model.rows = {2};
  model.inputs = {{"x", {-1, 2}}};
  model.nodes = {{"neg", {"x"}, "n", {-1, 2}},
                 {"reshape",
                  {"n"},
                  "r",
                  {2, -1},
                  0,
                  DType::F32,
                  {intsAttr("shape", {2, 2})}},
                 {"neg", {"r"}, "y", {-1, 2}}};
  model.outputs = {{"y", "y"}, {"r", "r"}};
  PackageBuilder builder(model);
  schema::Program &program = builder.program(0);
  // The reshape keeps its operand's place; a literal is added to the end
  // result.
  program.mutable_values(2)->set_arena_offset(program.values(1).arena_offset());
  const float ten = 10;
  schema::Value *literal = program.add_values();
  literal->mutable_type()->set_dtype(schema::F32);
  literal->set_literal(std::string(reinterpret_cast<const char *>(&ten), 4));
  schema::Value *sum = program.add_values();
  *sum->mutable_type() = program.values(3).type();
  sum->set_arena_offset(program.arena_bytes());
  program.set_arena_bytes(program.arena_bytes() + 64);
  schema::Instruction *add = program.add_instructions();
  add->set_op("add");
  add->add_inputs(3);
  add->add_inputs(4);
  add->add_outputs(5);
  program.mutable_outputs(0)->set_value(5);
  TestSession s(builder);
  auto outputs = s.run({{"x", f32({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(floats(outputs->at("y")),
            (std::vector<float>{11, 12, 13, 14, 15, 16, 17, 18}));
  EXPECT_EQ(outputs->at("r").as<float>()[7], -8);
}

TEST(ExecutorTest, Merges) {
  Model model;
  model.stages = 2;
  model.rows = {2};
  model.inputs = {{"x", {-1}}};
  model.weights["c"] = f32({2}, {5, 6});
  model.nodes = {{"neg", {"x"}, "n", {-1}, 0}, {"neg", {"c"}, "same", {2}, 1}};
  model.outputs = {{"cat", "n", schema::CONCAT},
                   {"mean", "n", schema::MEAN},
                   {"sum", "n", schema::SUM, 1},
                   {"same", "same", schema::SAME}};
  TestSession s(model);
  auto outputs = s.run({{"x", f32({6}, {1, 2, 3, 4, 5, 6})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(floats(outputs->at("cat")),
            (std::vector<float>{-1, -2, -3, -4, -5, -6}));
  EXPECT_EQ(floats(outputs->at("mean")), (std::vector<float>{-3, -4}));
  EXPECT_EQ(floats(outputs->at("sum")), (std::vector<float>{-9, -12}));
  EXPECT_EQ(floats(outputs->at("same")), (std::vector<float>{-5, -6}));
}

TEST(ExecutorTest, UnspecifiedMergeStopsBeforeAnythingRuns) {
  Model model = mlp(2, {2});
  model.outputs[0].merge = schema::UNSPECIFIED;
  TestSession s(model);
  RunOptions options;
  int calls = 0;
  options.progress = [&](int64_t, int64_t) { ++calls; };
  expectError(s.session->run({{"x", pattern({4, 4}, 1)}}, options).status(),
              StatusCode::InvalidArgument,
              "output 'y': how the values of 2 microbatches join");
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(s.session->run({{"x", pattern({2, 4}, 1)}}, options).ok());
  EXPECT_EQ(calls, 1);
}

TEST(ExecutorTest, ProgressCountsMicrobatches) {
  TestSession s(mlp(3, {1}));
  std::vector<std::pair<int64_t, int64_t>> calls;
  RunOptions options;
  options.progress = [&](int64_t done, int64_t total) {
    calls.push_back({done, total});
  };
  ASSERT_TRUE(s.session->run({{"x", pattern({3, 4}, 1)}}, options).ok());
  EXPECT_EQ(calls,
            (std::vector<std::pair<int64_t, int64_t>>{{1, 3}, {2, 3}, {3, 3}}));
}

TEST(ExecutorTest, SeveralSessionsOfOnePackage) {
  TestSession a(mlp(2, {2}));
  auto b = Session::create(a.package, referenceOptions());
  ASSERT_TRUE(b.ok());
  const TensorMap inputs = {{"x", pattern({4, 4}, 1)}};
  auto first = a.run(inputs), second = (*b)->run(inputs, {});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(sameBits(first->at("y"), second->at("y")));
}

TEST(ExecutorTest, ModelWithoutInputs) {
  Model model;
  model.rows = {0};
  model.weights["c"] = f32({2}, {5, 6});
  model.nodes = {{"neg", {"c"}, "y", {2}}};
  model.outputs = {{"y", "y"}};
  TestSession s(model);
  auto outputs = s.run({});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(floats(outputs->at("y")), (std::vector<float>{-5, -6}));
}

TEST(ExecutorTest, EmptyTensors) {
  Model model;
  model.stages = 2;
  model.rows = {2};
  model.inputs = {{"x", {-1, 0}}};
  model.nodes = {{"neg", {"x"}, "n", {-1, 0}, 0},
                 {"neg", {"n"}, "y", {-1, 0}, 1}};
  model.outputs = {{"y", "y"}};
  TestSession s(model);
  auto outputs = s.run({{"x", f32({4, 0}, {})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(outputs->at("y").shape(), (Shape{4, 0}));
}

} // namespace
} // namespace pipec::test

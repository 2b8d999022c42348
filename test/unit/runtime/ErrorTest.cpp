// Failing runs: one clear cause, quick stop of all stages, a session that works
// again.
#include "runtime/executor/run_control.h"
#include "test/unit/runtime/TestSession.h"

#include <chrono>
#include <stdexcept>

namespace pipec::test {
namespace {

/// Stage 1 of three looks rows of a table up; an index out of range is an error
/// of the kernel.
Model lookup() {
  Model model;
  model.stages = 3;
  model.rows = {1};
  model.inputs = {{"ids", {-1}, DType::I64}};
  model.weights["table"] = f32({4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  model.weights["zero"] = i64({1}, {0});
  model.nodes = {{"add", {"ids", "zero"}, "i", {-1}, 0, DType::I64},
                 {"gather",
                  {"table", "i"},
                  "e",
                  {-1, 2},
                  1,
                  DType::F32,
                  {intAttr("dim", 0)},
                  "wte"},
                 {"neg", {"e"}, "y", {-1, 2}, 2}};
  model.outputs = {{"y", "y"}};
  return model;
}

TEST(ErrorTest, IndexOutOfRangeInStage1) {
  for (int capacity : {1, 2, 8}) {
    TestSession s(lookup(), referenceOptions(capacity));
    std::vector<int64_t> ids(64, 1);
    TensorMap good = {{"ids", i64({64}, ids)}};
    ids[5] = 77;
    TensorMap bad = {{"ids", i64({64}, ids)}};
    for (int i = 0; i < 20; ++i) {
      const auto start = std::chrono::steady_clock::now();
      Status status = s.run(bad).status();
      const auto took = std::chrono::steady_clock::now() - start;
      EXPECT_LT(std::chrono::duration<double>(took).count(), 5.0);
      EXPECT_FALSE(status.ok());
      EXPECT_NE(static_cast<int>(status.getCode()),
                static_cast<int>(StatusCode::Cancelled));
      for (const char *part : {"stage 1, microbatch 5", "node_e", "wte", "77"})
        EXPECT_NE(status.message().find(part), std::string::npos)
            << status.message();
      auto outputs = s.run(good);
      ASSERT_TRUE(outputs.ok()) << outputs.status().message();
      EXPECT_EQ(outputs->at("y").as<float>()[10], -2);
    }
  }
}

TEST(ErrorTest, ProgressThatThrows) {
  TestSession s(mlp(3, {1}));
  RunOptions options;
  options.progress = [](int64_t done, int64_t) {
    if (done == 2)
      throw std::runtime_error("no more");
  };
  expectError(s.session->run({{"x", pattern({8, 4}, 1)}}, options).status(),
              StatusCode::Internal, "no more");
  EXPECT_TRUE(s.run({{"x", pattern({8, 4}, 1)}}).ok());
}

TEST(ErrorTest, OutputsThatShouldBeTheSame) {
  Model model = mlp(2, {2});
  model.outputs[0].merge = schema::SAME;
  TestSession s(model);
  expectError(s.run({{"x", pattern({4, 4}, 1)}}).status(),
              StatusCode::InvalidArgument, "microbatch 1");
  EXPECT_TRUE(s.run({{"x", pattern({2, 4}, 1)}}).ok());
}

TEST(ErrorTest, UnknownOp) {
  TempFolder folder;
  Model model = mlp(2, {2});
  model.nodes.back().op = "frobnicate";
  Package package = openBuilt(PackageBuilder(model), folder / "m.pipe");
  Status status = Session::create(package, referenceOptions()).status();
  expectError(status, StatusCode::Unsupported, "frobnicate");
  expectError(status, StatusCode::Unsupported, "stage1");
}

TEST(ErrorTest, QueueCapacityOutOfRange) {
  TempFolder folder;
  Package package = openBuilt(PackageBuilder(mlp(2, {2})), folder / "m.pipe");
  for (int capacity : {0, -1, 1 << 20})
    expectError(Session::create(package, referenceOptions(capacity)).status(),
                StatusCode::InvalidArgument, "queue capacity");
}

TEST(ErrorTest, TheCauseWinsOverItsConsequences) {
  RunControl control({});
  control.fail(cancelled("another stage failed"));
  control.fail(numericError("nan"));
  control.fail(internalError("later"));
  EXPECT_TRUE(control.stopped());
  EXPECT_EQ(control.result().message(), "nan");
  control.reset();
  EXPECT_FALSE(control.stopped());
  EXPECT_TRUE(control.result().ok());
}

} // namespace
} // namespace pipec::test

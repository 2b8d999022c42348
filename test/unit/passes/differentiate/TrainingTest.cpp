// A model as the frontends make it, put in training: dropout seeded, batch
// normalisation expanded, a loss attached, cut and differentiated. Executed
// against finite differences of the uncut graph.
#include "passes/import/Passes.h"
#include "test/unit/passes/differentiate/CutStep.h"
#include "test/unit/passes/partition/GraphText.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace pipec;
using namespace pipec::test;
using pipe::LossSpec;
using pipe::test::GraphText;

namespace {

const char *kModel = R"(
pipe.weight @s parameter : tensor<3xf64> from #pipe.source<"m", 0, 24>
pipe.weight @b parameter : tensor<3xf64> from #pipe.source<"m", 0, 24>
pipe.weight @mean buffer : tensor<3xf64> from #pipe.source<"m", 0, 24>
pipe.weight @variance buffer : tensor<3xf64> from #pipe.source<"m", 0, 24>
pipe.weight @w parameter : tensor<3x4xf64> from #pipe.source<"m", 0, 96>
pipe.graph @main(%x: tensor<5x3xf64> {pipe.name = "x"}) -> (tensor<5x4xf64> {pipe.name = "y"}) {
  %s = pipe.load_weight @s : tensor<3xf64>
  %b = pipe.load_weight @b : tensor<3xf64>
  %m = pipe.load_weight @mean : tensor<3xf64>
  %v = pipe.load_weight @variance : tensor<3xf64>
  %w = pipe.load_weight @w : tensor<3x4xf64>
  %0 = pipe.mul %x, %s : (tensor<5x3xf64>, tensor<3xf64>) -> tensor<5x3xf64> loc(fused<#pipe.origin<0, "Mul", "n0", "a">>["m"])
  %1 = pipe.batch_norm %0 scale %s bias %b mean %m variance %v epsilon 1.0e-2 {momentum = 7.500000e-01 : f64} : (tensor<5x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<5x3xf64> loc(fused<#pipe.origin<1, "BatchNormalization", "n1", "a">>["m"])
  %2 = pipe.dropout %1 ratio 0.25 : (tensor<5x3xf64>) -> tensor<5x3xf64> loc(fused<#pipe.origin<2, "Dropout", "n2", "a">>["m"])
  %3 = pipe.dot_general %2, %w contract [1] x [0] : (tensor<5x3xf64>, tensor<3x4xf64>) -> tensor<5x4xf64> loc(fused<#pipe.origin<3, "MatMul", "n3", "b">>["m"])
  pipe.output %3 : tensor<5x4xf64>
})";

LossSpec lossOf(LossSpec::Kind kind) {
  LossSpec spec;
  spec.kind = kind;
  spec.labels = "target";
  spec.labelSmoothing = 0.1;
  return spec;
}

struct TrainedModel : GraphText {
  explicit TrainedModel(LossSpec::Kind kind) : GraphText(kModel) {
    PassManager manager(&context);
    manager.addPass(pipe::createSeedDropout());
    manager.addPass(pipe::createBatchNormTraining());
    EXPECT_TRUE(succeeded(manager.run(*module)));
    EXPECT_TRUE(succeeded(pipe::attachLoss(graph, lossOf(kind))));
  }
};

// x, the random key, labels, the loss scale.
std::vector<Tensor> inputsFor(LossSpec::Kind kind) {
  const std::vector<int64_t> key = {11, 2, 3}, labels = {3, -100, 0, 1, 2};
  Tensor scale = *Tensor::allocate({DType::F64, {}});
  *scale.as<double>() = 0.25;
  return {pipe::testing::makeTensor({DType::F64, {5, 3}}, 1),
          *Tensor::copyOf({DType::I64, {3}}, key.data()),
          kind == LossSpec::Kind::Mse
              ? pipe::testing::makeTensor({DType::F64, {5, 4}}, 2)
              : *Tensor::copyOf({DType::I64, {5}}, labels.data()),
          scale};
}

TensorMap someWeights() {
  TensorMap weights;
  uint64_t seed = 3;
  for (const char *name : {"s", "b", "mean", "variance"})
    weights[name] = pipe::testing::makeTensor({DType::F64, {3}}, seed++);
  weights["w"] = pipe::testing::makeTensor({DType::F64, {3, 4}}, seed);
  return weights;
}

class Training : public ::testing::TestWithParam<LossSpec::Kind> {};

TEST_P(Training, GradientsAreTheDifferences) {
  TensorMap weights = someWeights();
  TrainedModel uncut(GetParam());
  const std::vector<Tensor> inputs = inputsFor(GetParam());
  const auto loss = [&] {
    StatusOr<Step> step = runStep(uncut.graph, inputs, weights);
    EXPECT_TRUE(step.ok()) << step.status().message();
    return step.ok() ? *step->loss.as<double>() : std::nan("");
  };
  TrainedModel cut(GetParam());
  ASSERT_TRUE(cutAndDifferentiate(*cut.module, {4, 17}, "none"));
  StatusOr<Step> step = runStep(cut.graph, inputs, weights);
  ASSERT_TRUE(step.ok()) << step.status().message();
  EXPECT_EQ(*step->loss.as<double>(), loss());
  EXPECT_EQ(step->gradients.size(), 3u);
  constexpr double kStep = 1e-6;
  for (const auto &[name, sites] : step->gradients) {
    const std::vector<double> sum = sumOfSites(sites);
    for (size_t k = 0; k < sum.size(); ++k) {
      double &element = weights[name].as<double>()[k];
      const double before = element;
      element = before + kStep;
      const double up = loss();
      element = before - kStep;
      const double down = loss();
      element = before;
      const double expected = (up - down) / (2 * kStep);
      EXPECT_NEAR(sum[k], expected, 1e-6 * std::max(1.0, std::abs(expected)))
          << name << " " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, Training,
                         ::testing::Values(LossSpec::Kind::Mse,
                                           LossSpec::Kind::CrossEntropy));

TEST(BatchNormTraining, StatisticsMoveAsPyTorchsDo) {
  TensorMap weights = someWeights();
  TrainedModel model(LossSpec::Kind::Mse);
  const std::vector<Tensor> inputs = inputsFor(LossSpec::Kind::Mse);
  auto results =
      pipe::testing::GraphInterpreter(weights).run(model.graph, inputs);
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->size(), 3u); // loss, mean, variance
  for (int c = 0; c < 3; ++c) {
    double mean = 0, square = 0;
    const auto at = [&](int row) {
      return inputs[0].as<double>()[row * 3 + c] * weights["s"].as<double>()[c];
    };
    for (int row = 0; row < 5; ++row)
      mean += at(row) / 5;
    for (int row = 0; row < 5; ++row)
      square += (at(row) - mean) * (at(row) - mean);
    EXPECT_NEAR((*results)[1].as<double>()[c],
                0.75 * weights["mean"].as<double>()[c] + 0.25 * mean, 1e-12);
    EXPECT_NEAR((*results)[2].as<double>()[c],
                0.75 * weights["variance"].as<double>()[c] + 0.25 * square / 4,
                1e-12);
  }
}

} // namespace

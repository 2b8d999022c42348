// Learning rates, double for double those of Hugging Face's schedules (the
// numbers were printed by transformers 5.24).
#include "runtime/optimizer/learning_rate.h"

#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace pipec;

namespace {

std::vector<double> rates(LearningRateKind kind, int64_t warmup,
                          int64_t total) {
  auto rate = LearningRate::create(kind, 0.3, warmup, total);
  EXPECT_TRUE(rate.ok()) << rate.status().message();
  std::vector<double> values;
  for (int64_t step = 0; step <= total; ++step)
    values.push_back(rate->at(step));
  return values;
}

TEST(LearningRateTest, Constant) {
  EXPECT_EQ(rates(LearningRateKind::Constant, 0, 2),
            (std::vector<double>{0.3, 0.3, 0.3}));
  EXPECT_EQ(rates(LearningRateKind::Constant, 3, 4),
            (std::vector<double>{0, 0.09999999999999999, 0.19999999999999998,
                                 0.3, 0.3}));
}

TEST(LearningRateTest, Linear) {
  EXPECT_EQ(
      rates(LearningRateKind::Linear, 3, 10),
      (std::vector<double>{0.0, 0.09999999999999999, 0.19999999999999998, 0.3,
                           0.2571428571428571, 0.21428571428571427,
                           0.1714285714285714, 0.12857142857142856,
                           0.0857142857142857, 0.04285714285714285, 0.0}));
  EXPECT_EQ(
      rates(LearningRateKind::Linear, 0, 7),
      (std::vector<double>{0.3, 0.2571428571428571, 0.21428571428571427,
                           0.1714285714285714, 0.12857142857142856,
                           0.0857142857142857, 0.04285714285714285, 0.0}));
}

TEST(LearningRateTest, Cosine) {
  EXPECT_EQ(
      rates(LearningRateKind::Cosine, 3, 10),
      (std::vector<double>{0.0, 0.09999999999999999, 0.19999999999999998, 0.3,
                           0.28514533018536287, 0.24352347027881002,
                           0.18337814009344713, 0.11662185990655284,
                           0.05647652972118997, 0.014854669814637143, 0.0}));
}

TEST(LearningRateTest, PastTheEndAndWarmUpLongerThanTheRun) {
  auto cosine = LearningRate::create(LearningRateKind::Cosine, 1, 0, 4);
  auto linear = LearningRate::create(LearningRateKind::Linear, 1, 8, 4);
  ASSERT_TRUE(cosine.ok() && linear.ok());
  EXPECT_EQ(cosine->at(7), 0.0);
  EXPECT_EQ(linear->at(2), 0.25);
  EXPECT_EQ(linear->at(9), 0.0);
}

TEST(LearningRateTest, RefusalsNameTheOption) {
  const auto constant = LearningRateKind::Constant;
  EXPECT_NE(LearningRate::create(constant, -1, 0, 1)
                .status()
                .message()
                .find("the learning rate must be"),
            std::string::npos);
  EXPECT_FALSE(LearningRate::create(
                   constant, std::numeric_limits<double>::infinity(), 0, 1)
                   .ok());
  EXPECT_EQ(LearningRate::create(constant, 1, -2, 1).status().message(),
            "warm-up steps must be at least 0, got -2");
  EXPECT_TRUE(LearningRate::create(constant, 1, 0, 0).ok());
  EXPECT_FALSE(LearningRate::create(LearningRateKind::Linear, 1, 0, 0).ok());
  EXPECT_EQ(learningRateFromName("step").status().message(),
            "the learning rate schedule must be constant, linear or cosine, "
            "got 'step'");
  EXPECT_EQ(*learningRateFromName("cosine"), LearningRateKind::Cosine);
}

} // namespace

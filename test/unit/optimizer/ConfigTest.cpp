// Options of the optimizers: what is refused, in which words, and what a
// checkpoint records.
#include "runtime/optimizer/optimizer_config.h"

#include <functional>
#include <gtest/gtest.h>
#include <limits>

using namespace pipec;

namespace {

std::string refusal(OptimizerKind kind,
                    const std::function<void(OptimizerConfig &)> &change) {
  OptimizerConfig config = OptimizerConfig::defaults(kind);
  change(config);
  const Status status = config.validate();
  EXPECT_TRUE(status.ok() || status.getCode() == StatusCode::InvalidArgument);
  return status.message();
}

TEST(OptimizerConfigTest, DefaultsAreValid) {
  for (const char *name : {"sgd", "adam", "adamw"}) {
    auto kind = optimizerFromName(name);
    ASSERT_TRUE(kind.ok());
    EXPECT_EQ(optimizerName(*kind), name);
    EXPECT_TRUE(OptimizerConfig::defaults(*kind).validate().ok());
  }
  EXPECT_EQ(OptimizerConfig::defaults(OptimizerKind::AdamW).weightDecay, 0.01);
  EXPECT_EQ(optimizerFromName("lamb").status().message(),
            "the optimizer must be sgd, adam or adamw, got 'lamb'");
}

TEST(OptimizerConfigTest, RefusalsNameTheOption) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto sgd = OptimizerKind::Sgd, adam = OptimizerKind::Adam;
  EXPECT_EQ(refusal(sgd, [](auto &c) { c.weightDecay = -0.5; }),
            "weight decay must be a finite number of at least 0, got -0.5");
  EXPECT_EQ(refusal(sgd, [&](auto &c) { c.momentum = nan; }),
            "momentum must be a finite number of at least 0, got nan");
  EXPECT_EQ(refusal(sgd, [&](auto &c) { c.dampening = nan; }),
            "dampening must be a finite number, got nan");
  EXPECT_EQ(refusal(sgd, [](auto &c) { c.nesterov = true; }),
            "nesterov needs momentum above 0 and dampening 0, got "
            "momentum 0 and dampening 0");
  EXPECT_EQ(refusal(adam, [](auto &c) { c.beta2 = 1; }),
            "betas must be two numbers of at least 0 and below 1, got 1");
  EXPECT_EQ(refusal(adam, [&](auto &c) { c.beta1 = nan; }),
            "betas must be two numbers of at least 0 and below 1, got nan");
  EXPECT_EQ(refusal(adam, [](auto &c) { c.eps = -1; }),
            "eps must be a finite number of at least 0, got -1");
  EXPECT_EQ(refusal(adam, [](auto &c) { c.momentum = 0.9; }),
            "momentum, dampening and nesterov belong to sgd, "
            "the optimizer is adam; its momentum is betas");
}

TEST(OptimizerConfigTest, FieldsHoldWhatMattersToTheKind) {
  OptimizerConfig config = OptimizerConfig::defaults(OptimizerKind::AdamW);
  config.beta1 = 0.1 + 0.2;
  const std::map<std::string, std::string> expected = {
      {"kind", "adamw"},
      {"weight_decay", "0.01"},
      {"beta1", "0.30000000000000004"},
      {"beta2", "0.999"},
      {"eps", "1e-08"}};
  EXPECT_EQ(config.fields(), expected);
  EXPECT_EQ(OptimizerConfig().fields().count("eps"), 0u);
  EXPECT_EQ(OptimizerConfig().fields().at("nesterov"), "false");
}

} // namespace

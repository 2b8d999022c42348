// Updates against torch.optim, which make_vectors.py ran over the same table of
// cases, and the rules about state, slots and threads.
#include "runtime/optimizer/optimizer.h"
#include "runtime/base/safetensors.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace pipec;

namespace {

constexpr double kRates[] = {0.05, 0.04, 0.03, 0.02, 0.01};
constexpr double kScale = 0.75;

OptimizerConfig sgd(double momentum, double dampening, bool nesterov,
                    double decay) {
  OptimizerConfig config;
  config.momentum = momentum;
  config.dampening = dampening;
  config.nesterov = nesterov;
  config.weightDecay = decay;
  return config;
}

OptimizerConfig adam(OptimizerKind kind, double beta1, double beta2, double eps,
                     double decay) {
  OptimizerConfig config;
  config.kind = kind;
  config.beta1 = beta1;
  config.beta2 = beta2;
  config.eps = eps;
  config.weightDecay = decay;
  return config;
}

const std::map<std::string, OptimizerConfig> kCases = {
    {"sgd", sgd(0, 0, false, 0)},
    {"sgd-decay", sgd(0, 0, false, 0.1)},
    {"sgd-momentum", sgd(0.9, 0.3, false, 0.1)},
    {"sgd-nesterov", sgd(0.8, 0, true, 0)},
    {"sgd-nesterov-decay", sgd(0.8, 0, true, 0.1)},
    {"adam", adam(OptimizerKind::Adam, 0.9, 0.999, 1e-8, 0)},
    {"adam-decay", adam(OptimizerKind::Adam, 0.8, 0.95, 1e-6, 0.1)},
    {"adam-small-beta", adam(OptimizerKind::Adam, 0.3, 0, 1e-8, 0)},
    {"adamw", OptimizerConfig::defaults(OptimizerKind::AdamW)},
    {"adamw-decay", adam(OptimizerKind::AdamW, 0.9, 0.95, 1e-3, 0.2)},
};

// PyTorch fuses some multiplications and additions, so a few units in the last
// place of the largest operand may differ. Sums of squares cancel nothing:
// there `floor` is 0 and the difference relative.
void expectClose(const void *got, const Tensor &expected, float floor,
                 const std::string &what) {
  const float *a = static_cast<const float *>(got);
  const float *b = expected.as<float>();
  for (int64_t i = 0; i < expected.numElements(); ++i)
    EXPECT_NEAR(a[i], b[i], 4e-7 * std::max(floor, std::fabs(b[i])))
        << what << " element " << i;
}

Optimizer make(const OptimizerConfig &config) {
  auto optimizer = Optimizer::create(config);
  EXPECT_TRUE(optimizer.ok()) << optimizer.status().message();
  return std::move(*optimizer);
}

TEST(OptimizerTest, MatchesTorch) {
  auto vectors = loadSafetensors(PIPEC_OPTIMIZER_VECTORS);
  ASSERT_TRUE(vectors.ok()) << vectors.status().message();
  const Tensor &start = vectors->at("start");
  for (const auto &[name, config] : kCases) {
    Optimizer optimizer = make(config);
    ASSERT_TRUE(optimizer.add("w", start.type()).ok());
    Tensor parameter = *Tensor::copyOf(start.type(), start.data());
    for (int step = 1; step <= 5; ++step) {
      const std::string at = "@" + std::to_string(step);
      optimizer.apply(0, parameter.as<float>(),
                      vectors->at("grad" + at).as<float>(), kScale,
                      kRates[step - 1]);
      expectClose(parameter.data(), vectors->at(name + "/param" + at), 1,
                  name + at);
    }
    EXPECT_EQ(optimizer.steps(0), 5);
    for (const auto &[key, view] : optimizer.state()) {
      const std::string state = key.substr(10, key.size() - 12);
      if (state != "step")
        expectClose(view.data, vectors->at(name + "/" + state),
                    state == "exp_avg_sq" ? 0 : 1, name + key);
    }
  }
}

std::vector<std::string> stateNames(const OptimizerConfig &config) {
  Optimizer optimizer = make(config);
  EXPECT_TRUE(optimizer.add("a.b", {DType::F32, {2, 3}}).ok());
  std::vector<std::string> names;
  for (const auto &[name, view] : optimizer.state()) {
    names.push_back(name);
    EXPECT_EQ(view.type, name == "optimizer.step.a.b"
                             ? (TensorType{DType::I64, {}})
                             : (TensorType{DType::F32, {2, 3}}));
  }
  return names;
}

TEST(OptimizerTest, StateHasItsNamesAndTypes) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(stateNames(kCases.at("sgd")), Names{"optimizer.step.a.b"});
  EXPECT_EQ(stateNames(kCases.at("sgd-momentum")),
            (Names{"optimizer.momentum_buffer.a.b", "optimizer.step.a.b"}));
  EXPECT_EQ(stateNames(kCases.at("adamw")),
            (Names{"optimizer.exp_avg.a.b", "optimizer.exp_avg_sq.a.b",
                   "optimizer.step.a.b"}));
  EXPECT_EQ(Optimizer::stateBytesPerElement(kCases.at("sgd")), 0u);
  EXPECT_EQ(Optimizer::stateBytesPerElement(kCases.at("sgd-momentum")), 4u);
  EXPECT_EQ(Optimizer::stateBytesPerElement(kCases.at("adam")), 8u);
}

TEST(OptimizerTest, ContinuesFromCopiedStateToTheBit) {
  for (const auto &[name, config] : kCases) {
    const float gradient[3] = {0.5f, -2, 1e-3f};
    float whole[3] = {1, 2, 3}, resumed[3];
    Optimizer first = make(config), second = make(config);
    ASSERT_TRUE(first.add("w", {DType::F32, {3}}).ok());
    ASSERT_TRUE(second.add("w", {DType::F32, {3}}).ok());
    first.apply(0, whole, gradient, 1, 0.1);
    std::memcpy(resumed, whole, sizeof whole);
    const auto from = first.state(), to = second.state();
    for (const auto &[key, view] : from)
      std::memcpy(to.at(key).data, view.data, view.type.byteSize());
    first.apply(0, whole, gradient, 1, 0.1);
    second.apply(0, resumed, gradient, 1, 0.1);
    EXPECT_EQ(std::memcmp(whole, resumed, sizeof whole), 0) << name;
  }
}

// The tail of a vector loop must round as its body does: elements are
// independent of where they stand.
TEST(OptimizerTest, AnElementDoesNotDependOnItsPlace) {
  for (const auto &[name, config] : kCases)
    for (int64_t n = 1; n < 40; ++n) {
      Optimizer optimizer = make(config);
      ASSERT_TRUE(optimizer.add("w", {DType::F32, {n}}).ok());
      std::vector<float> parameter(n, 0.3f), gradient(n, -0.7f);
      for (const double rate : kRates)
        optimizer.apply(0, parameter.data(), gradient.data(), 0.9, rate);
      for (const float value : parameter)
        ASSERT_EQ(value, parameter[0]) << name << " of " << n;
    }
}

TEST(OptimizerTest, SlotsAreIndependentAndMayRunAtOnce) {
  constexpr int kSlots = 4, kSteps = 50;
  Optimizer together = make(kCases.at("adamw-decay"));
  std::vector<std::vector<float>> parameters(kSlots,
                                             std::vector<float>(100, 1));
  const std::vector<float> gradient(100, 0.25f);
  for (int i = 0; i < kSlots; ++i)
    ASSERT_TRUE(
        together.add("w" + std::to_string(i), {DType::F32, {100}}).ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < kSlots; ++i)
    threads.emplace_back([&, i] {
      for (int step = 0; step < kSteps; ++step)
        together.apply(i, parameters[i].data(), gradient.data(), 1, 0.01);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int i = 1; i < kSlots; ++i)
    EXPECT_EQ(parameters[i], parameters[0]);
  EXPECT_EQ(together.steps(3), kSteps);
}

// Adam divides by the root of a second moment; a parameter that got no
// gradient for some steps must not take part in the count of the others.
TEST(OptimizerTest, StepsAreCountedPerParameter) {
  Optimizer optimizer = make(kCases.at("adam"));
  ASSERT_TRUE(optimizer.add("a", {DType::F32, {1}}).ok());
  ASSERT_TRUE(optimizer.add("b", {DType::F32, {1}}).ok());
  float a = 1, b = 1;
  const float gradient = 0.5f;
  optimizer.apply(0, &a, &gradient, 1, 0.1);
  optimizer.apply(0, &a, &gradient, 1, 0.1);
  optimizer.apply(1, &b, &gradient, 1, 0.1);
  EXPECT_EQ(optimizer.steps(0), 2);
  EXPECT_EQ(optimizer.steps(1), 1);
  EXPECT_NEAR(b, 0.9f, 1e-6); // the first step of Adam has length lr
}

TEST(OptimizerTest, RefusesWhatItCannotTrain) {
  Optimizer optimizer = make(kCases.at("sgd"));
  EXPECT_EQ(optimizer.add("w", {DType::BF16, {2}}).status().getCode(),
            StatusCode::Unsupported);
  ASSERT_TRUE(optimizer.add("w", {DType::F32, {2}}).ok());
  EXPECT_EQ(optimizer.add("w", {DType::F32, {2}}).status().message(),
            "parameter 'w' was given to the optimizer twice");
  EXPECT_EQ(optimizer.size(), 1u);
  OptimizerConfig bad;
  bad.momentum = -1;
  EXPECT_FALSE(Optimizer::create(bad).ok());
}

TEST(OptimizerTest, EmptyAndScalarParameters) {
  Optimizer optimizer = make(kCases.at("adamw"));
  ASSERT_TRUE(optimizer.add("none", {DType::F32, {0, 4}}).ok());
  ASSERT_TRUE(optimizer.add("scalar", {DType::F32, {}}).ok());
  float value = 1;
  const float gradient = 1;
  optimizer.apply(0, nullptr, nullptr, 1, 0.1);
  optimizer.apply(1, &value, &gradient, 1, 0.1);
  EXPECT_LT(value, 1);
}

} // namespace

// Executes one graph cut in every way into one to four stages, with and
// without recomputation: the gradients have the same bits, and are those of
// finite differences.
#include "test/unit/passes/differentiate/CutStep.h"
#include "test/unit/passes/partition/GraphText.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace pipec;
using namespace pipec::test;
using pipe::test::GraphText;

namespace {

using Lines = std::vector<std::string>;

// Skip connections over several stages, a weight read in two places and twice
// by one op, a frozen weight, positions that follow from values, a value of
// whose readers only one has a derivative, a moved buffer, dropout.
const Lines kNodes = {
    "%e = pipe.gather %emb, %ids dim 0 : (tensor<5x4xf64>, tensor<3xi64>) -> "
    "tensor<3x4xf64>",
    "%h0 = pipe.add %x, %e : (tensor<3x4xf64>, tensor<3x4xf64>) -> "
    "tensor<3x4xf64>",
    "%h1 = pipe.dot_general %h0, %w contract [1] x [1] : (tensor<3x4xf64>, "
    "tensor<4x4xf64>) -> tensor<3x4xf64>",
    "%ww = pipe.mul %w, %w : (tensor<4x4xf64>, tensor<4x4xf64>) -> "
    "tensor<4x4xf64>",
    "%h2 = pipe.dot_general %h1, %ww contract [1] x [0] : (tensor<3x4xf64>, "
    "tensor<4x4xf64>) -> tensor<3x4xf64>",
    "%h3 = pipe.tanh %h2 : (tensor<3x4xf64>) -> tensor<3x4xf64>",
    "%h4 = pipe.add %h3, %h0 : (tensor<3x4xf64>, tensor<3x4xf64>) -> "
    "tensor<3x4xf64>",
    "%h5 = pipe.dot_general %h4, %fixed contract [1] x [0] : (tensor<3x4xf64>, "
    "tensor<4x4xf64>) -> tensor<3x4xf64>",
    "%at = pipe.arg_reduce argmax %h5 dim 1 : (tensor<3x4xf64>) -> "
    "tensor<3xi64>",
    "%row = pipe.gather %w, %at dim 0 : (tensor<4x4xf64>, tensor<3xi64>) -> "
    "tensor<3x4xf64>",
    "%h6 = pipe.dropout %h5 key %key ratio 0.25 {stream = 3 : i64} : "
    "(tensor<3x4xf64>, tensor<3xi64>) -> tensor<3x4xf64>",
    "%h7 = pipe.layer_norm %h6 scale %g bias %b axis 1 epsilon 1.0e-2 : "
    "(tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<3x4xf64>",
    "%positive = pipe.compare gt %h4, %g : (tensor<3x4xf64>, tensor<4xf64>) "
    "-> tensor<3x4xi1>",
    "%kept = pipe.convert %positive : (tensor<3x4xi1>) -> tensor<3x4xf64>",
    "%h8 = pipe.mul %h7, %kept : (tensor<3x4xf64>, tensor<3x4xf64>) -> "
    "tensor<3x4xf64>",
    "%h9 = pipe.add %h8, %h0 : (tensor<3x4xf64>, tensor<3x4xf64>) -> "
    "tensor<3x4xf64>",
    "%h10 = pipe.mul %h9, %row : (tensor<3x4xf64>, tensor<3x4xf64>) -> "
    "tensor<3x4xf64>",
    "%mean = pipe.reduce mean %h3 dims [0] : (tensor<3x4xf64>) -> "
    "tensor<4xf64>",
    "%moved = pipe.add %mean, %stat : (tensor<4xf64>, tensor<4xf64>) -> "
    "tensor<4xf64>",
    "%h11 = pipe.dot_general %h10, %w contract [1] x [1] : (tensor<3x4xf64>, "
    "tensor<4x4xf64>) -> tensor<3x4xf64>",
    "%h12 = pipe.sub %h11, %b : (tensor<3x4xf64>, tensor<4xf64>) -> "
    "tensor<3x4xf64>",
    "%loss = pipe.cross_entropy %h12, %ids ignore 1 smoothing 0.1 : "
    "(tensor<3x4xf64>, tensor<3xi64>) -> tensor<f64>",
    "%scaled = pipe.mul %loss, %scale : (tensor<f64>, tensor<f64>) -> "
    "tensor<f64>",
};

const std::map<std::string, std::vector<int64_t>> kWeights = {
    {"emb", {5, 4}}, {"w", {4, 4}}, {"fixed", {4, 4}},
    {"g", {4}},      {"b", {4}},    {"stat", {4}}};

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string graphText(const std::string &element) {
  std::string text, loads;
  for (const auto &[name, shape] : kWeights) {
    std::string type = "tensor<";
    int64_t bytes = element == "f64" ? 8 : 4;
    for (int64_t size : shape) {
      type += std::to_string(size) + "x";
      bytes *= size;
    }
    type += "f64>";
    text += "pipe.weight @" + name +
            (name == "stat" ? " buffer" : " parameter") + " : " + type +
            " from #pipe.source<\"m\", 0, " + std::to_string(bytes) + ">" +
            (name == "fixed" ? " {pipe.frozen}" : "") + "\n";
    loads +=
        "  %" + name + " = pipe.load_weight @" + name + " : " + type + "\n";
  }
  text += "pipe.graph @main(%x: tensor<3x4xf64>, %ids: tensor<3xi64>, "
          "%key: tensor<3xi64> {pipe.whole}, %scale: tensor<f64> {pipe.whole})"
          " -> (tensor<f64>, tensor<4xf64>) {\n" +
          loads;
  for (size_t i = 0; i < kNodes.size(); ++i) {
    const std::string n = std::to_string(i);
    text += "  " + kNodes[i] + " loc(fused<#pipe.origin<" + n +
            ", \"Op\", \"n" + n + "\", \"m\">>[\"m\"])\n";
  }
  text += "  pipe.output %scaled, %moved : tensor<f64>, tensor<4xf64>\n}\n";
  return replaced(text, "f64", element);
}

class Model {
public:
  explicit Model(const std::string &element)
      : text(graphText(element)),
        dtype(element == "f64" ? DType::F64 : DType::F32) {
    const std::vector<int64_t> ids = {3, 1, 2}, key = {7, 8, 9};
    Tensor scale = *Tensor::allocate({dtype, {}});
    dtype == DType::F64 ? void(*scale.as<double>() = 0.5)
                        : void(*scale.as<float>() = 0.5f);
    inputs = {pipe::testing::makeTensor({dtype, {3, 4}}, 1),
              *Tensor::copyOf({DType::I64, {3}}, ids.data()),
              *Tensor::copyOf({DType::I64, {3}}, key.data()), scale};
    uint64_t seed = 2;
    for (const auto &[name, shape] : kWeights)
      weights[name] = pipe::testing::makeTensor({dtype, shape}, seed++);
  }

  /// The uncut graph's loss.
  double loss() {
    if (!whole)
      whole = std::make_unique<GraphText>(text);
    StatusOr<Step> step = runStep(whole->graph, inputs, weights);
    EXPECT_TRUE(step.ok()) << step.status().message();
    return step.ok() ? *step->loss.as<double>() : std::nan("");
  }

  /// Loss and gradients of the graph cut behind those nodes; nothing where
  /// there is no such cut.
  std::optional<Step> step(const std::vector<int64_t> &cuts,
                           const std::string &recompute) {
    GraphText cut(text);
    if (!cutAndDifferentiate(*cut.module, cuts, recompute))
      return std::nullopt;
    StatusOr<Step> step = runStep(cut.graph, inputs, weights);
    EXPECT_TRUE(step.ok()) << step.status().message();
    return step.ok() ? std::optional(*step) : std::nullopt;
  }

  TensorMap weights;

private:
  std::string text;
  DType dtype;
  std::vector<Tensor> inputs;
  std::unique_ptr<GraphText> whole;
};

std::string textOf(const std::vector<int64_t> &cuts) {
  std::string text = "cuts at";
  for (int64_t cut : cuts)
    text += " " + std::to_string(cut);
  return text;
}

// Every set of up to three cuts; of the sets of three each seventh, for time.
std::vector<std::vector<int64_t>> cutSets() {
  const auto n = static_cast<int64_t>(kNodes.size());
  std::vector<std::vector<int64_t>> sets = {{}};
  int64_t threes = 0;
  for (int64_t i = 1; i < n; ++i) {
    sets.push_back({i});
    for (int64_t j = i + 1; j < n; ++j) {
      sets.push_back({i, j});
      for (int64_t k = j + 1; k < n; ++k)
        if (threes++ % 7 == 0)
          sets.push_back({i, j, k});
    }
  }
  return sets;
}

TEST(Differentiate, GradientsAreTheDifferences) {
  Model model("f64");
  std::optional<Step> step = model.step({7, 12}, "none");
  ASSERT_TRUE(step);
  EXPECT_EQ(*step->loss.as<double>(), model.loss());
  EXPECT_EQ(step->gradients.size(), 4u) << "not of frozen ones and buffers";
  EXPECT_EQ(step->gradients["w"].size(), 5u) << "one site a use";
  EXPECT_EQ(step->gradients["b"].size(), 2u);
  constexpr double kStep = 1e-6;
  for (const auto &[name, sites] : step->gradients) {
    const std::vector<double> sum = sumOfSites(sites);
    for (size_t k = 0; k < sum.size(); ++k) {
      double &element = model.weights[name].as<double>()[k];
      const double before = element;
      element = before + kStep;
      const double up = model.loss();
      element = before - kStep;
      const double down = model.loss();
      element = before;
      const double expected = (up - down) / (2 * kStep);
      EXPECT_NEAR(sum[k], expected, 1e-6 * std::max(1.0, std::abs(expected)))
          << name << " " << k;
    }
  }
}

TEST(Differentiate, EveryCutGivesTheSameBits) {
  for (const char *element : {"f32", "f64"}) {
    Model model(element);
    std::optional<Step> whole = model.step({}, "none");
    ASSERT_TRUE(whole);
    size_t refused = 0;
    const auto sets = cutSets();
    for (const auto &cuts : sets)
      for (const char *recompute : {"none", "full"}) {
        std::optional<Step> step = model.step(cuts, recompute);
        refused += !step;
        if (!step)
          continue;
        EXPECT_TRUE(pipe::testing::sameBits(step->loss, whole->loss))
            << textOf(cuts) << " " << recompute;
        EXPECT_TRUE(sameBits(step->gradients, whole->gradients))
            << element << " " << textOf(cuts) << " " << recompute;
      }
    EXPECT_EQ(refused, 0u);
  }
}

} // namespace

// Random graphs, cut at random: gradients have the bits of the uncut graph's
// and are those of finite differences.
#include "test/unit/passes/differentiate/CutStep.h"
#include "test/unit/passes/partition/GraphText.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

using namespace mlir;
using namespace pipec;
using namespace pipec::test;
using pipe::test::GraphText;

namespace {

// Every value is 2x2; parameters, frozen ones, an input and any earlier value
// are operands alike, so that uses, stages and skips come in all mixtures.
class RandomGraph {
public:
  explicit RandomGraph(unsigned seed) : draw(seed) {
    for (const char *name : {"w0", "w1", "w2", "frozen"})
      declare(name);
    values = {"x", "w0", "w1", "w2", "frozen"};
    const int nodes = 6 + pick(8);
    for (int i = 0; i < nodes; ++i)
      addNode();
    addLoss();
    inputs = {
        pipe::testing::makeTensor({DType::F64, {2, 2}}, 100 + seed),
        *Tensor::copyOf({DType::I64, {2}}, std::vector<int64_t>{1, 0}.data())};
  }

  std::string text() const {
    return weightText +
           "pipe.graph @main(%x: tensor<2x2xf64>, %i: tensor<2xi64>) -> "
           "tensor<f64> {\n" +
           body + "  pipe.output %loss : tensor<f64>\n}\n";
  }
  int pick(int below) { return static_cast<int>(draw() % unsigned(below)); }
  int64_t nodes() const { return position; }

  std::vector<Tensor> inputs;
  TensorMap weights;

private:
  std::mt19937 draw;
  std::string weightText, body;
  std::vector<std::string> values;
  int64_t position = 0;

  void declare(const std::string &name) {
    weightText += "pipe.weight @" + name +
                  " parameter : tensor<2x2xf64> from #pipe.source<\"m\", 0, "
                  "32>" +
                  (name == "frozen" ? " {pipe.frozen}\n" : "\n");
    body +=
        "  %" + name + " = pipe.load_weight @" + name + " : tensor<2x2xf64>\n";
    Tensor tensor = *Tensor::allocate({DType::F64, {2, 2}});
    for (int k = 0; k < 4; ++k)
      tensor.as<double>()[k] = (pick(2000) - 1000) / 1000.0;
    weights[name] = tensor;
  }

  void add(const std::string &result, const std::string &op) {
    const std::string n = std::to_string(position++);
    body += "  %" + result + " = pipe." + op + " loc(fused<#pipe.origin<" + n +
            ", \"Op\", \"n" + n + "\", \"m\">>[\"m\"])\n";
  }

  // The latest values more often: deep graphs.
  std::string operand() {
    const int n = static_cast<int>(values.size());
    return "%" + values[pick(2) ? n - 1 - pick(std::min(n, 3)) : pick(n)];
  }

  void addNode() {
    const std::string t = "tensor<2x2xf64>", one = " : (" + t + ") -> " + t,
                      two = " : (" + t + ", " + t + ") -> " + t;
    const std::string result = "v" + std::to_string(position);
    const std::string a = operand(), b = operand();
    switch (pick(9)) {
    case 0:
      add(result, "add " + a + ", " + b + two);
      break;
    case 1:
      add(result, "sub " + a + ", " + b + two);
      break;
    case 2:
      add(result, "mul " + a + ", " + b + two);
      break;
    case 3:
      add(result, "dot_general " + a + ", " + b + " contract [1] x [0]" + two);
      break;
    case 4:
      add(result, "softmax " + a + " dim 1" + one);
      break;
    case 5:
      add(result, "floor " + a + one); // ends the gradient
      break;
    case 6:
      add(result,
          "gather " + a + ", %i dim 0 : (" + t + ", tensor<2xi64>) -> " + t);
      break;
    default:
      add(result, "tanh " + a + one);
    }
    values.push_back(result);
  }

  void addLoss() {
    const std::string t = "tensor<2x2xf64>";
    add("last",
        "mul %" + values.back() + ", %w0 : (" + t + ", " + t + ") -> " + t);
    add("loss", "reduce sum %last dims [0, 1] : (" + t + ") -> tensor<f64>");
  }
};

void expectDifferences(RandomGraph &random, const Gradients &gradients) {
  GraphText whole(random.text());
  const auto loss = [&] {
    StatusOr<Step> step = runStep(whole.graph, random.inputs, random.weights);
    EXPECT_TRUE(step.ok()) << step.status().message();
    return step.ok() ? *step->loss.as<double>() : std::nan("");
  };
  constexpr double kStep = 1e-6;
  for (const char *name : {"w0", "w1", "w2"}) {
    std::vector<double> sum(4);
    if (auto at = gradients.find(name); at != gradients.end())
      sum = sumOfSites(at->second);
    for (size_t k = 0; k < sum.size(); ++k) {
      double &element = random.weights[name].as<double>()[k];
      const double before = element;
      element = before + kStep;
      const double up = loss();
      element = before - kStep;
      const double down = loss();
      element = before;
      const double expected = (up - down) / (2 * kStep);
      EXPECT_NEAR(sum[k], expected, 1e-5 * std::max(1.0, std::abs(expected)))
          << name << " " << k;
    }
  }
}

/// No stage of which is empty: what depends on weights alone fills none.
std::vector<int64_t> randomCuts(RandomGraph &random, pipe::GraphOp graph) {
  const std::vector<pipe::GraphNode> nodes = pipe::collectGraphNodes(graph);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::set<int64_t> cuts;
    for (int count = random.pick(4); count >= 0; --count)
      cuts.insert(1 + random.pick(static_cast<int>(random.nodes()) - 1));
    std::vector<pipe::Cut> list;
    for (int64_t position : cuts)
      list.push_back({position, "test"});
    if (pipe::planFromCuts(list, nodes).verify(nodes).ok())
      return {cuts.begin(), cuts.end()};
  }
  return {};
}

TEST(RandomGraphs, EveryCutGivesTheDifferences) {
  constexpr unsigned kGraphs = 150, kCuts = 6;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    RandomGraph random(seed);
    SCOPED_TRACE(random.text());
    GraphText whole(random.text());
    ASSERT_TRUE(whole.graph);
    ASSERT_TRUE(cutAndDifferentiate(*whole.module, {}, "none"));
    StatusOr<Step> expected =
        runStep(whole.graph, random.inputs, random.weights);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    expectDifferences(random, expected->gradients);
    for (unsigned i = 0; i < kCuts; ++i) {
      GraphText text(random.text());
      const std::vector<int64_t> cuts = randomCuts(random, text.graph);
      ASSERT_TRUE(
          cutAndDifferentiate(*text.module, cuts, i % 2 ? "full" : "none"));
      StatusOr<Step> step = runStep(text.graph, random.inputs, random.weights);
      ASSERT_TRUE(step.ok()) << step.status().message();
      EXPECT_TRUE(pipe::testing::sameBits(step->loss, expected->loss));
      EXPECT_TRUE(sameBits(step->gradients, expected->gradients))
          << ::testing::PrintToString(cuts);
    }
  }
}

} // namespace

// The automatic cut against brute force, and its preference for narrow cuts.
#include "test/unit/passes/partition/GraphText.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <random>

using namespace pipec;
using namespace pipec::pipe;
using test::GraphText;

namespace {

/// A chain whose ops work on tensors of different sizes: broadcast up, reduce
/// down.
std::string unevenChain(const std::vector<int> &widths) {
  std::string text, last = "%x";
  for (size_t i = 0; i < widths.size(); ++i) {
    auto at = [&](const char *op, const char *part) {
      return " loc(fused<#pipe.origin<" + std::to_string(i) + ", \"" + op +
             "\", \"n" + std::to_string(i) + part + "\", \"m" +
             std::to_string(i) + "\">>[\"m\"])\n";
    };
    std::string n = std::to_string(i),
                wide = "tensor<" + std::to_string(widths[i]) + "x1024xf32>";
    text += "  %b" + n + " = pipe.broadcast " + last + " to [" +
            std::to_string(widths[i]) + ", 1024] : (tensor<1x1024xf32>) -> " +
            wide + at("Expand", "b");
    text += "  %s" + n + " = pipe.reduce sum %b" + n + " dims [0] keep : (" +
            wide + ") -> tensor<1x1024xf32>" + at("Sum", "s");
    last = "%s" + n;
  }
  return "pipe.graph @main(%x: tensor<1x1024xf32>) -> tensor<1x1024xf32> {\n" +
         text + "  pipe.output " + last + " : tensor<1x1024xf32>\n}\n";
}

double slowestStage(const PartitionPlan &plan,
                    const std::vector<GraphNode> &nodes) {
  std::vector<double> seconds(plan.numStages(), 0.0);
  for (const GraphNode &node : nodes)
    seconds[plan.stageOf(node.origin.index)] += node.seconds;
  return *std::max_element(seconds.begin(), seconds.end());
}

double bruteForce(const std::vector<GraphNode> &nodes, int64_t units,
                  int64_t stages) {
  double best = 1e300;
  std::vector<int64_t> cuts(stages - 1);
  std::function<void(int64_t, int64_t)> place = [&](int64_t k, int64_t from) {
    if (k == stages - 1) {
      PartitionPlan plan;
      for (int64_t cut : cuts)
        plan.cuts.push_back({cut, ""});
      best = std::min(best, slowestStage(plan, nodes));
      return;
    }
    for (int64_t c = from; c < units; ++c) {
      cuts[k] = c;
      place(k + 1, c + 1);
    }
  };
  place(0, 1);
  return best;
}

TEST(Balance, IsWithinFivePercentOfBruteForce) {
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round) {
    std::vector<int> widths;
    for (int i = 0; i < 9; ++i)
      widths.push_back(1 + random() % 600);
    GraphText text(unevenChain(widths));
    ASSERT_TRUE(text.graph);
    auto nodes = collectGraphNodes(text.graph);
    for (int64_t stages = 2; stages <= 4; ++stages) {
      auto plan = planBalanced(text.graph, nodes, stages);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      EXPECT_EQ(plan->numStages(), stages);
      EXPECT_LE(slowestStage(*plan, nodes),
                bruteForce(nodes, 9, stages) * 1.0501);
    }
  }
}

TEST(Balance, EqualOpsMakeEqualStages) {
  GraphText text(
      GraphText::chain({"a", "b", "c", "d", "e", "f", "g", "h"}, 1 << 16));
  auto plan = planBalanced(text.graph, collectGraphNodes(text.graph), 4);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->cuts.size(), 3u);
  EXPECT_EQ(plan->cuts[0].position, 2);
  EXPECT_EQ(plan->cuts[1].position, 4);
  EXPECT_EQ(plan->cuts[2].position, 6);
}

TEST(Balance, AsManyStagesAsOps) {
  GraphText text(GraphText::chain({"a", "b", "c"}));
  auto nodes = collectGraphNodes(text.graph);
  auto plan = planBalanced(text.graph, nodes, 3);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->numStages(), 3);
  EXPECT_FALSE(planBalanced(text.graph, nodes, 4).ok());
  EXPECT_FALSE(planBalanced(text.graph, nodes, 0).ok());
}

/// `count` masks of an integer input, each between two ops on floats.
std::string masks(int count) {
  std::string text = "  %zero = pipe.constant dense<0> : tensor<i64>\n",
              last = "%x";
  int at = 0;
  auto place = [&](const char *op) {
    std::string index = std::to_string(at++);
    return " loc(fused<#pipe.origin<" + index + ", \"" + op + "\", \"n" +
           index + "\", \"m\">>[\"m\"])\n";
  };
  for (int i = 0; i < count; ++i) {
    std::string n = std::to_string(i);
    text += "  %m" + n +
            " = pipe.compare gt %ids, %zero : (tensor<4xi64>, tensor<i64>) -> "
            "tensor<4xi1>" +
            place("Greater");
    text += "  %k" + n + " = pipe.not %m" + n +
            " : (tensor<4xi1>) -> tensor<4xi1>" + place("Not");
    text += "  %s" + n + " = pipe.select %k" + n + ", " + last +
            ", %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> "
            "tensor<4xf32>" +
            place("Where");
    last = "%s" + n;
  }
  return "pipe.graph @main(%x: tensor<4xf32>, %ids: tensor<4xi64>) -> "
         "(tensor<4xf32>, tensor<4xi1>) {\n" +
         text + "  pipe.output " + last +
         ", %k0 : tensor<4xf32>, tensor<4xi1>\n}\n";
}

// Every number of stages that is not refused can be outlined.
TEST(Balance, RepeatedOpsFillNoStage) {
  const int64_t most = 5; // four selects, and the mask that is an output
  for (int64_t stages = 1; stages <= 12; ++stages) {
    GraphText text(masks(4));
    ASSERT_TRUE(text.graph);
    auto plan = planBalanced(text.graph, collectGraphNodes(text.graph), stages);
    ASSERT_EQ(plan.ok(), stages <= most) << stages;
    if (!plan.ok()) {
      EXPECT_NE(plan.status().message().find("ask for 5 or fewer"),
                std::string::npos)
          << plan.status().message();
      continue;
    }
    EXPECT_EQ(plan->numStages(), stages);
    annotateStages(text.graph, *plan);
    mlir::PassManager manager(&text.context);
    buildPartitionPipeline(manager);
    EXPECT_TRUE(succeeded(manager.run(*text.module))) << stages;
  }
}

TEST(Balance, IsDeterministic) {
  GraphText text(unevenChain({3, 500, 20, 400, 100, 7, 300, 250}));
  auto nodes = collectGraphNodes(text.graph);
  auto a = planBalanced(text.graph, nodes, 3),
       b = planBalanced(text.graph, nodes, 3);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->dump(nodes), b->dump(nodes));
}

} // namespace

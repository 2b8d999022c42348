// The plan as data: stages of positions, verification, its dump.
#include "test/unit/passes/partition/GraphText.h"

#include <gtest/gtest.h>

using namespace pipec;
using namespace pipec::pipe;
using test::GraphText;

namespace {

TEST(PartitionPlan, StageOfCountsCutsAtOrBefore) {
  PartitionPlan plan{{{2, "a"}, {5, "b"}}};
  EXPECT_EQ(plan.numStages(), 3);
  EXPECT_EQ(plan.stageOf(0), 0);
  EXPECT_EQ(plan.stageOf(1), 0);
  EXPECT_EQ(plan.stageOf(2), 1);
  EXPECT_EQ(plan.stageOf(4), 1);
  EXPECT_EQ(plan.stageOf(5), 2);
}

TEST(PartitionPlan, VerifyRefusesDisorderAndEmptyStages) {
  GraphText text(GraphText::chain({"a", "b", "c"}));
  auto nodes = collectGraphNodes(text.graph);
  EXPECT_TRUE((PartitionPlan{{{1, "x"}, {2, "y"}}}).verify(nodes).ok());
  EXPECT_FALSE((PartitionPlan{{{2, "x"}, {1, "y"}}}).verify(nodes).ok());
  EXPECT_NE((PartitionPlan{{{0, "x"}}})
                .verify(nodes)
                .message()
                .find("'x' leaves stage 0 empty"),
            std::string::npos);
  EXPECT_NE((PartitionPlan{{{1, "x"}, {7, "y"}}})
                .verify(nodes)
                .message()
                .find("'y' leaves stage 2 empty"),
            std::string::npos);
}

TEST(PartitionPlan, DumpHasALineAStage) {
  GraphText text(GraphText::chain({"a", "b", "c"}));
  std::string dump =
      PartitionPlan{{{1, "a:END"}}}.dump(collectGraphNodes(text.graph));
  EXPECT_NE(dump.find("stage 0: nodes 0..0, 1 ops"), std::string::npos) << dump;
  EXPECT_NE(dump.find("stage 1: nodes 1..2, 2 ops"), std::string::npos) << dump;
  EXPECT_NE(dump.find("cut: a:END"), std::string::npos) << dump;
}

} // namespace

// Edges from values, and graphs that are refused.
#include "test/unit/passes/schedule/Schedules.h"

using namespace pipec;
using namespace pipec::test;

namespace {

TEST(StageGraph, AValueGoesStraightAndItsGradientComesByTheReaders) {
  StageGraph graph;
  graph.stages = 4;
  graph.addValue(0, {3, 1}, {3, 1});
  EXPECT_EQ(graph.forward, (std::vector<StageEdge>{{0, 3}, {0, 1}}));
  EXPECT_EQ(graph.gradient, (std::vector<StageEdge>{{1, 0}, {3, 1}}));
  // A mask: read, without a gradient. The edge is there once.
  graph.addValue(0, {1, 2}, {});
  EXPECT_EQ(graph.forward.size(), 3u);
  EXPECT_EQ(graph.gradient.size(), 2u);
  EXPECT_TRUE(graph.verify().ok());
}

TEST(StageGraph, ChainIsTheNeighbours) {
  StageGraph graph = StageGraph::chain(3);
  EXPECT_EQ(graph.forward, (std::vector<StageEdge>{{0, 1}, {1, 2}}));
  EXPECT_EQ(graph.gradient, (std::vector<StageEdge>{{1, 0}, {2, 1}}));
  EXPECT_TRUE(graph.verify().ok());
  EXPECT_TRUE(StageGraph::chain(1).verify().ok());
}

TEST(StageGraph, VerifyNamesTheEdge) {
  StageGraph graph = StageGraph::chain(3);
  graph.forward.push_back({2, 2});
  EXPECT_EQ(graph.verify().message(),
            "the value edge from stage 2 to stage 2 goes the wrong way");
  graph = StageGraph::chain(3);
  graph.gradient.push_back({0, 1});
  EXPECT_EQ(graph.verify().message(),
            "the gradient edge from stage 0 to stage 1 goes the wrong way");
  graph = StageGraph::chain(3);
  graph.forward.push_back({0, 3});
  EXPECT_EQ(graph.verify().message(), "the value edge from stage 0 to stage 3 "
                                      "names a stage that is not there, of 3");
  graph = StageGraph::chain(3);
  graph.forward.push_back({0, 1});
  EXPECT_EQ(graph.verify().message(),
            "the value edge from stage 0 to stage 1 is there twice");
  graph = StageGraph::chain(2);
  graph.backward = {BackwardWork::None, BackwardWork::Full};
  EXPECT_EQ(graph.verify().message(), "the gradient edge from stage 1 to stage "
                                      "0 reaches a stage without backward "
                                      "work");
  graph.backward = {BackwardWork::Full, BackwardWork::WeightOnly};
  EXPECT_EQ(graph.verify().message(),
            "the gradient edge from stage 1 to stage 0 leaves a stage without "
            "input gradients");
  graph.backward = {BackwardWork::Full};
  EXPECT_EQ(graph.verify().message(),
            "backward work is given for 1 stages of 2");
  EXPECT_FALSE(StageGraph::chain(0).verify().ok());
}

} // namespace

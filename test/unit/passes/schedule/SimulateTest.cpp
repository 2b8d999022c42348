// Times: transfers and latencies, unequal stages, overlap, errors, the text
// grid. Published numbers are in VectorsTest.cpp.
#include "test/unit/passes/schedule/Schedules.h"

#include <limits>

using namespace pipec;
using namespace pipec::test;

namespace {

TEST(Simulate, IntervalsSpansAndWork) {
  Schedule schedule = make("1f1b", 2, 2, 2);
  Simulation result = simulate(schedule, StageGraph::chain(2));
  // rank 0: F 0-1, F 1-2, B 4-6, B 7-9; rank 1: F 1-2, B 2-4, F 4-5, B 5-7.
  EXPECT_EQ(result.actions[0][2].start, 4);
  EXPECT_EQ(result.actions[0][2].end, 6);
  EXPECT_EQ(result.actions[1][3].start, 5);
  EXPECT_EQ(result.makespan, 9);
  EXPECT_EQ(result.span, (std::vector<double>{9, 6}));
  EXPECT_EQ(result.work, (std::vector<double>{6, 6}));
  EXPECT_EQ(result.ideal, 6);
  EXPECT_EQ(result.bubble, 3);
  EXPECT_EQ(result.makespanBubble, 3);
}

TEST(Simulate, TheSlowestStageSetsThePace) {
  SimulationOptions options;
  options.stages = {{1, 1, 1}, {2, 2, 2}};
  Simulation result =
      simulate(make("1f1b", 2, 2, 8), StageGraph::chain(2), options);
  EXPECT_EQ(result.ideal, 48);
  EXPECT_EQ(result.makespan, 1 + 48 + 2);
}

TEST(Simulate, TransfersFollowEachOtherAndLatenciesOverlap) {
  StageGraph graph = StageGraph::chain(2);
  graph.gradient.clear();
  graph.backward.assign(2, BackwardWork::None);
  Schedule schedule = make("gpipe", 2, 2, 3);
  adaptBackward(schedule, graph);
  SimulationOptions options;
  options.forward = {{4, 10}};
  // Values leave at 1, 2, 3; the link takes 1-5, 5-9, 9-13; then 10 on the way.
  Simulation result = simulate(schedule, graph, options);
  EXPECT_EQ(result.actions[1][0].start, 15);
  EXPECT_EQ(result.actions[1][2].start, 23);
  EXPECT_EQ(result.makespan, 24);
  ASSERT_TRUE(addCommunication(schedule, graph).ok());
  EXPECT_EQ(simulate(schedule, graph, options).makespan, 24);
}

TEST(Simulate, OverlapHidesTheShorterOfAPair) {
  Schedule schedule = make("gpipe", 1, 1, 2); // F0 F1 B0 B1
  schedule.lists[0][1].overlapsNext = true;
  const StageGraph one = StageGraph::chain(1);
  SimulationOptions options;
  EXPECT_EQ(simulate(schedule, one, options).makespan, 6);
  options.pairOverlap = 0.5;
  EXPECT_EQ(simulate(schedule, one, options).makespan, 5.5);
  options.pairOverlap = 1;
  Simulation result = simulate(schedule, one, options);
  EXPECT_EQ(result.makespan, 5);
  EXPECT_EQ(result.ideal, 5);
  EXPECT_EQ(result.actions[0][1].start, 1);
  EXPECT_EQ(result.actions[0][2].start, 1);
  EXPECT_EQ(result.actions[0][2].end, 3);
}

TEST(Simulate, RefusesTimesThatDoNotFit) {
  Schedule schedule = make("1f1b", 2, 2, 2);
  const StageGraph graph = StageGraph::chain(2);
  auto error = [&](const SimulationOptions &options) {
    auto result = simulateSchedule(schedule, graph, options);
    return result.ok() ? "no error" : result.status().message();
  };
  SimulationOptions options;
  options.stages.resize(3);
  EXPECT_EQ(error(options),
            "times of stages are given for 3, wanted none or 2");
  options = {};
  options.forward.resize(2);
  EXPECT_EQ(error(options),
            "times of value edges are given for 2, wanted none or 1");
  for (double bad : {-1.0, std::numeric_limits<double>::quiet_NaN(),
                     std::numeric_limits<double>::infinity()}) {
    options = sameStages(2, {1, bad, 1});
    EXPECT_NE(error(options).find("a time is negative"), std::string::npos);
    options = {};
    options.gradient = {{0, bad}};
    EXPECT_NE(error(options).find("a time is negative"), std::string::npos);
  }
  options = {};
  options.pairOverlap = 2;
  EXPECT_NE(error(options).find("overlap of pairs"), std::string::npos);
}

TEST(Simulate, StuckSchedulesAreNamed) {
  Schedule schedule = makeWithCommunication("1f1b", 2, 2, 1);
  schedule.lists[0].erase(schedule.lists[0].begin() + 1); // the send
  auto result = simulateSchedule(schedule, StageGraph::chain(2));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(),
            "the schedule gets stuck at rank 0, action 1: ReceiveGradient of "
            "stage 0 from stage 1, microbatch 0");
}

TEST(Simulate, TimelineIsCutAtTheLimitAndTakesOtherUnits) {
  Schedule schedule = make("1f1b", 2, 2, 2);
  Simulation result = simulate(schedule, StageGraph::chain(2));
  EXPECT_EQ(dumpTimeline(schedule, result),
            "rank 0: 0F0 0F1 -   -   0B0 .   -   0B1 .\n"
            "rank 1: -   1F0 1B0 .   1F1 1B1 .   -   -\n");
  EXPECT_EQ(dumpTimeline(schedule, result, 1, 3), "rank 0: 0F0 0F1 -\n"
                                                  "rank 1: -   1F0 1B0\n");
  EXPECT_EQ(dumpTimeline(schedule, result, 0, 1), "rank 0: 0F0\n"
                                                  "rank 1: -\n");
}

} // namespace

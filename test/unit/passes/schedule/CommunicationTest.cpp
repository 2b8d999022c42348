// Sends and receives: where they go, skip connections, frozen stages.
#include "test/unit/passes/schedule/Schedules.h"

using namespace pipec;
using namespace pipec::test;

namespace {

size_t countOf(const Schedule &schedule, Kind kind) {
  size_t count = 0;
  for (const ScheduleList &list : schedule.lists)
    for (const ScheduleAction &action : list)
      count += action.kind == kind;
  return count;
}

TEST(Communication, SendsFollowTheirComputeAndReceivesStandAtThatMoment) {
  EXPECT_EQ(dump(makeWithCommunication("1f1b", 2, 2, 2)),
            "1f1b: 2 stages on 2 ranks, 2 microbatches\n"
            "rank 0: 0F0      0SEND_F0 0F1      0SEND_F1 0RECV_B0 0B0 0RECV_B1 "
            "0B1\n"
            "rank 1: 1RECV_F0 1F0      1RECV_F1 1B0      1SEND_B0 1F1 1B1      "
            "1SEND_B1\n");
}

TEST(Communication, StagesOfOneRankNeedNone) {
  Schedule schedule = makeWithCommunication("zb-v", 4, 2, 4);
  // Four microbatches over the edges 0-1 and 2-3; 1-2 is on rank 1.
  EXPECT_EQ(countOf(schedule, Kind::SendForward), 8u);
  EXPECT_EQ(countOf(schedule, Kind::ReceiveGradient), 8u);
  EXPECT_TRUE(schedule.communicates);
  Schedule single = makeWithCommunication("gpipe", 1, 1, 4);
  EXPECT_EQ(single.lists, make("gpipe", 1, 1, 4).lists);
}

/// The value of stage 0 goes straight to 1 and 3, its gradient 3 -> 1 -> 0.
TEST(Communication, SkipConnections) {
  StageGraph graph = StageGraph::chain(4);
  graph.addValue(0, {1, 3}, {1, 3});
  for (const char *name : {"gpipe", "1f1b", "zb-h1"}) {
    Schedule schedule = make(name, 4, 4, 6);
    ASSERT_TRUE(addCommunication(schedule, graph).ok());
    EXPECT_TRUE(verifySchedule(schedule, graph).ok()) << name;
    EXPECT_EQ(countOf(schedule, Kind::SendForward), 24u);
    EXPECT_EQ(countOf(schedule, Kind::SendGradient), 24u);
    const ScheduleList &last = schedule.lists[3];
    EXPECT_EQ(std::count(last.begin(), last.end(),
                         ScheduleAction{Kind::SendGradient, 3, 0, 1}),
              1);
    EXPECT_EQ(std::count(last.begin(), last.end(),
                         ScheduleAction{Kind::ReceiveForward, 3, 5, 0}),
              1);
  }
}

/// Stage 0 is frozen, 1 the first trained one, 2 frozen behind it, 3 trained.
TEST(Communication, StagesWithoutWorkHaveNoActions) {
  StageGraph graph = StageGraph::chain(4);
  graph.gradient = {{2, 1}, {3, 2}};
  graph.backward = {BackwardWork::None, BackwardWork::WeightOnly,
                    BackwardWork::InputOnly, BackwardWork::Full};
  for (const char *name : {"1f1b", "zb-h1"}) {
    Schedule schedule = make(name, 4, 4, 3);
    ASSERT_TRUE(addCommunication(schedule, graph).ok());
    auto report = verifySchedule(schedule, graph);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->peakLive[0], 0);
    for (const ScheduleAction &action : schedule.lists[0])
      EXPECT_FALSE(action.isBackward()) << str(action);
    for (const ScheduleAction &action : schedule.lists[1])
      EXPECT_FALSE(action.kind == Kind::Backward ||
                   action.kind == Kind::BackwardInput ||
                   action.kind == Kind::SendGradient)
          << str(action);
    for (const ScheduleAction &action : schedule.lists[2])
      EXPECT_FALSE(action.kind == Kind::Backward ||
                   action.kind == Kind::BackwardWeight)
          << str(action);
  }
}

TEST(Communication, WithoutAnyTrainingOnlyForwardsAreLeft) {
  StageGraph graph = StageGraph::chain(4);
  graph.gradient.clear();
  graph.backward.assign(4, BackwardWork::None);
  for (const std::string &name : scheduleNames()) {
    Schedule schedule = make(name, 4, 0, 5);
    ASSERT_TRUE(addCommunication(schedule, graph).ok());
    EXPECT_TRUE(verifySchedule(schedule, graph).ok()) << name;
    for (const ScheduleList &list : schedule.lists)
      for (const ScheduleAction &action : list)
        EXPECT_FALSE(action.isBackward() || action.overlapsNext);
  }
}

TEST(Communication, AdaptingTwiceChangesNothing) {
  StageGraph graph = StageGraph::chain(4);
  graph.gradient = {{2, 1}, {3, 2}};
  graph.backward = {BackwardWork::None, BackwardWork::WeightOnly,
                    BackwardWork::InputOnly, BackwardWork::Full};
  Schedule once = make("dualpipe-v", 4, 2, 6);
  adaptBackward(once, graph);
  Schedule twice = once;
  adaptBackward(twice, graph);
  EXPECT_EQ(once.lists, twice.lists);
  EXPECT_TRUE(verifySchedule(once, graph).ok());
}

TEST(Communication, RemovedItIsAsBefore) {
  Schedule schedule = makeWithCommunication("dualpipe-v", 4, 2, 6);
  removeCommunication(schedule);
  EXPECT_EQ(schedule.lists, make("dualpipe-v", 4, 2, 6).lists);
  EXPECT_FALSE(schedule.communicates);
}

TEST(Communication, RefusesWhatIsDoneOrCannotRun) {
  Schedule schedule = makeWithCommunication("1f1b", 2, 2, 2);
  Status again = addCommunication(schedule, StageGraph::chain(2));
  EXPECT_EQ(again.message(), "the schedule has its sends and receives already");
  Schedule circle = make("1f1b", 2, 2, 2);
  // The last stage takes microbatch 1 first, the first waits for gradient 0.
  std::swap(circle.lists[0][1], circle.lists[0][2]);
  std::swap(circle.lists[1][0], circle.lists[1][2]);
  std::swap(circle.lists[1][1], circle.lists[1][3]);
  const ScheduleList before = circle.lists[0];
  Status status = addCommunication(circle, StageGraph::chain(2));
  EXPECT_EQ(status.message(),
            "the schedule gets stuck: rank 0, action 1: Backward of stage 0, "
            "microbatch 0 never gets the gradient from stage 1 to stage 0");
  EXPECT_EQ(circle.lists[0], before) << "a refused schedule stays as it was";
  EXPECT_FALSE(
      addCommunication(circle, StageGraph::chain(3)).message().empty());
}

/// Very short and very long stages: the order of events stays sound.
TEST(Communication, AnyTimesGiveListsThatRun) {
  for (const std::string &name : scheduleNames()) {
    Schedule schedule = make(name, 6, 0, 8);
    std::vector<StageTimes> times = {{0, 0, 0},   {1e9, 0, 0}, {0, 1e-9, 1},
                                     {3, 0, 1e6}, {0, 0, 0},   {1, 1, 1}};
    ASSERT_TRUE(addCommunication(schedule, StageGraph::chain(6), times).ok());
    EXPECT_TRUE(verifySchedule(schedule, StageGraph::chain(6)).ok()) << name;
  }
}

} // namespace

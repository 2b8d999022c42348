// How actions and schedules read, and the update at the end of a step.
#include "test/unit/passes/schedule/Schedules.h"

using namespace pipec;
using namespace pipec::test;

namespace {

TEST(Schedule, ActionsReadAsSentences) {
  EXPECT_EQ(str({Kind::BackwardInput, 1, 3}),
            "BackwardInput of stage 1, microbatch 3");
  EXPECT_EQ(str({Kind::SendForward, 0, 1, 2}),
            "SendForward of stage 0 to stage 2, microbatch 1");
  EXPECT_EQ(str({Kind::ReceiveGradient, 0, 1, 2}),
            "ReceiveGradient of stage 0 from stage 2, microbatch 1");
  EXPECT_EQ(str({Kind::ReduceGradients, 4, -1}), "ReduceGradients of stage 4");
  EXPECT_EQ(str({Kind::Step, -1, -1}), "Step");
}

TEST(Schedule, ShortTextsAreTorchsWithThePeerWhereItIsNoNeighbour) {
  EXPECT_EQ(shortText({Kind::Backward, 1, 3}), "1B3");
  EXPECT_EQ(shortText({Kind::SendForward, 0, 1, 1}), "0SEND_F1");
  EXPECT_EQ(shortText({Kind::SendForward, 0, 1, 2}), "0SEND_F1>2");
  EXPECT_EQ(shortText({Kind::ReceiveForward, 2, 1, 1}), "2RECV_F1");
  EXPECT_EQ(shortText({Kind::ReceiveForward, 2, 1, 0}), "2RECV_F1<0");
  EXPECT_EQ(shortText({Kind::SendGradient, 2, 1, 1}), "2SEND_B1");
  EXPECT_EQ(shortText({Kind::ReceiveGradient, 0, 1, 1}), "0RECV_B1");
}

TEST(Schedule, DumpIsAGridOfRanks) {
  EXPECT_EQ(dump(make("1f1b", 2, 2, 3)),
            "1f1b: 2 stages on 2 ranks, 3 microbatches\n"
            "rank 0: 0F0 0F1 0B0 0F2 0B1 0B2\n"
            "rank 1: 1F0 1B0 1F1 1B1 1F2 1B2\n");
  EXPECT_EQ(dump(make("dualpipe-v", 2, 1, 2)),
            "dualpipe-v: 2 stages on 1 ranks, 2 microbatches\n"
            "rank 0: 0F0 1F0 0F1 1B0 1F1& 0B0 1B1 0I1 0W1\n");
}

TEST(Schedule, UpdateReducesMarkedStagesThenSteps) {
  Schedule schedule = makeWithCommunication("interleaved-1f1b", 4, 2, 2);
  addUpdate(schedule, {true, false, true, false});
  const ScheduleList &first = schedule.lists[0];
  ASSERT_GT(first.size(), 3u);
  EXPECT_EQ(str(first[first.size() - 3]), "ReduceGradients of stage 0");
  EXPECT_EQ(str(first[first.size() - 2]), "ReduceGradients of stage 2");
  EXPECT_EQ(str(first.back()), "Step");
  EXPECT_EQ(str(schedule.lists[1].back()), "Step");
  EXPECT_FALSE(schedule.lists[1][schedule.lists[1].size() - 2].kind ==
               Kind::ReduceGradients);
  EXPECT_TRUE(verifySchedule(schedule, StageGraph::chain(4)).ok());
}

} // namespace

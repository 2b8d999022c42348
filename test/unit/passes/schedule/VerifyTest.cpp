// Every way in which a schedule can be wrong is refused, with the action named.
#include "test/unit/passes/schedule/Schedules.h"

using namespace pipec;
using namespace pipec::test;

namespace {

const StageGraph kChain = StageGraph::chain(2);

/// rank 0: 0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1
/// rank 1: 1RECV_F0 1F0 1RECV_F1 1B0 1SEND_B0 1F1 1B1 1SEND_B1
Schedule small() { return makeWithCommunication("1f1b", 2, 2, 2); }

TEST(Verify, ReportsPeaksAndOrder) {
  VerifyOptions options;
  options.memory = {{10, 4, 0}, {20, 8, 0}};
  auto report = verifySchedule(small(), kChain, options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->ascending);
  EXPECT_EQ(report->peakLive, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(report->peakMemory, (std::vector<double>{20, 20}));
}

TEST(Verify, MissingActions) {
  for (size_t rank = 0; rank < 2; ++rank)
    for (size_t i = 0; i < small().lists[rank].size(); ++i) {
      Schedule schedule = small();
      const std::string gone = str(schedule.lists[rank][i]);
      schedule.lists[rank].erase(schedule.lists[rank].begin() +
                                 static_cast<std::ptrdiff_t>(i));
      const std::string error = verifyError(schedule, kChain);
      EXPECT_EQ(error.rfind("rank " + std::to_string(rank) + ": ", 0), 0u)
          << error;
      EXPECT_NE(error.find(" is missing"), std::string::npos) << error;
      // "Backward of ..." reads "BackwardInput (or Backward) of ...".
      EXPECT_NE(error.find(gone.substr(gone.find(" of "))), std::string::npos)
          << error << " for " << gone;
    }
}

TEST(Verify, ActionsThatComeTwice) {
  Schedule schedule = small();
  schedule.lists[0].push_back({Kind::Forward, 0, 1});
  EXPECT_EQ(verifyError(schedule, kChain),
            "rank 0, action 8: Forward of stage 0, microbatch 1: it is there a "
            "second time");
  schedule = small();
  schedule.lists[1].push_back({Kind::SendGradient, 1, 0, 0});
  EXPECT_EQ(verifyError(schedule, kChain),
            "rank 1, action 8: SendGradient of stage 1 to stage 0, microbatch "
            "0: it is there a second time");
  schedule = small();
  schedule.lists[1].push_back({Kind::BackwardWeight, 1, 0});
  EXPECT_EQ(verifyError(schedule, kChain),
            "rank 1, action 8: BackwardWeight of stage 1, microbatch 0: it is "
            "there a second time");
}

TEST(Verify, Order) {
  Schedule schedule = make("zb-h1", 1, 1, 2); // F0 I0 W0 F1 I1 W1
  std::swap(schedule.lists[0][0], schedule.lists[0][1]);
  const StageGraph one = StageGraph::chain(1);
  EXPECT_EQ(verifyError(schedule, one),
            "rank 0, action 0: BackwardInput of stage 0, microbatch 0 comes "
            "before the Forward of stage 0");
  schedule = make("zb-h1", 1, 1, 2);
  std::swap(schedule.lists[0][1], schedule.lists[0][2]);
  EXPECT_EQ(verifyError(schedule, one),
            "rank 0, action 1: BackwardWeight of stage 0, microbatch 0 comes "
            "before the input gradients of stage 0");
  schedule = small();
  std::swap(schedule.lists[1][0], schedule.lists[1][1]);
  EXPECT_EQ(verifyError(schedule, kChain),
            "rank 1, action 0: Forward of stage 1, microbatch 0 comes before "
            "the values from stage 0 to stage 1 are received");
  schedule = small();
  std::swap(schedule.lists[0][4], schedule.lists[0][5]);
  EXPECT_EQ(verifyError(schedule, kChain),
            "rank 0, action 4: Backward of stage 0, microbatch 0 comes before "
            "the gradient from stage 1 to stage 0 is received");
  schedule = small();
  std::swap(schedule.lists[0][0], schedule.lists[0][1]);
  EXPECT_EQ(verifyError(schedule, kChain),
            "rank 0, action 0: SendForward of stage 0 to stage 1, microbatch 0 "
            "comes before the Forward of stage 0");
}

TEST(Verify, SwappedSends) {
  Schedule schedule = makeWithCommunication("gpipe", 2, 2, 2);
  // rank 0: 0F0 0SEND_F0 0F1 0SEND_F1 ... becomes 0F0 0F1 0SEND_F1 0SEND_F0.
  ScheduleList &list = schedule.lists[0];
  std::swap(list[1], list[2]);
  std::swap(list[2], list[3]);
  EXPECT_EQ(verifyError(schedule, kChain),
            "deadlock: sends and receives are in different orders, rank 0, "
            "action 2: SendForward of stage 0 to stage 1, microbatch 1 meets "
            "rank 1, action 0: ReceiveForward of stage 1 from stage 0, "
            "microbatch 0");
}

/// Both ranks send first: fine with queues, not with sends that block.
TEST(Verify, Circle) {
  Schedule schedule = makeWithCommunication("1f1b", 2, 2, 3);
  // rank 0: ... F1 SEND_F1 RECV_B0 B0 F2 SEND_F2 ...; rank 1: RECV_F0 F0
  // RECV_F1 B0 ...: let rank 1 take F1's values after its gradient is sent.
  ScheduleList &list = schedule.lists[1];
  auto receive = std::find(list.begin(), list.end(),
                           ScheduleAction{Kind::ReceiveForward, 1, 1, 0});
  auto send = std::find(list.begin(), list.end(),
                        ScheduleAction{Kind::SendGradient, 1, 0, 0});
  ASSERT_LT(receive, send);
  std::rotate(receive, receive + 1, send + 1);
  EXPECT_EQ(verifyError(schedule, kChain),
            "deadlock: rank 0, action 3: SendForward of stage 0 to stage 1, "
            "microbatch 1 waits for rank 1, action 3: SendGradient of stage 1 "
            "to stage 0, microbatch 0, which waits for rank 0");
}

TEST(Verify, CircleOfComputeActions) {
  Schedule schedule = make("1f1b", 2, 2, 2); // F0 F1 B0 B1 | F0 B0 F1 B1
  std::swap(schedule.lists[0][1], schedule.lists[0][2]);
  std::swap(schedule.lists[1][0], schedule.lists[1][2]);
  std::swap(schedule.lists[1][1], schedule.lists[1][3]);
  EXPECT_EQ(verifyError(schedule, kChain),
            "deadlock: rank 0, action 1: Backward of stage 0, microbatch 0 "
            "waits for rank 1, action 0: Forward of stage 1, microbatch 1, "
            "which waits for rank 0");
}

TEST(Verify, WrongRank) {
  Schedule schedule = small();
  schedule.lists[0].push_back(schedule.lists[1].back());
  schedule.lists[1].pop_back();
  EXPECT_EQ(verifyError(schedule, kChain),
            "rank 0, action 8: SendGradient of stage 1 to stage 0, microbatch "
            "1: stage 1 is on rank 1");
  schedule = small();
  schedule.rankOfStage = {0, 5};
  EXPECT_EQ(verifyError(schedule, kChain), "stage 1 is on rank 5 of 2");
  schedule.rankOfStage = {0};
  EXPECT_EQ(verifyError(schedule, kChain), "ranks are given for 1 stages of 2");
}

TEST(Verify, TooMuchMemory) {
  Schedule schedule = makeWithCommunication("gpipe", 2, 2, 3);
  VerifyOptions options;
  options.maxLive = 2;
  auto report = verifySchedule(schedule, kChain, options);
  EXPECT_EQ(report.status().getCode(), StatusCode::ResourceExhausted);
  EXPECT_EQ(report.status().message(),
            "rank 0, action 4: Forward of stage 0, microbatch 2 would make 3 "
            "activations alive, the limit is 2");
  options.maxLive = 3;
  options.memory = {{1, 1, 0}, {100, 1, 0}};
  options.maxMemory = 250;
  report = verifySchedule(schedule, kChain, options);
  EXPECT_EQ(report.status().getCode(), StatusCode::ResourceExhausted);
  EXPECT_EQ(report.status().message(),
            "rank 1, action 5: Forward of stage 1, microbatch 2 would hold 300 "
            "bytes, the limit is 250 bytes");
  options.memory.pop_back();
  EXPECT_EQ(verifyError(schedule, kChain, options),
            "sizes are given for 1 stages of 2");
}

TEST(Verify, NumbersOutOfRange) {
  auto withAction = [](ScheduleAction action) {
    Schedule schedule = small();
    schedule.lists[0][2] = action;
    return verifyError(schedule, kChain);
  };
  EXPECT_EQ(withAction({Kind::Forward, 2, 0}),
            "rank 0, action 2: Forward of stage 2, microbatch 0: there are "
            "stages 0 to 1");
  EXPECT_EQ(withAction({Kind::Forward, -1, 0}),
            "rank 0, action 2: Forward of stage -1, microbatch 0: there are "
            "stages 0 to 1");
  EXPECT_EQ(withAction({Kind::Forward, 0, 2}),
            "rank 0, action 2: Forward of stage 0, microbatch 2: there are "
            "microbatches 0 to 1");
  EXPECT_EQ(withAction({Kind::SendForward, 0, 0, 7}),
            "rank 0, action 2: SendForward of stage 0 to stage 7, microbatch "
            "0: there are stages 0 to 1");
  Schedule huge = small();
  huge.microbatches = INT64_MAX / 2;
  EXPECT_NE(verifyError(huge, kChain).find("actions cannot be complete"),
            std::string::npos);
  huge.microbatches = 0;
  EXPECT_EQ(verifyError(huge, kChain), "the schedule has 0 microbatches");
  EXPECT_EQ(verifyError(small(), StageGraph::chain(3)),
            "the schedule is for 2 stages, the model has 3");
}

TEST(Verify, SendsWithoutAnEdge) {
  Schedule schedule = makeWithCommunication("1f1b", 3, 3, 2);
  schedule.lists[0].push_back({Kind::SendForward, 0, 0, 2});
  const StageGraph chain = StageGraph::chain(3);
  EXPECT_NE(verifyError(schedule, chain)
                .find("SendForward of stage 0 to stage 2, microbatch 0: no "
                      "value goes between these stages"),
            std::string::npos);
  schedule = makeWithCommunication("zb-v", 4, 2, 3);
  schedule.lists[1].push_back({Kind::SendForward, 1, 0, 2});
  EXPECT_NE(verifyError(schedule, StageGraph::chain(4))
                .find("both stages are on the same rank"),
            std::string::npos);
  schedule = small();
  schedule.communicates = false;
  EXPECT_NE(verifyError(schedule, kChain)
                .find("marked as one without sends and receives"),
            std::string::npos);
}

TEST(Verify, WorkThatAStageDoesNotHave) {
  StageGraph graph = kChain;
  graph.gradient.clear();
  graph.backward = {BackwardWork::None, BackwardWork::WeightOnly};
  Schedule schedule = make("1f1b", 2, 2, 1);
  EXPECT_EQ(verifyError(schedule, graph),
            "rank 0, action 1: Backward of stage 0, microbatch 0: stage 0 has "
            "no input gradients");
  adaptBackward(schedule, graph);
  EXPECT_TRUE(verifySchedule(schedule, graph).ok());
}

TEST(Verify, Pairs) {
  Schedule schedule = make("gpipe", 1, 1, 2); // F0 F1 B0 B1
  const StageGraph one = StageGraph::chain(1);
  schedule.lists[0][1].overlapsNext = true;
  EXPECT_TRUE(verifySchedule(schedule, one).ok());
  schedule.lists[0][0].overlapsNext = true;
  EXPECT_NE(verifyError(schedule, one)
                .find("only a Forward and a backward action after it can"),
            std::string::npos);
  schedule = make("1f1b", 1, 1, 2); // F0 B0 F1 B1
  schedule.lists[0][0].overlapsNext = true;
  EXPECT_NE(verifyError(schedule, one)
                .find("its own backward action cannot overlap it"),
            std::string::npos);
  schedule.lists[0][0].overlapsNext = false;
  schedule.lists[0].back().overlapsNext = true;
  EXPECT_NE(verifyError(schedule, one).find("can overlap"), std::string::npos);
}

TEST(Verify, UpdateComesLastOnEveryRank) {
  Schedule schedule = small();
  addUpdate(schedule, {true, true});
  EXPECT_TRUE(verifySchedule(schedule, kChain).ok());
  Schedule early = schedule;
  std::swap(early.lists[0][7], early.lists[0][8]); // 0B1 and the reduction
  EXPECT_EQ(verifyError(early, kChain),
            "rank 0, action 8: Backward of stage 0, microbatch 1: it comes "
            "after its stage's ReduceGradients");
  Schedule twice = schedule;
  twice.lists[1].insert(twice.lists[1].end() - 1,
                        {Kind::ReduceGradients, 1, -1});
  EXPECT_NE(verifyError(twice, kChain).find("a second time"),
            std::string::npos);
  Schedule middle = schedule;
  std::swap(middle.lists[0][8], middle.lists[0][9]);
  EXPECT_EQ(verifyError(middle, kChain),
            "rank 0, action 8: Step: nothing may follow it");
  Schedule half = schedule;
  half.lists[1].pop_back();
  EXPECT_EQ(verifyError(half, kChain),
            "rank 1: Step is missing, although other ranks have it");
}

/// torch's looped-bfs runs backwards in descending order: allowed, noticed, and
/// the weight gradients that wait for their turn are counted.
TEST(Verify, OtherMicrobatchOrders) {
  auto read = readScheduleCsv("0F0,0F1,0F2,0B2,0B0,0B1\n");
  ASSERT_TRUE(read.ok());
  VerifyOptions options;
  options.memory = {{1, 1, 10}};
  auto report = verifySchedule(*read, StageGraph::chain(1), options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_FALSE(report->ascending);
  EXPECT_EQ(report->peakLive[0], 3);
  EXPECT_EQ(report->peakMemory[0], 12); // after B2: two live, one waits
}

} // namespace

// What each schedule accepts, how stages are placed, and drawn timetables.
#include "test/unit/passes/schedule/Schedules.h"

using namespace pipec;
using namespace pipec::test;

namespace {

TEST(Generate, DefaultRanks) {
  for (const char *name : {"gpipe", "1f1b", "zb-h1"})
    EXPECT_EQ(make(name, 6, 0, 4).ranks(), 6) << name;
  for (const char *name :
       {"interleaved-1f1b", "looped-bfs", "interleaved-zb"}) {
    EXPECT_EQ(make(name, 1, 0, 4).ranks(), 1) << name;
    EXPECT_EQ(make(name, 2, 0, 4).ranks(), 1) << name;
    EXPECT_EQ(make(name, 8, 0, 4).ranks(), 4) << name;
    // Odd: as many as share evenly with more than one stage each, or one each.
    EXPECT_EQ(make(name, 9, 0, 4).ranks(), 3) << name;
    EXPECT_EQ(make(name, 15, 0, 4).ranks(), 5) << name;
    EXPECT_EQ(make(name, 7, 0, 4).ranks(), 7) << name;
  }
  for (const char *name : {"zb-v", "dualpipe-v"})
    EXPECT_EQ(make(name, 8, 0, 8).ranks(), 4) << name;
}

TEST(Generate, Placement) {
  EXPECT_EQ(make("looped-bfs", 6, 2, 2).rankOfStage,
            (std::vector<int64_t>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(make("zb-v", 6, 3, 2).rankOfStage,
            (std::vector<int64_t>{0, 1, 2, 2, 1, 0}));
}

TEST(Generate, OneStageIsOneForwardAndOneBackwardAMicrobatch) {
  for (const char *name : {"gpipe", "1f1b", "zb-h1", "looped-bfs",
                           "interleaved-1f1b", "interleaved-zb"}) {
    Schedule schedule = make(name, 1, 0, 3);
    EXPECT_EQ(simulate(schedule, StageGraph::chain(1)).makespan, 9) << name;
    EXPECT_TRUE(verifySchedule(schedule, StageGraph::chain(1)).ok()) << name;
  }
}

TEST(Generate, InterleavedOnOneStageARankIsThePlainOne) {
  EXPECT_EQ(make("interleaved-1f1b", 4, 4, 6).lists,
            make("1f1b", 4, 4, 6).lists);
  EXPECT_EQ(make("interleaved-zb", 4, 4, 6).lists,
            make("zb-h1", 4, 4, 6).lists);
  EXPECT_EQ(make("looped-bfs", 4, 4, 6).lists, make("gpipe", 4, 4, 6).lists);
}

/// Groups differ by one where ranks do not divide the microbatches.
TEST(Generate, InterleavedTakesAnyNumberOfMicrobatches) {
  Schedule schedule = make("interleaved-1f1b", 6, 3, 7);
  std::string forwards;
  for (const ScheduleAction &action : schedule.lists[0])
    if (action.kind == Kind::Forward)
      forwards += shortText(action) + " ";
  EXPECT_EQ(forwards, "0F0 0F1 0F2 0F3 3F0 3F1 3F2 3F3 "
                      "0F4 0F5 0F6 3F4 3F5 3F6 ");
}

TEST(Generate, RefusalsSayWhatWouldWork) {
  EXPECT_EQ(makeError("pipedream", 4, 0, 4),
            "there is no schedule 'pipedream', but gpipe, 1f1b, "
            "interleaved-1f1b, looped-bfs, zb-h1, interleaved-zb, zb-v and "
            "dualpipe-v; a schedule of your own is a file that ends in .csv");
  EXPECT_EQ(makeError("1f1b", 8, 4, 4),
            "1f1b runs one stage a rank, got 8 stages on 4 ranks: give it 8 "
            "ranks, or take looped-bfs, interleaved-1f1b or interleaved-zb");
  EXPECT_EQ(makeError("looped-bfs", 6, 4, 4),
            "looped-bfs deals stages out evenly, got 6 stages on 4 ranks: give "
            "it 1, 2, 3 or 6 ranks");
  EXPECT_EQ(makeError("zb-v", 3, 0, 4),
            "zb-v runs two stages a rank, so it needs an even number, got 3 "
            "stages: cut the model into 4, or take zb-h1 or 1f1b, which run "
            "one stage a rank");
  EXPECT_EQ(makeError("zb-v", 1, 0, 4),
            "zb-v runs two stages a rank, so it needs an even number, got 1 "
            "stage: cut the model into 2, or take zb-h1 or 1f1b, which run "
            "one stage a rank");
  EXPECT_EQ(makeError("zb-v", 8, 2, 4),
            "zb-v runs two stages a rank, got 8 stages on 2 ranks: give it 4 "
            "ranks, or take interleaved-zb");
  EXPECT_EQ(makeError("dualpipe-v", 8, 4, 7),
            "dualpipe-v needs at least as many microbatches as stages, got 7 "
            "microbatches for 8 stages: give it 8, or take zb-v, which needs "
            "no more than one");
  EXPECT_EQ(makeError("1f1b", 2, 3, 4),
            "3 ranks for 2 stages: every rank needs a stage: give it 2 ranks "
            "or fewer");
}

TEST(Generate, SizesOutOfRange) {
  for (const std::string &name : scheduleNames()) {
    EXPECT_NE(makeError(name, 0, 0, 4).find("needs at least one stage"),
              std::string::npos);
    EXPECT_NE(makeError(name, 4, -1, 4).find("needs at least one stage"),
              std::string::npos);
    EXPECT_NE(makeError(name, 4, 0, 0).find("needs at least one stage"),
              std::string::npos);
    EXPECT_NE(makeError(name, 4, 0, INT64_MAX).find("are too many"),
              std::string::npos);
    EXPECT_NE(makeError(name, INT64_MAX, 0, 4).find("are too many"),
              std::string::npos);
  }
}

/// The timetables of the generators' comments, in full.
TEST(Generate, Timetables) {
  auto timeline = [](const char *name, int64_t stages, int64_t ranks,
                     int64_t microbatches) {
    Schedule schedule = make(name, stages, ranks, microbatches);
    return dumpTimeline(schedule,
                        simulate(schedule, StageGraph::chain(stages)));
  };
  EXPECT_EQ(
      timeline("looped-bfs", 4, 2, 2),
      "rank 0: 0F0 0F1 2F0 2F1 -   -   -   2B0 .   2B1 .   0B0 .   0B1 .\n"
      "rank 1: -   1F0 1F1 3F0 3F1 3B0 .   3B1 .   1B0 .   1B1 .   -   -\n");
  EXPECT_EQ(timeline("1f1b", 2, 2, 3),
            "rank 0: 0F0 0F1 -   -   0B0 .   0F2 0B1 .   -   0B2 .\n"
            "rank 1: -   1F0 1B0 .   1F1 1B1 .   1F2 1B2 .   -   -\n");
  EXPECT_EQ(timeline("zb-h1", 2, 2, 3),
            "rank 0: 0F0 0F1 -   0I0 0W0 0F2 0I1 0W1 0I2 0W2\n"
            "rank 1: -   1F0 1I0 1F1 1I1 1W0 1F2 1I2 1W1 1W2\n");
  EXPECT_EQ(timeline("zb-v", 4, 2, 3),
            "rank 0: 0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 0I0 0W0 3F2 3I2 3W2 "
            "0I1 0W1 0I2 0W2 -\n"
            "rank 1: -   1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 2F2 2I1 2W1 1I1 "
            "2I2 1I2 1W1 2W2 1W2\n");
}

} // namespace

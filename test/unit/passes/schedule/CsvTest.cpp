// torch's CSV format: what is read and written, and cells that are refused.
// Texts without an origin are as torch 2.15 writes them.
#include "test/unit/passes/schedule/Schedules.h"

#include <random>

using namespace pipec;
using namespace pipec::test;

namespace {

std::string readError(const std::string &text) {
  auto read = readScheduleCsv(text);
  return read.ok() ? "no error" : read.status().message();
}

TEST(Csv, WritesComputeActions) {
  EXPECT_EQ(*writeScheduleCsv(make("zb-h1", 2, 2, 2)),
            "0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1I0,1F1,1I1,1W0,1W1\n");
  EXPECT_EQ(*writeScheduleCsv(make("dualpipe-v", 4, 2, 4)),
            "0F0,0F1,0F2,3F0,3I0,3W0,3F1,(0F3;3B1)OVERLAP_F_B,"
            "(3F2;0B0)OVERLAP_F_B,3B2,(3F3;0B1)OVERLAP_F_B,3B3,0I2,0W2,0I3,0W3"
            "\n"
            "1F0,2F0,1F1,2F1,1F2,2B0,(2F2;1B0)OVERLAP_F_B,(1F3;2B1)OVERLAP_F_B,"
            "(2F3;1B1)OVERLAP_F_B,2B2,1B2,2I3,1I3,2W3,1W3\n");
}

TEST(Csv, RoundTrips) {
  for (const std::string &name : scheduleNames())
    for (bool communication : {false, true}) {
      Schedule schedule = communication ? makeWithCommunication(name, 6, 0, 7)
                                        : make(name, 6, 0, 7);
      auto text = writeScheduleCsv(schedule, communication);
      ASSERT_TRUE(text.ok()) << text.status().message();
      auto read = readScheduleCsv(*text, name);
      ASSERT_TRUE(read.ok()) << read.status().message();
      EXPECT_EQ(read->lists, schedule.lists) << name;
      EXPECT_EQ(read->rankOfStage, schedule.rankOfStage);
      EXPECT_EQ(read->stages, 6);
      EXPECT_EQ(read->microbatches, 7);
      EXPECT_EQ(read->communicates, communication);
      EXPECT_TRUE(verifySchedule(*read, StageGraph::chain(6)).ok());
    }
}

/// Idle cells, spaces, Windows line ends, quotes and a byte order mark; what
/// has no counterpart here is left out.
TEST(Csv, ReadsWhatPeopleAndToolsWrite) {
  auto read = readScheduleCsv("\xEF\xBB\xBF 0F0 ,, 0F1,,\"0B0\",0B1,\r\n"
                              ",1F0,1B0,1F1,1B1\r\n\r\n");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->lists, make("1f1b", 2, 2, 2).lists);
  read = readScheduleCsv(
      "0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0WAIT_SEND_F0,0REDUCE_GRAD,"
      "0WAIT_REDUCE_GRAD,0RESHARD\n"
      "1UNSHARD,1RECV_F0,1F0,1B0,1SEND_B0,1WAIT_SEND_B0,1REDUCE_GRAD\n");
  ASSERT_TRUE(read.ok()) << read.status().message();
  Schedule expected = makeWithCommunication("1f1b", 2, 2, 1);
  for (int64_t rank : {0, 1})
    expected.lists[static_cast<size_t>(rank)].push_back(
        {Kind::ReduceGradients, rank, -1});
  EXPECT_EQ(read->lists, expected.lists);
  EXPECT_TRUE(verifySchedule(*read, StageGraph::chain(2)).ok());
}

/// Hand-written, stages 0, 1, 4 on one rank and 2, 3 on the other.
TEST(Csv, AnyPlacementCanBeRunAndGivenSends) {
  auto read = readScheduleCsv("0F0,1F0,0F1,1F1,,4F0,4B0,4F1,4B1,,1B0,0B0,1B1,"
                              "0B1\n,,2F0,3F0,2F1,3F1,,3B0,2B0,3B1,2B1\n");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->rankOfStage, (std::vector<int64_t>{0, 0, 1, 1, 0}));
  const StageGraph graph = StageGraph::chain(5);
  ASSERT_TRUE(addCommunication(*read, graph).ok());
  EXPECT_TRUE(verifySchedule(*read, graph).ok());
}

TEST(Csv, ErrorsNameTheCell) {
  const std::string expected =
      " is not an action; expected a stage, F, B, I, W, SEND_F, RECV_F, "
      "SEND_B, RECV_B or REDUCE_GRAD, and a microbatch, as in 2F0";
  for (const char *bad : {"F0", "0X0", "0F", "0F0x", "-1F0", "0f0", "0F0.5",
                          "0SEND_F", "0UNSHARD_F0", "F", "0", "0F0 1F0"})
    EXPECT_EQ(readError(std::string("0F0,0B0\n1F0,") + bad + ",1B0\n"),
              std::string("row 2 (rank 1), column 2: '") + bad + "'" +
                  expected);
  EXPECT_EQ(readError("0F0,0B99999999999999999999"),
            "row 1 (rank 0), column 2: '0B99999999999999999999' has a number "
            "as large "
            "as the file has cells, 2, so the schedule cannot be complete");
  EXPECT_EQ(
      readError("0F0,4000000000F0,0B0").rfind("row 1 (rank 0), column 2: ", 0),
      0u);
  EXPECT_EQ(
      readError("0F0,0SEND_B0,0B0"),
      "row 1 (rank 0), column 2: '0SEND_B0' has no stage before it to exchange "
      "values with");
  EXPECT_EQ(readError("0F0,\x1b[31m\n").substr(0, 33),
            "row 1 (rank 0), column 2: '?[31m'");
  EXPECT_EQ(readError(std::string(1000, 'F')).find("...' is not an action"),
            27u + 40u);
}

TEST(Csv, PairErrors) {
  const std::string expected = " is not a pair; expected a forward and a "
                               "backward, as in (2F3;1B0)OVERLAP_F_B";
  for (const char *bad :
       {"(0F0;0B0)", "(0F0)OVERLAP_F_B", "(0F0;)OVERLAP_F_B",
        "(0B0;0F0)OVERLAP_F_B", "(0F0;0F1)OVERLAP_F_B", "()OVERLAP_F_B", "(",
        "(0F0;0B0)OVERLAP", "(0F0;0B0;0W0)OVERLAP_F_B",
        "(0UNSHARD;0B0)OVERLAP_F_B", "(0F0;0B0OVERLAP_F_B"})
    EXPECT_EQ(readError(std::string("0F0,0F1,0B0,0B1,") + bad),
              std::string("row 1 (rank 0), column 5: '") + bad + "'" +
                  expected);
  EXPECT_NE(readError("(0F0;0Q0)OVERLAP_F_B").find("'0Q0' is not an action"),
            std::string::npos);
}

TEST(Csv, IncompleteFiles) {
  for (const char *empty : {"", "\n\n", " \t\n", "\r\n"})
    EXPECT_EQ(readError(empty), "the file is empty; expected a row a rank, as "
                                "in 0F0,0B0");
  EXPECT_EQ(readError(",,,\n,,"), "the schedule has no actions; expected a row "
                                  "a rank, as in 0F0,0B0");
  EXPECT_EQ(readError("0F0,0B0\n2F0,2B0"),
            "the schedule has no action of stage 1, but of stage 2");
  // Too few rows: what is read is for the verifier to judge.
  auto read = readScheduleCsv("0F0,1F0,0B0\n");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(verifyError(*read, StageGraph::chain(2)),
            "row 1 (rank 0): '1B0' (or '1I0') is missing");
}

TEST(Csv, TheVerifierNamesActionsAsWritten) {
  auto errorOf = [](const char *text) {
    auto read = readScheduleCsv(text);
    EXPECT_TRUE(read.ok()) << read.status().message();
    StageGraph graph = StageGraph::chain(2);
    graph.backward = {BackwardWork::WeightOnly, BackwardWork::Full};
    adaptBackward(*read, graph);
    return verifyError(*read, graph);
  };
  EXPECT_EQ(errorOf("0F0,,0B0\n1F0,1B0\n"), "no error");
  EXPECT_EQ(errorOf("0F0,,0B0,0B0\n1F0,1B0\n"),
            "row 1 (rank 0), column 4: '0B0': it is there a second time");
  EXPECT_EQ(errorOf("0F0\n1F0,1B0\n"),
            "row 1 (rank 0): '0B0' (or '0W0') is missing");
  EXPECT_EQ(errorOf("0B0,0F0\n1F0,1B0\n"),
            "row 1 (rank 0), column 1: '0B0' comes before the Forward of stage "
            "0");
  EXPECT_EQ(errorOf("0F0,0B0\n1F0,1B0,0B0\n"),
            "row 2 (rank 1), column 3: '0B0': stage 0 is on row 1 (rank 0)");
}

std::string communicationError(const std::string &text) {
  auto read = readScheduleCsv(text);
  if (!read.ok())
    return read.status().message();
  Status status = checkWrittenCommunication(*read);
  return status.ok() ? "no error" : status.message();
}

TEST(Csv, SendsAndReceivesAreHeldToTheFile) {
  for (const std::string &name : scheduleNames())
    for (int64_t stages : {1, 2, 4})
      for (int64_t m : {4, 8})
        if (auto made = makeSchedule(name, stages, 0, m); made.ok()) {
          auto text =
              writeScheduleCsv(makeWithCommunication(name, stages, 0, m), true);
          ASSERT_TRUE(text.ok());
          EXPECT_EQ(communicationError(*text), "no error") << name;
        }
  // As torch has it: both ranks send before they receive.
  EXPECT_EQ(communicationError(
                "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
                "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n"),
            "no error");
  const char *cases[][2] = {
      {"0F0,0F1,0SEND_F1,0SEND_F0\n1RECV_F0,1F0,1RECV_F1,1F1\n",
       "sends and receives are in different orders: row 2 (rank 1), column 1: "
       "'1RECV_F0' meets row 1 (rank 0), column 3: '0SEND_F1'"},
      {"0F0,0SEND_F0,0F1\n1RECV_F0,1F0,1RECV_F1,1F1\n",
       "row 1 (rank 0): '0SEND_F1' is missing"},
      {"0F0,0SEND_F0\n1F0\n", "row 2 (rank 1): '1RECV_F0' is missing"},
      {"0SEND_F0,0F0\n1RECV_F0,1F0\n",
       "row 1 (rank 0), column 1: '0SEND_F0' comes before the Forward"},
      {"0F0,0SEND_F0\n1F0,1RECV_F0\n",
       "row 2 (rank 1), column 1: '1F0' comes before"},
      {"0F0,0SEND_F0,0SEND_F0\n1RECV_F0,1F0\n", "it is there a second time"},
      {"0F0,1F0,0SEND_F0\n", "both stages are on the same rank"},
      {"0RECV_B0,0F0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", "deadlock"},
  };
  for (const auto &[text, words] : cases)
    EXPECT_NE(communicationError(text).find(words), std::string::npos)
        << text << communicationError(text);
}

TEST(Csv, SkipsCannotBeWrittenWithSends) {
  StageGraph graph = StageGraph::chain(3);
  graph.addValue(0, {2}, {2});
  Schedule schedule = make("1f1b", 3, 3, 2);
  ASSERT_TRUE(addCommunication(schedule, graph).ok());
  auto text = writeScheduleCsv(schedule, true);
  EXPECT_EQ(text.status().getCode(), StatusCode::Unsupported);
  EXPECT_EQ(text.status().message().rfind(
                "SendForward of stage 0 to stage 2, microbatch 0 goes past", 0),
            0u);
  EXPECT_EQ(*writeScheduleCsv(schedule),
            *writeScheduleCsv(make("1f1b", 3, 3, 2)));
}

/// Damaged files are read, refused or found wrong; nothing else.
TEST(Csv, DamagedFilesDoNoHarm) {
  std::mt19937 random(1);
  const std::string letters = "0123456789FBIW,;()\n\"_SENDRECVOVERLAP \xff";
  for (const char *name : {"dualpipe-v", "1f1b"}) {
    const std::string good =
        *writeScheduleCsv(makeWithCommunication(name, 4, 0, 4), true);
    for (int round = 0; round < 3000; ++round) {
      std::string text = good;
      for (unsigned n = 1 + random() % 4; n > 0; --n) {
        const size_t at = random() % text.size();
        const char letter = letters[random() % letters.size()];
        switch (random() % 3) {
        case 0:
          text[at] = letter;
          break;
        case 1:
          text.insert(at, 1, letter);
          break;
        default:
          text.erase(at, 1 + random() % 6);
        }
      }
      auto read = readScheduleCsv(text);
      if (!read.ok())
        continue;
      const StageGraph graph = StageGraph::chain(read->stages);
      auto report = verifySchedule(*read, graph);
      auto simulated = simulateSchedule(*read, graph);
      EXPECT_TRUE(!report.ok() || simulated.ok()) << text;
    }
  }
}

} // namespace

// Action lists: order within and over microbatches.
#include "runtime/executor/actions.h"

#include <gtest/gtest.h>

namespace pipec {
namespace {

std::string dump(const ActionList &list) {
  std::string text;
  for (const Action &action : list)
    text += str(action) + "\n";
  return text;
}

TEST(ActionsTest, MiddleStage) {
  StageRouting routing;
  routing.receives = {0, 2};
  routing.sends = {3};
  EXPECT_EQ(dump(forwardActions(routing, 2, false)),
            "receive transfer 0, microbatch 0\n"
            "receive transfer 2, microbatch 0\n"
            "forward, microbatch 0\n"
            "send transfer 3, microbatch 0\n"
            "release transfer 0, microbatch 0\n"
            "release transfer 2, microbatch 0\n"
            "receive transfer 0, microbatch 1\n"
            "receive transfer 2, microbatch 1\n"
            "forward, microbatch 1\n"
            "send transfer 3, microbatch 1\n"
            "release transfer 0, microbatch 1\n"
            "release transfer 2, microbatch 1\n");
}

TEST(ActionsTest, LastStageReports) {
  StageRouting routing;
  routing.receives = {1};
  routing.emits = {0};
  EXPECT_EQ(dump(forwardActions(routing, 1, true)),
            "receive transfer 1, microbatch 0\n"
            "forward, microbatch 0\n"
            "emit output 0, microbatch 0\n"
            "release transfer 1, microbatch 0\n"
            "report, microbatch 0\n");
}

TEST(ActionsTest, StageWithoutBorders) {
  EXPECT_EQ(forwardActions({}, 3, false).size(), 3u);
}

} // namespace
} // namespace pipec

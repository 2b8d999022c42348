// Split points against module paths: calls, patterns, equal places, and what is
// refused.
#include "test/unit/passes/partition/GraphText.h"

#include <gtest/gtest.h>

using namespace pipec;
using namespace pipec::pipe;
using test::GraphText;

namespace {

std::vector<int64_t> positions(const std::vector<std::string> &paths,
                               const std::vector<std::string> &splits) {
  GraphText text(GraphText::chain(paths));
  auto plan = planFromSplits(collectGraphNodes(text.graph), splits);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  std::vector<int64_t> result;
  if (plan.ok())
    for (const Cut &cut : plan->cuts)
      result.push_back(cut.position);
  return result;
}

std::string refusal(const std::vector<std::string> &paths,
                    const std::vector<std::string> &splits) {
  GraphText text(GraphText::chain(paths));
  auto plan = planFromSplits(collectGraphNodes(text.graph), splits);
  return plan.ok() ? "" : plan.status().message();
}

using Positions = std::vector<int64_t>;

TEST(SplitPoints, CutsBeforeTheFirstAndBehindTheLastOp) {
  EXPECT_EQ(positions({"a", "a.x", "b", "b"}, {"a:END"}), Positions({2}));
  EXPECT_EQ(positions({"a", "a.x", "b", "b"}, {"b:BEGIN"}), Positions({2}));
  EXPECT_EQ(positions({"a", "b", "c"}, {"b: END", "a:end"}), Positions({1, 2}));
}

TEST(SplitPoints, EqualPlacesAreOneCut) {
  EXPECT_EQ(positions({"a", "b", "c"}, {"a:END", "b:BEGIN", "a:END"}),
            Positions({1}));
}

TEST(SplitPoints, HoldAtEveryCallOfAModule) {
  // shared, act, shared, act, shared, act, head: three calls of `shared`.
  EXPECT_EQ(positions({"shared", "", "shared", "", "shared", "", "head"},
                      {"shared:END"}),
            Positions({1, 3, 5}));
}

TEST(SplitPoints, AnOpMovedIntoACallDoesNotEndIt) {
  // An exporter put an op of the parent inside layer 0; the call continues with
  // another module.
  EXPECT_EQ(
      positions({"l0.norm", "l0.attn", "", "l0.mlp", "l1.norm"}, {"l0:END"}),
      Positions({4}));
}

TEST(SplitPoints, PatternsMatchWithinAComponent) {
  std::vector<std::string> paths = {"h.0.attn", "h.0.mlp",  "h.1.attn",
                                    "h.1.mlp",  "h.2.attn", "head"};
  EXPECT_EQ(positions(paths, {"h.*:END"}), Positions({2, 4, 5}));
  EXPECT_EQ(positions(paths, {"h.[01]:END"}), Positions({2, 4}));
  EXPECT_EQ(positions(paths, {"h.*.attn:END"}), Positions({1, 3, 5}));
}

TEST(SplitPoints, NodesMayBeNamed) {
  EXPECT_EQ(positions({"a", "a", "a"}, {"node1:BEGIN"}), Positions({1}));
  EXPECT_EQ(positions({"a", "a", "a"}, {"node1:END"}), Positions({2}));
}

TEST(SplitPoints, RefusalsNameTheSplit) {
  EXPECT_NE(refusal({"layers.1.attention", "b"}, {"layers.1.atention:END"})
                .find("closest: layers.1.attention"),
            std::string::npos);
  EXPECT_NE(refusal({"a", "b"}, {"a"}).find("PATH:BEGIN"), std::string::npos);
  EXPECT_NE(refusal({"a", "b"}, {":END"}).find("PATH:BEGIN"),
            std::string::npos);
  EXPECT_NE(refusal({"a", "b"}, {"a:BEGIN"}).find("leaves stage 0 empty"),
            std::string::npos);
  EXPECT_NE(refusal({"a", "b"}, {"a:END", "b:END"})
                .find("'b:END' leaves stage 2 empty"),
            std::string::npos);
  EXPECT_NE(refusal({"", ""}, {"a:END"}).find("no module paths"),
            std::string::npos);
  EXPECT_FALSE(refusal({"a", "b"}, {"[:END"}).empty());
}

} // namespace

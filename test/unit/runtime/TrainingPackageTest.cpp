// Packages for training that are wrong: each is refused before anything runs,
// with the action or the program named.
#include "test/unit/runtime/TrainingPackage.h"
#include "passes/schedule/Communication.h"
#include "passes/schedule/Generate.h"

#include <gtest/gtest.h>

namespace pipec::test {
namespace {

using Kind = ScheduleAction::Kind;

/// What opening says of a 1f1b schedule of 4 stages that `spoil` changed.
template <typename Spoil> std::string openSpoiled(Spoil spoil) {
  TrainingPackage package(4);
  auto schedule = makeSchedule("1f1b", 4, 4, 4);
  EXPECT_TRUE(schedule.ok());
  StageGraph graph = StageGraph::chain(4);
  graph.forward.push_back({0, 3});
  graph.gradient.push_back({3, 1});
  graph.backward.assign(4, BackwardWork::Full);
  graph.backward[0] = BackwardWork::WeightOnly;
  EXPECT_TRUE(addCommunication(*schedule, graph).ok());
  spoil(*schedule);
  package.setRawSchedule(*schedule);
  TempFolder folder;
  EXPECT_TRUE(package.write(folder / "m.pipe").ok());
  auto opened = Package::open(folder / "m.pipe");
  return opened.ok() ? "" : opened.status().message();
}

size_t find(const ScheduleList &list, Kind kind, int64_t microbatch) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].kind == kind && list[i].microbatch == microbatch)
      return i;
  return list.size();
}

TEST(TrainingPackage, OpensAsItIs) {
  EXPECT_EQ(openSpoiled([](Schedule &) {}), "");
}

TEST(TrainingPackage, RefusesAMissingAction) {
  std::string error = openSpoiled([](Schedule &schedule) {
    auto &list = schedule.lists[2];
    list.erase(list.begin() + find(list, Kind::Forward, 2));
  });
  EXPECT_NE(error.find("Forward of stage 2, microbatch 2"), std::string::npos)
      << error;
}

TEST(TrainingPackage, RefusesSwappedSends) {
  std::string error = openSpoiled([](Schedule &schedule) {
    auto &list = schedule.lists[0];
    std::swap(list[find(list, Kind::SendForward, 0)],
              list[find(list, Kind::SendForward, 1)]);
  });
  EXPECT_NE(error.find("SendForward of stage 0"), std::string::npos) << error;
}

TEST(TrainingPackage, RefusesACycle) {
  std::string error = openSpoiled([](Schedule &schedule) {
    // Stage 1 waits for a gradient before it has sent what that depends on.
    auto &list = schedule.lists[1];
    size_t from = find(list, Kind::ReceiveGradient, 0);
    ScheduleAction action = list[from];
    list.erase(list.begin() + from);
    list.insert(list.begin(), action);
  });
  EXPECT_NE(error.find("rank 1, action 0"), std::string::npos) << error;
}

TEST(TrainingPackage, RefusesTheWrongRank) {
  std::string error = openSpoiled([](Schedule &schedule) {
    auto &list = schedule.lists[1];
    auto at = list.begin() + find(list, Kind::Forward, 3);
    schedule.lists[2].push_back(*at);
    list.erase(at);
  });
  EXPECT_NE(error.find("Forward of stage 1, microbatch 3"), std::string::npos)
      << error;
}

TEST(TrainingPackage, RefusesNumbersOutOfRange) {
  for (int64_t bad : {int64_t(-1), int64_t(99), int64_t(1) << 62}) {
    EXPECT_NE(openSpoiled([&](Schedule &s) { s.lists[1][0].stage = bad; }), "");
    EXPECT_NE(openSpoiled([&](Schedule &s) { s.lists[1][0].microbatch = bad; }),
              "");
    EXPECT_NE(openSpoiled([&](Schedule &s) { s.rankOfStage[1] = bad; }), "");
    EXPECT_NE(openSpoiled([&](Schedule &s) { s.microbatches = bad; }), "");
  }
}

template <typename Spoil> std::string openChanged(Spoil spoil) {
  TrainingPackage package(3);
  auto schedule = makeSchedule("gpipe", 3, 3, 2);
  EXPECT_TRUE(schedule.ok());
  EXPECT_TRUE(package.setSchedule(*schedule).ok());
  spoil(package);
  TempFolder folder;
  EXPECT_TRUE(package.write(folder / "m.pipe").ok());
  auto opened = Package::open(folder / "m.pipe");
  return opened.ok() ? "" : opened.status().message();
}

TEST(TrainingPackage, RefusesValuesOutsideOfTheContext) {
  EXPECT_EQ(openChanged([](TrainingPackage &) {}), "");
  EXPECT_NE(openChanged([](TrainingPackage &p) {
              p.manifest.mutable_stages(1)->set_context_bytes(0, 64);
            }),
            "");
  EXPECT_NE(openChanged([](TrainingPackage &p) {
              p.forward[1].mutable_inputs(0)->set_context_offset(1);
            }),
            "");
}

TEST(TrainingPackage, RefusesWhatIsFreeBeforeItIsRead) {
  // W reads the first two values of 64 bytes.
  EXPECT_NE(openChanged([](TrainingPackage &p) {
              p.manifest.mutable_stages(1)->set_context_weight_bytes(0, 64);
            }).find("is free after B"),
            std::string::npos);
  EXPECT_NE(openChanged([](TrainingPackage &p) {
              p.manifest.mutable_stages(1)->set_context_weight_bytes(0,
                                                                     1 << 20);
            }).find("are for W"),
            std::string::npos);
  EXPECT_NE(openChanged([](TrainingPackage &p) {
              p.manifest.mutable_stages(1)->set_context_weight_bytes(0, 32);
            }).find("are for W"),
            std::string::npos);
}

/// What comes over a transfer lies in the context: nothing is bound elsewhere.
TEST(TrainingPackage, RefusesAValueBesideItsPlaceInTheContext) {
  std::string error = openChanged([](TrainingPackage &p) {
    auto &program = p.forward[1];
    for (auto &value : *program.mutable_values())
      if (value.storage_case() == schema::Value::kContextOffset)
        for (int i = 0; i < program.inputs_size(); ++i)
          if (program.inputs(i).in_context() &&
              program.inputs(i).context_offset() == value.context_offset())
            value.set_input(i);
  });
  EXPECT_NE(error.find("which lies in the context"), std::string::npos)
      << error;
}

TEST(TrainingPackage, RefusesResultsOverOperands) {
  std::string error = openChanged([](TrainingPackage &p) {
    for (auto &value : *p.backwardInput[1].mutable_values())
      if (value.storage_case() == schema::Value::kContextOffset)
        value.set_context_offset(0);
  });
  EXPECT_NE(error, "");
}

TEST(TrainingPackage, RefusesASiteThatIsMadeTwiceOrNever) {
  EXPECT_NE(openChanged([](TrainingPackage &p) {
              *p.backwardWeight[1].add_outputs() =
                  p.backwardWeight[1].outputs(0);
            }),
            "");
  EXPECT_NE(openChanged([](TrainingPackage &p) {
              p.backwardWeight[1].clear_outputs();
            }),
            "");
}

TEST(TrainingPackage, RefusesAGradientThatFlowsForward) {
  EXPECT_NE(openChanged([](TrainingPackage &p) {
              p.manifest.mutable_transfers(0)->set_gradient(true);
            }),
            "");
}

} // namespace
} // namespace pipec::test

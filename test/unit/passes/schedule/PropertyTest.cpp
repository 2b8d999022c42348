// Random schedules over random graphs: each is either refused with a message
// that helps, or it verifies with blocking sends, runs through in the simulator
// before and after sends are in, and the peak counted along the lists is that
// of the simulated timeline. The seed is printed where a case fails.
#include "test/unit/passes/schedule/Schedules.h"

#include <map>
#include <random>

using namespace pipec;
using namespace pipec::test;

namespace {

using Random = std::mt19937;

int64_t draw(Random &random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random);
}

/// Stages read values of any earlier stages; some are frozen.
StageGraph randomGraph(Random &random, int64_t stages) {
  StageGraph graph = StageGraph::chain(stages);
  if (draw(random, 0, 4) == 0)
    return graph;
  graph.forward.clear();
  graph.gradient.clear();
  std::vector<bool> trained, reached; // reached: behind or itself trained
  for (int64_t s = 0; s < stages; ++s)
    trained.push_back(draw(random, 0, 4) != 0);
  std::vector<std::pair<int64_t, std::vector<int64_t>>> values;
  for (int64_t s = 0; s + 1 < stages; ++s) {
    std::vector<int64_t> readers;
    if (draw(random, 0, 9) != 0)
      readers.push_back(s + 1);
    for (int64_t n = draw(random, 0, 2); n > 0; --n)
      readers.push_back(draw(random, s + 1, stages - 1));
    values.emplace_back(s, readers);
  }
  for (int64_t s = 0; s < stages; ++s) {
    bool needed = trained[static_cast<size_t>(s)];
    for (const auto &[maker, readers] : values)
      if (std::count(readers.begin(), readers.end(), s))
        needed = needed || reached[static_cast<size_t>(maker)];
    reached.push_back(needed);
  }
  for (const auto &[maker, readers] : values)
    graph.addValue(
        maker, readers,
        reached[static_cast<size_t>(maker)] ? readers : std::vector<int64_t>());
  for (int64_t s = 0; s < stages; ++s) {
    bool sends = false;
    for (const StageEdge &edge : graph.gradient)
      sends |= edge.from == s;
    const bool weights = trained[static_cast<size_t>(s)];
    graph.backward.push_back(sends     ? weights ? BackwardWork::Full
                                                 : BackwardWork::InputOnly
                             : weights ? BackwardWork::WeightOnly
                                       : BackwardWork::None);
  }
  return graph;
}

/// Counted from the timeline: a pair lives from the end of its Forward to the
/// end of its last backward action.
std::vector<int64_t> peakOfTimeline(const Schedule &schedule,
                                    const StageGraph &graph,
                                    const Simulation &simulation) {
  std::vector<int64_t> peaks;
  for (size_t rank = 0; rank < schedule.lists.size(); ++rank) {
    std::map<std::pair<int64_t, int64_t>, std::pair<double, size_t>> ends;
    std::map<std::pair<double, size_t>, int64_t> changes;
    for (size_t i = 0; i < schedule.lists[rank].size(); ++i) {
      const ScheduleAction &action = schedule.lists[rank][i];
      if (!action.isCompute() ||
          graph.workOf(action.stage) == BackwardWork::None)
        continue;
      const std::pair<double, size_t> end{simulation.actions[rank][i].end, i};
      if (action.kind == Kind::Forward)
        ++changes[end];
      else
        ends[{action.stage, action.microbatch}] =
            std::max(ends[{action.stage, action.microbatch}], end);
    }
    for (const auto &[pair, end] : ends)
      --changes[end];
    int64_t live = 0, peak = 0;
    for (const auto &[end, change] : changes)
      peak = std::max(peak, live += change);
    EXPECT_EQ(live, 0);
    peaks.push_back(peak);
  }
  return peaks;
}

void checkOne(const Schedule &made, const StageGraph &graph,
              const std::vector<StageTimes> &times) {
  Schedule schedule = made;
  adaptBackward(schedule, graph);
  auto bare = verifySchedule(schedule, graph);
  ASSERT_TRUE(bare.ok()) << bare.status().message() << "\n" << dump(schedule);
  SimulationOptions options;
  options.stages = times;
  Simulation before = simulate(schedule, graph, options);

  Status status = addCommunication(schedule, graph, times);
  ASSERT_TRUE(status.ok()) << status.message();
  addUpdate(schedule, std::vector<bool>(static_cast<size_t>(graph.stages)));
  auto report = verifySchedule(schedule, graph);
  ASSERT_TRUE(report.ok()) << report.status().message() << "\n"
                           << dump(schedule);
  EXPECT_TRUE(report->ascending);
  EXPECT_EQ(report->peakLive, bare->peakLive);
  Simulation after = simulate(schedule, graph, options);
  EXPECT_NEAR(before.makespan, after.makespan, 1e-9) << dump(schedule);
  EXPECT_EQ(report->peakLive, after.peakLive);
  EXPECT_EQ(report->peakLive, peakOfTimeline(schedule, graph, after));

  // Limits: the peak is allowed, one less is not.
  VerifyOptions limit;
  limit.maxLive =
      *std::max_element(report->peakLive.begin(), report->peakLive.end());
  EXPECT_TRUE(verifySchedule(schedule, graph, limit).ok());
  if (--limit.maxLive > 0) {
    EXPECT_EQ(verifySchedule(schedule, graph, limit).status().getCode(),
              StatusCode::ResourceExhausted);
  }
}

TEST(Property, RandomSchedulesVerifyOrSayWhatWouldWork) {
  const auto names = scheduleNames();
  int64_t made = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::string &name = names[static_cast<size_t>(draw(random, 0, 7))];
    const int64_t ranks = draw(random, 0, 6);
    const int64_t stages = std::max<int64_t>(ranks, 1) * draw(random, 1, 3) +
                           (draw(random, 0, 5) == 0 ? 1 : 0);
    const int64_t microbatches = draw(random, 1, 20);
    auto schedule = makeSchedule(name, stages, ranks, microbatches);
    if (!schedule.ok()) {
      EXPECT_EQ(schedule.status().getCode(), StatusCode::InvalidArgument);
      const std::string &message = schedule.status().message();
      EXPECT_TRUE(message.find(": give it") != std::string::npos ||
                  message.find(": cut the model into") != std::string::npos)
          << message;
      continue;
    }
    ++made;
    StageGraph graph = randomGraph(random, stages);
    ASSERT_TRUE(graph.verify().ok()) << graph.verify().message();
    std::vector<StageTimes> times;
    for (int64_t s = 0; s < stages && seed % 3 != 0; ++s)
      times.push_back({draw(random, 1, 9) * 0.5, draw(random, 1, 9) * 0.5,
                       draw(random, 1, 9) * 0.5});
    checkOne(*schedule, graph, times);
    if (HasFailure())
      return;
  }
  EXPECT_GT(made, 300);
}

/// Every size that the definitions allow, on the chain.
TEST(Property, AllSmallSizesVerify) {
  for (const std::string &name : scheduleNames())
    for (int64_t ranks = 1; ranks <= 5; ++ranks)
      for (int64_t chunks = 1; chunks <= 4; ++chunks)
        for (int64_t m = 1; m <= 13; ++m) {
          auto schedule = makeSchedule(name, ranks * chunks, ranks, m);
          const bool one = name == "gpipe" || name == "1f1b" || name == "zb-h1";
          const bool v = name == "zb-v" || name == "dualpipe-v";
          const bool allowed =
              one ? chunks == 1
              : v ? chunks == 2 && (name == "zb-v" || m >= 2 * ranks)
                  : true;
          ASSERT_EQ(schedule.ok(), allowed)
              << name << " " << ranks << " " << chunks << " " << m;
          if (!allowed)
            continue;
          SCOPED_TRACE(name + " p=" + std::to_string(ranks) + " v=" +
                       std::to_string(chunks) + " m=" + std::to_string(m));
          const StageGraph graph = StageGraph::chain(ranks * chunks);
          ASSERT_TRUE(addCommunication(*schedule, graph).ok());
          auto report = verifySchedule(*schedule, graph);
          ASSERT_TRUE(report.ok()) << report.status().message();
          EXPECT_TRUE(report->ascending);
        }
}

} // namespace

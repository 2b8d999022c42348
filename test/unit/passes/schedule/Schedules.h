// Helpers of the schedule tests: makes, lowers, verifies and times schedules
// that have to work.
#ifndef PIPEC_TEST_UNIT_PASSES_SCHEDULE_SCHEDULES_H
#define PIPEC_TEST_UNIT_PASSES_SCHEDULE_SCHEDULES_H

#include "passes/schedule/Communication.h"
#include "passes/schedule/Csv.h"
#include "passes/schedule/Generate.h"
#include "runtime/schedule/verify.h"

#include <gtest/gtest.h>

namespace pipec::test {

using Kind = ScheduleAction::Kind;

inline Schedule make(const std::string &name, int64_t stages, int64_t ranks,
                     int64_t microbatches) {
  auto made = makeSchedule(name, stages, ranks, microbatches);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? *made : Schedule();
}

inline Schedule makeWithCommunication(const std::string &name, int64_t stages,
                                      int64_t ranks, int64_t microbatches) {
  Schedule schedule = make(name, stages, ranks, microbatches);
  Status status = addCommunication(schedule, StageGraph::chain(stages));
  EXPECT_TRUE(status.ok()) << status.message();
  return schedule;
}

inline std::string makeError(const std::string &name, int64_t stages,
                             int64_t ranks, int64_t microbatches) {
  auto made = makeSchedule(name, stages, ranks, microbatches);
  return made.ok() ? "no error" : made.status().message();
}

inline std::string verifyError(const Schedule &schedule,
                               const StageGraph &graph,
                               const VerifyOptions &options = {}) {
  auto report = verifySchedule(schedule, graph, options);
  return report.ok() ? "no error" : report.status().message();
}

inline Simulation simulate(const Schedule &schedule, const StageGraph &graph,
                           const SimulationOptions &options = {}) {
  auto result = simulateSchedule(schedule, graph, options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : Simulation();
}

/// The same times and sizes in every stage.
inline SimulationOptions sameStages(int64_t stages, StageTimes times,
                                    StageMemory memory = {}) {
  SimulationOptions options;
  options.stages.assign(static_cast<size_t>(stages), times);
  options.memory.assign(static_cast<size_t>(stages), memory);
  return options;
}

} // namespace pipec::test

#endif // PIPEC_TEST_UNIT_PASSES_SCHEDULE_SCHEDULES_H

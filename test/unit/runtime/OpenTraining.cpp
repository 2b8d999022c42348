#include "test/unit/runtime/OpenTraining.h"

#include "passes/schedule/Generate.h"

#include <gtest/gtest.h>

namespace pipec::test {

Package openTraining(const std::string &folder, const std::string &schedule,
                     int64_t stages, int64_t ranks, int64_t microbatches) {
  TrainingPackage package(stages);
  auto made = makeSchedule(schedule, stages, ranks, microbatches);
  EXPECT_TRUE(made.ok()) << made.status().message();
  if (made.ok()) {
    Status set = package.setSchedule(*made);
    EXPECT_TRUE(set.ok()) << set.message();
  }
  Status written = package.write(folder);
  EXPECT_TRUE(written.ok()) << written.message();
  auto opened = Package::open(folder);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  return opened.ok() ? *opened : Package();
}

} // namespace pipec::test

// Packages for training made by hand: a chain of stages with a skip connection
// and a tied weight, for tests that need no compiler.
#ifndef PIPEC_TEST_UNIT_RUNTIME_TRAININGPACKAGE_H
#define PIPEC_TEST_UNIT_RUNTIME_TRAININGPACKAGE_H

#include "test/unit/runtime/PackageBuilder.h"

#include "runtime/schedule/schedule.h"

namespace pipec::test {

/// y = tanh(x W^T) in each stage but the last, which gives
/// loss = scale * sum((x W^T + y of stage 0)^2). W is [4, 4]; the last stage
/// has that of stage 0. Input "x" f32[rows, 4]; with one stage there is no
/// skip.
struct TrainingPackage {
  explicit TrainingPackage(int64_t stages, int64_t rows = 2);

  /// Takes a schedule of compute actions, and adds sends and receives.
  Status setSchedule(Schedule schedule);
  /// As it is, however wrong.
  void setRawSchedule(const Schedule &schedule);
  Status write(const std::string &path) const;

  schema::Manifest manifest;
  std::vector<schema::Program> forward, backwardInput, backwardWeight;
  std::vector<TensorMap> weights;
};

/// Of the tests' batch: "x" with `rows` rows.
TensorMap trainingBatch(int64_t rows);

} // namespace pipec::test

#endif

// A TrainingPackage under one of our schedules, ready to train.
#ifndef PIPEC_TEST_UNIT_RUNTIME_OPENTRAINING_H
#define PIPEC_TEST_UNIT_RUNTIME_OPENTRAINING_H

#include "test/unit/runtime/TrainingPackage.h"

namespace pipec::test {

/// Made, written below `folder` and opened; the test fails when that does not
/// work.
Package openTraining(const std::string &folder, const std::string &schedule,
                     int64_t stages, int64_t ranks, int64_t microbatches);

} // namespace pipec::test

#endif

// What a step of a cut model costs, from the cost model's estimates.
#ifndef PIPEC_COMPILER_PREDICT_H
#define PIPEC_COMPILER_PREDICT_H

#include "compiler/Report.h"

namespace pipec {

struct Prediction {
  double stepSeconds = 0;
  double bubble = 0;     // of the step, from 0 to 1
  double lowerBound = 0; // seconds: all work spread evenly over the ranks
  std::vector<uint64_t> memoryBytes; // a rank
};

/// Of inference, or of a training step where the manifest has a schedule:
/// simulated.
Prediction predict(const schema::Manifest &manifest,
                   const ReportContext &context);

/// Bytes of the weights that a stage reads.
uint64_t weightBytes(const schema::Stage &stage);
/// Bytes of the gradients of a stage's uses of parameters.
uint64_t gradientBytes(const schema::Stage &stage);

} // namespace pipec

#endif // PIPEC_COMPILER_PREDICT_H

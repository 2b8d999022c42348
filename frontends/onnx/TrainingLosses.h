// What a file lacks for training; private to the frontend.
#ifndef PIPEC_FRONTENDS_ONNX_TRAININGLOSSES_H
#define PIPEC_FRONTENDS_ONNX_TRAININGLOSSES_H

#include "frontends/onnx/OnnxFrontend.h"
#include "frontends/onnx/WeightTable.h"

namespace pipec::onnx {

TrainingLosses findTrainingLosses(const Model &model, const WeightTable &table);

} // namespace pipec::onnx

#endif

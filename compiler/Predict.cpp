// Predicted time and memory. In: a manifest. Out: seconds and bytes.
// Tests: test/unit/compiler/ReportTest.cpp.
#include "compiler/Predict.h"

#include "compiler/Emit.h"
#include "passes/schedule/Simulate.h"

#include <algorithm>

namespace pipec {
namespace {

uint64_t bytesOf(const schema::TensorType &type) {
  return TensorType{static_cast<DType>(type.dtype()),
                    {type.shape().begin(), type.shape().end()}}
      .byteSize();
}

double secondsOf(const schema::Stage &stage) {
  return stage.estimated_seconds_size() ? stage.estimated_seconds(0) : 0;
}

uint64_t arenaOf(const ReportContext &context, size_t stage) {
  return stage < context.arenaBytes.size() ? context.arenaBytes[stage] : 0;
}

/// Slots of what a stage receives.
uint64_t queueBytes(const schema::Manifest &manifest, uint32_t stage,
                    uint64_t slots) {
  uint64_t total = 0;
  for (const schema::Transfer &transfer : manifest.transfers())
    if (transfer.to() == stage && transfer.types_size())
      total += slots * bytesOf(transfer.types(0));
  return total;
}

/// Fill and drain of one batch: the slowest stage paces m microbatches.
Prediction predictInference(const schema::Manifest &manifest,
                            const ReportContext &context) {
  constexpr uint64_t kQueueSlots = 2;
  Prediction p;
  double total = 0, slowest = 0;
  for (const schema::Stage &stage : manifest.stages()) {
    total += secondsOf(stage);
    slowest = std::max(slowest, secondsOf(stage));
    p.memoryBytes.push_back(arenaOf(context, stage.index()) +
                            queueBytes(manifest, stage.index(), kQueueSlots) +
                            weightBytes(stage));
  }
  p.stepSeconds = total + double(context.microbatches - 1) * slowest;
  p.lowerBound = total * double(context.microbatches) /
                 std::max(manifest.stages_size(), 1);
  return p;
}

/// Weights and gradients; optimizer state is the run's own choice.
uint64_t trainedBytes(const schema::Stage &stage) {
  return weightBytes(stage) + gradientBytes(stage);
}

Prediction predictTraining(const schema::Manifest &manifest,
                           const ReportContext &context) {
  const Schedule schedule = scheduleOf(manifest);
  SimulationOptions options;
  options.stages = stageTimes(manifest);
  options.memory = stageMemory(manifest);
  Prediction p;
  auto simulation = simulateSchedule(schedule, stageGraphOf(manifest), options);
  if (!simulation.ok())
    return p;
  p.stepSeconds = simulation->makespan;
  double work = 0;
  for (double seconds : simulation->work)
    work += seconds;
  p.lowerBound = work / double(std::max<int64_t>(schedule.ranks(), 1));
  for (double bytes : simulation->peakMemory)
    p.memoryBytes.push_back(static_cast<uint64_t>(bytes));
  for (const schema::Stage &stage : manifest.stages())
    p.memoryBytes[schedule.rankOfStage[stage.index()]] +=
        trainedBytes(stage) + arenaOf(context, stage.index()) +
        queueBytes(manifest, stage.index(), 1);
  return p;
}

} // namespace

uint64_t weightBytes(const schema::Stage &stage) {
  uint64_t bytes = 0;
  for (const schema::Weight &weight : stage.weights())
    if (!weight.unread()) // stays mapped
      bytes += bytesOf(weight.type());
  return bytes;
}

uint64_t gradientBytes(const schema::Stage &stage) {
  uint64_t bytes = 0;
  for (const schema::GradientSite &site : stage.sites())
    bytes += bytesOf(stage.weights(static_cast<int>(site.weight())).type());
  return bytes;
}

Prediction predict(const schema::Manifest &manifest,
                   const ReportContext &context) {
  Prediction p = manifest.has_training() ? predictTraining(manifest, context)
                                         : predictInference(manifest, context);
  if (p.stepSeconds > 0)
    p.bubble = 1 - p.lowerBound / p.stepSeconds;
  return p;
}

} // namespace pipec

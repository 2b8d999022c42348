// A stage's programs on a device. In: a checked package and a stage; out: a
// stage that turns inputs of one microbatch into its outputs, with all memory
// taken before the first one. Tests: test/unit/runtime/ExecutorTest.cpp,
// MemoryTest.cpp.
#include "runtime/executor/stage_executor.h"

#include <algorithm>

namespace pipec {
namespace {

template <typename Program, typename Get>
uint64_t maxOver(const std::vector<Program> &programs, Get get) {
  uint64_t most = 0;
  for (const Program &program : programs)
    most = std::max<uint64_t>(most, get(program));
  return most;
}

} // namespace

StatusOr<std::unique_ptr<StageExecutor>>
StageExecutor::create(const Package::Impl &package, size_t stage,
                      Device &device, const SessionOptions &options) {
  PIPEC_RETURN_IF_ERROR(package.requireStage(stage));
  std::unique_ptr<StageExecutor> executor(
      new StageExecutor(package, stage, device));
  executor->checkNumerics = options.checkNumerics;
  PIPEC_ASSIGN_OR_RETURN(executor->weights, StageWeights::map(package, stage));
  for (const ProgramDesc &program : package.programs[stage]) {
    auto prepared = PreparedProgram::create(program, options.referenceKernels);
    if (!prepared.ok())
      return prepared.status().withPrefix(package.stageFolder(stage));
    executor->programs.push_back(std::move(*prepared));
  }
  PIPEC_ASSIGN_OR_RETURN(executor->stream, device.createStream());
  return executor;
}

/// Bytes of the buffers that inputs pass through on their way to a device with
/// memory of its own: graph inputs, then transfers, 0 where not this stage's.
std::vector<uint64_t> StageExecutor::stagingSizes() const {
  std::vector<uint64_t> sizes;
  if (device.query().sharesHostMemory)
    return sizes;
  sizes.resize(package.inputs.size() + package.transfers.size(), 0);
  for (const PreparedProgram &program : programs)
    for (const ProgramInputDesc &input : program.desc().inputs) {
      uint64_t &size = sizes[stagingIndex(input)];
      size = std::max<uint64_t>(size, input.type.byteSize());
    }
  return sizes;
}

size_t StageExecutor::stagingIndex(const ProgramInputDesc &input) const {
  return input.index + (input.transfer ? package.inputs.size() : 0);
}

MemoryNeed StageExecutor::memoryNeed() const {
  MemoryNeed need;
  need.arenas = saturatingAdd(
      maxOver(programs, [](auto &p) { return p.desc().arenaBytes; }),
      maxOver(programs, [](auto &p) { return p.scratchBytes(); }));
  for (const PreparedProgram &program : programs)
    need.arenas = saturatingAdd(need.arenas, program.literalBytes());
  for (uint64_t size : stagingSizes())
    need.arenas = saturatingAdd(need.arenas, size);
  need.weights = weights.copiedBytes();
  if (!device.query().sharesHostMemory)
    for (const Tensor &weight : weights.tensors())
      need.weights = saturatingAdd(need.weights, weight.byteSize());
  return need;
}

/// An error names the stage and what for.
StatusOr<DeviceBuffer> StageExecutor::buffer(uint64_t bytes, const char *what) {
  return allocateFor(device, bytes,
                     "stage " + std::to_string(stage) + ", " + what,
                     kLessMemory);
}

Status StageExecutor::allocateWeights() {
  if (Status copied = weights.materialise(); !copied.ok())
    return allocating(copied, "stage " + std::to_string(stage), kLessMemory);
  if (device.query().sharesHostMemory)
    return {};
  for (const Tensor &weight : weights.tensors()) {
    PIPEC_ASSIGN_OR_RETURN(DeviceBuffer place,
                           buffer(weight.byteSize(), "weights"));
    PIPEC_RETURN_IF_ERROR(
        device.copy(*stream, place.get(), weight.data(), weight.byteSize()));
    deviceWeights.push_back(std::move(place));
  }
  return {};
}

Status StageExecutor::allocate() {
  const uint64_t arenaBytes =
      maxOver(programs, [](auto &p) { return p.desc().arenaBytes; });
  const uint64_t scratchBytes =
      maxOver(programs, [](auto &p) { return p.scratchBytes(); });
  PIPEC_ASSIGN_OR_RETURN(arena, buffer(arenaBytes, "arena (values)"));
  PIPEC_ASSIGN_OR_RETURN(scratch, buffer(scratchBytes, "scratch of kernels"));
  PIPEC_RETURN_IF_ERROR(allocateWeights());
  std::vector<void *> places;
  for (size_t i = 0; i < weights.tensors().size(); ++i)
    places.push_back(deviceWeights.empty()
                         ? const_cast<void *>(weights.tensors()[i].data())
                         : deviceWeights[i].get());
  for (PreparedProgram &program : programs) {
    PIPEC_ASSIGN_OR_RETURN(DeviceBuffer made,
                           buffer(program.literalBytes(), "constants"));
    PIPEC_RETURN_IF_ERROR(program.bind(device, *stream, arena.bytes(),
                                       scratch.get(), made.bytes(), places));
    literals.push_back(std::move(made));
  }
  for (uint64_t size : stagingSizes()) {
    PIPEC_ASSIGN_OR_RETURN(DeviceBuffer made, buffer(size, "staged inputs"));
    staging.push_back(std::move(made));
  }
  return synchronize();
}

Status StageExecutor::bindHostInput(size_t variant, size_t input,
                                    const void *data) {
  void *place = const_cast<void *>(data);
  if (!device.query().sharesHostMemory) {
    const ProgramInputDesc &desc = program(variant).inputs[input];
    place = staging[stagingIndex(desc)].get();
    PIPEC_RETURN_IF_ERROR(
        device.copy(*stream, place, data, desc.type.byteSize()));
  }
  bindInput(variant, input, place);
  return {};
}

Status StageExecutor::forward(size_t variant, int64_t microbatch,
                              const RunControl *control) {
  return programs[variant].run(device, *stream, checkNumerics, control,
                               {static_cast<int64_t>(stage), microbatch, "",
                                &package.stages[stage].weights});
}

Status StageExecutor::synchronize() {
  return device.synchronize(*stream).withPrefix("stage " +
                                                std::to_string(stage));
}

size_t StageExecutor::inputOfTransfer(size_t variant, uint32_t transfer) const {
  const auto &inputs = program(variant).inputs;
  auto it = std::find_if(inputs.begin(), inputs.end(), [&](const auto &input) {
    return input.transfer && input.index == transfer;
  });
  return it - inputs.begin();
}

TensorView StageExecutor::outputValue(size_t variant,
                                      ProgramOutputDesc::Target target,
                                      uint32_t index) const {
  const auto &outputs = program(variant).outputs;
  auto it = std::find_if(outputs.begin(), outputs.end(), [&](const auto &o) {
    return o.target == target && o.index == index;
  });
  return programs[variant].value(it->value);
}

} // namespace pipec

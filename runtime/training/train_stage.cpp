// A stage's programs of training on a device: see train_stage.h.
//
// Gradients are added in ascending microbatch order, in the parameter's own
// type (decision 6); where a schedule runs them in another order, what is early
// waits.
// Tests: test/unit/runtime/TrainerTest.cpp.
#include "runtime/training/train_stage.h"

#include "runtime/device/cpu/cpu_device.h"

#include <algorithm>
#include <cstring>

namespace pipec {
namespace {

using Target = ProgramOutputDesc::Target;

template <typename T>
void addInto(void *sum, const void *value, int64_t count) {
  T *to = static_cast<T *>(sum);
  const T *from = static_cast<const T *>(value);
  for (int64_t i = 0; i < count; ++i)
    to[i] += from[i];
}

/// Whether any stage gives the parameter a gradient.
bool hasSite(const Package::Impl &package, const std::string &name) {
  for (size_t s = 0; s < package.stages.size(); ++s)
    for (const SiteDesc &site : package.sites[s])
      if (package.stages[s].weights[site.weight].name == name)
        return true;
  return false;
}

const char *phaseText(ProgramPhase phase) {
  return phase == ProgramPhase::Forward      ? ""
         : phase == ProgramPhase::LossTotals ? "totals of "
                                             : "backward of ";
}

} // namespace

StatusOr<std::unique_ptr<TrainStage>>
TrainStage::create(const Package::Impl &package, size_t stage, Device &device,
                   Stream &stream, const TrainerOptions &options) {
  PIPEC_RETURN_IF_ERROR(package.requireStage(stage));
  std::unique_ptr<TrainStage> made(
      new TrainStage(package, stage, device, stream));
  made->checkNumerics = options.checkNumerics;
  for (ProgramPhase phase : kPhases)
    for (const ProgramDesc &program : package.programsOf(phase)[stage]) {
      auto prepared =
          PreparedProgram::create(program, options.referenceKernels);
      if (!prepared.ok())
        return prepared.status().withPrefix(package.stageFolder(stage));
      made->programs[static_cast<size_t>(phase)].push_back(
          std::move(*prepared));
    }
  const auto &outputs = package.programs[stage][0].outputs;
  for (size_t o = 0; o < outputs.size(); ++o)
    if (outputs[o].target == Target::GraphOutput)
      made->lossIndex = static_cast<int>(o);
  for (const WeightInfo &info : package.stages[stage].weights)
    made->trained.push_back(
        !info.unread && (info.kind == "buffer" || hasSite(package, info.name)));
  return made;
}

/// What training writes is copied; the rest stays mapped.
Status TrainStage::loadWeights() {
  PIPEC_ASSIGN_OR_RETURN(mapped, StageWeights::map(package, stage));
  if (Status copied = mapped.materialise(); !copied.ok())
    return allocating(copied, where(), advice());
  bound = mapped.tensors();
  for (size_t i = 0; i < bound.size(); ++i) {
    const WeightInfo &info = package.stages[stage].weights[i];
    if (!trained[i])
      continue;
    if (info.kind == "parameter" && info.type.dtype != DType::F32)
      return unsupported("parameter '" + info.name + "' is " + info.type.str() +
                         "; training is in f32, freeze it or convert it");
    auto copy = Tensor::copyOf(info.type, bound[i].data());
    if (!copy.ok())
      return allocating(copy.status(),
                        where() + ", " + info.kind + " '" + info.name + "'",
                        advice());
    bound[i] = std::move(*copy);
  }
  return {};
}

TrainStage::Sizes TrainStage::sizes() const {
  Sizes most;
  for (const auto &phase : programs)
    for (const PreparedProgram &program : phase) {
      most.arena = std::max<uint64_t>(most.arena, program.desc().arenaBytes);
      most.scratch = std::max<uint64_t>(most.scratch, program.scratchBytes());
      most.literals += program.literalBytes();
    }
  for (size_t v = 0; v < package.contextBytes[stage].size(); ++v) {
    const uint64_t all = package.contextBytes[stage][v];
    most.forWeight = std::max(most.forWeight, weightPartBytes(v));
    most.forInput = std::max(most.forInput, all - weightPartBytes(v));
  }
  return most;
}

MemoryNeed TrainStage::memoryNeed(const ContextCounts &counts) const {
  const Sizes size = sizes();
  MemoryNeed need;
  need.arenas = size.arena + size.scratch + size.literals;
  uint64_t kept = 0;
  if (__builtin_mul_overflow(size.forWeight, counts.forWeight,
                             &need.contexts) ||
      __builtin_mul_overflow(size.forInput, counts.forInput, &kept) ||
      __builtin_add_overflow(need.contexts, kept, &need.contexts))
    need.contexts = UINT64_MAX;
  for (size_t i = 0; i < trained.size(); ++i)
    if (trained[i])
      need.weights += package.stages[stage].weights[i].type.byteSize();
  for (const SiteDesc &site : package.sites[stage])
    need.weights += package.stages[stage].weights[site.weight].type.byteSize();
  return need;
}

std::string TrainStage::where() const {
  return "stage " + std::to_string(stage);
}

std::string TrainStage::advice() const {
  return lessMemoryToTrain(package.keepsForward());
}

/// An error names the stage and what for.
StatusOr<DeviceBuffer> TrainStage::buffer(uint64_t bytes,
                                          const std::string &what) {
  return allocateFor(device, bytes, where() + ", " + what, advice());
}

Status TrainStage::allocate(const ContextCounts &counts) {
  const Sizes size = sizes();
  arenaSize = size.arena;
  PIPEC_ASSIGN_OR_RETURN(arena, buffer(size.arena, "arena (values)"));
  PIPEC_ASSIGN_OR_RETURN(scratch, buffer(size.scratch, "scratch of kernels"));
  PIPEC_RETURN_IF_ERROR(forWeight.allocate(
      device, counts.forWeight, size.forWeight,
      where() + ", what is kept for the gradients of weights", advice()));
  PIPEC_RETURN_IF_ERROR(forInput.allocate(
      device, counts.forInput, size.forInput,
      where() + ", what is kept for the gradients of inputs", advice()));
  for (auto &phase : programs)
    for (PreparedProgram &program : phase) {
      PIPEC_ASSIGN_OR_RETURN(DeviceBuffer made,
                             buffer(program.literalBytes(), "constants"));
      literals.push_back(std::move(made));
    }
  PIPEC_RETURN_IF_ERROR(bindPrograms());
  for (const SiteDesc &site : package.sites[stage]) {
    const WeightInfo &weight = package.stages[stage].weights[site.weight];
    auto sum = Tensor::allocate(weight.type);
    if (!sum.ok())
      return allocating(sum.status(),
                        where() + ", gradient of '" + weight.name + "'",
                        advice());
    sums.push_back(std::move(*sum));
  }
  filled.assign(sums.size(), false);
  reset();
  return device.synchronize(stream);
}

Status TrainStage::bindPrograms() {
  std::vector<void *> places;
  for (const Tensor &weight : bound)
    places.push_back(const_cast<void *>(weight.data()));
  size_t next = 0;
  for (auto &phase : programs)
    for (PreparedProgram &program : phase)
      PIPEC_RETURN_IF_ERROR(program.bind(device, stream, arena.bytes(),
                                         scratch.get(),
                                         literals[next++].bytes(), places));
  return {};
}

Status TrainStage::bindReplaced() {
  if (!hasReplaced)
    return {};
  hasReplaced = false;
  PIPEC_RETURN_IF_ERROR(bindPrograms());
  return device.synchronize(stream);
}

void TrainStage::reset() {
  forWeight.reset();
  forInput.reset();
}

void TrainStage::beginPart() {
  turn.assign(sums.size(), 0);
  early.assign(sums.size(), {});
}

void TrainStage::beginStep() {
  reset();
  losses.clear();
  odd.clear();
  filled.assign(sums.size(), false);
}

Status TrainStage::release(ProgramPhase phase, int64_t k) {
  if (package.releasesInputPart(stage, phase))
    PIPEC_RETURN_IF_ERROR(forInput.release(stream, k));
  if (phase == package.lastPhase(stage))
    PIPEC_RETURN_IF_ERROR(forWeight.release(stream, k));
  return {};
}

int64_t TrainStage::liveContexts() const { return forWeight.kept(); }

/// Where `offset` of the context of microbatch `k` lies.
StatusOr<uint8_t *> TrainStage::contextPlace(int64_t k, size_t variant,
                                             uint64_t offset) {
  const uint64_t split = weightPartBytes(variant);
  if (offset < split) {
    PIPEC_ASSIGN_OR_RETURN(uint8_t * part, forWeight.of(k));
    return part + offset;
  }
  PIPEC_ASSIGN_OR_RETURN(uint8_t * part, forInput.of(k));
  return part + (offset - split);
}

/// W, which comes after B, has no part that is B's.
Status TrainStage::bindContext(PreparedProgram &prepared, ProgramPhase phase,
                               int64_t k, size_t variant) {
  if (phase == ProgramPhase::LossTotals)
    return {};
  PIPEC_ASSIGN_OR_RETURN(uint8_t * weights, forWeight.of(k));
  uint8_t *inputs = nullptr;
  if (phase != ProgramPhase::BackwardWeight ||
      !has(ProgramPhase::BackwardInput)) {
    PIPEC_ASSIGN_OR_RETURN(inputs, forInput.of(k));
  }
  if (phase == ProgramPhase::Forward &&
      package.lastPhase(stage) != ProgramPhase::Forward) {
    forWeight.keep(k);
    forInput.keep(k);
  }
  prepared.bindContext(weights, weightPartBytes(variant), inputs);
  return {};
}

Status TrainStage::run(ProgramPhase phase, int64_t k, const Feed &feed,
                       const RunControl *control) {
  const size_t variant = feed.plan().microbatches[k].variant;
  PreparedProgram &prepared = program(phase, variant);
  // What is queued still reads the views that are about to change.
  PIPEC_RETURN_IF_ERROR(device.synchronize(stream));
  PIPEC_RETURN_IF_ERROR(bindContext(prepared, phase, k, variant));
  PIPEC_RETURN_IF_ERROR(device.discard(stream, arena.get(), arenaSize));
  const auto &inputs = prepared.desc().inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].transfer)
      prepared.bindInput(
          i, const_cast<void *>(feed.data(package, inputs[i].index, k)));
  PIPEC_RETURN_IF_ERROR(
      prepared.run(device, stream, checkNumerics, control,
                   {static_cast<int64_t>(stage), k, phaseText(phase),
                    &package.stages[stage].weights}));
  return takeOutputs(prepared, k);
}

/// Gradients, moved buffers and the loss; transfers are for sent().
Status TrainStage::takeOutputs(PreparedProgram &prepared, int64_t k) {
  bool synchronised = false;
  for (const ProgramOutputDesc &output : prepared.desc().outputs) {
    if (output.target == Target::Transfer)
      continue;
    if (!synchronised)
      PIPEC_RETURN_IF_ERROR(device.synchronize(stream));
    synchronised = true;
    const TensorView value = prepared.value(output.value);
    if (output.target == Target::GradientSite) {
      if (checkNumerics)
        checkGradient(output.index, value, k);
      PIPEC_RETURN_IF_ERROR(addGradient(output.index, value, k));
    } else if (output.target == Target::GraphOutput)
      PIPEC_RETURN_IF_ERROR(readLoss(value, k));
    else if (output.target == Target::LossTotal) {
      PIPEC_ASSIGN_OR_RETURN(partsOfTotals[output.index],
                             Tensor::copyOf(value.type, value.data));
    } else
      std::memcpy(bound[output.index].data(), value.data,
                  value.type.byteSize());
  }
  return {};
}

/// Kept until the loss is known, which says more where it is not finite either.
void TrainStage::checkGradient(uint32_t site, const TensorView &value,
                               int64_t k) {
  if (!odd.empty() || classifyOnHost(value).finite())
    return;
  const uint32_t weight = package.sites[stage][site].weight;
  odd = "the gradient of '" + package.stages[stage].weights[weight].name +
        "' in stage " + std::to_string(stage) + ", microbatch " +
        std::to_string(k);
}

Status TrainStage::addGradient(uint32_t site, const TensorView &value,
                               int64_t k) {
  if (k != turn[site]) {
    PIPEC_ASSIGN_OR_RETURN(early[site][k],
                           Tensor::copyOf(value.type, value.data));
    return {};
  }
  sumGradient(site, value.data);
  auto &waiting = early[site];
  for (auto next = waiting.find(++turn[site]); next != waiting.end();
       next = waiting.find(++turn[site])) {
    sumGradient(site, next->second.data());
    waiting.erase(next);
  }
  return {};
}

void TrainStage::sumGradient(uint32_t site, const void *value) {
  Tensor &sum = sums[site];
  if (!filled[site])
    std::memcpy(sum.data(), value, sum.byteSize());
  else
    addInto<float>(sum.data(), value, sum.numElements());
  filled[site] = true;
}

Status TrainStage::readLoss(const TensorView &value, int64_t k) {
  if (value.type.dtype == DType::F64)
    losses[k] = *static_cast<const double *>(value.data);
  else if (value.type.dtype == DType::F32)
    losses[k] = static_cast<double>(*static_cast<const float *>(value.data));
  else
    return dataLoss("the loss is " + value.type.str() +
                    ", expected f32 or f64");
  return {};
}

Status TrainStage::receive(uint32_t transfer, int64_t k, const Feed &feed,
                           const void *data) {
  const size_t variant = feed.plan().microbatches[k].variant;
  for (ProgramPhase phase : kPhases) {
    if (!has(phase))
      continue;
    for (const ProgramInputDesc &input : program(phase, variant).desc().inputs)
      if (input.transfer && input.index == transfer) {
        PIPEC_ASSIGN_OR_RETURN(uint8_t * place,
                               contextPlace(k, variant, input.contextOffset));
        return device.copy(stream, place, data, input.type.byteSize());
      }
  }
  return internalError("stage " + std::to_string(stage) +
                       " does not read transfer " + std::to_string(transfer));
}

StatusOr<TensorView> TrainStage::sent(uint32_t transfer, int64_t k,
                                      const Feed &feed) const {
  const size_t variant = feed.plan().microbatches[k].variant;
  for (const auto &phase : programs) {
    if (phase.empty())
      continue;
    for (const ProgramOutputDesc &output : phase[variant].desc().outputs)
      if (output.target == Target::Transfer && output.index == transfer)
        return phase[variant].value(output.value);
  }
  return internalError("stage " + std::to_string(stage) +
                       " does not make transfer " + std::to_string(transfer));
}

} // namespace pipec

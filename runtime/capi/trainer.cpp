// Training for C. Tests:
// test/unit/compiler/CApiTrainingTest.cpp, test/install.
#include "runtime/capi/handles.h"

#include <algorithm>

using namespace pipec;
using namespace pipec::capi;

static pipec_trainer_options trainerDefaults() {
  const TrainerOptions defaults;
  const OptimizerOptions &optimizer = defaults.optimizer;
  pipec_trainer_options options = {};
  options.size = sizeof options;
  options.lr = optimizer.lr;
  options.weight_decay = optimizer.weightDecay;
  options.momentum = optimizer.momentum;
  options.dampening = optimizer.dampening;
  options.beta1 = optimizer.beta1;
  options.beta2 = optimizer.beta2;
  options.eps = optimizer.eps;
  options.clip_norm = optimizer.clipNorm;
  options.warmup_steps = optimizer.warmupSteps;
  options.total_steps = optimizer.totalSteps;
  options.accumulate = defaults.accumulate;
  options.seed = defaults.seed;
  options.memory_limit = defaults.memoryLimit;
  options.nesterov = optimizer.nesterov;
  options.transmit_shared_weights = defaults.transmitSharedWeights;
  options.reference_kernels = defaults.referenceKernels;
  options.check_numerics = defaults.checkNumerics;
  return options;
}

static StatusOr<TrainerOptions> ownOptions(const pipec_trainer_options &given) {
  TrainerOptions options;
  OptimizerOptions &optimizer = options.optimizer;
  if (given.optimizer)
    optimizer.kind = given.optimizer;
  if (given.lr_schedule)
    optimizer.lrSchedule = given.lr_schedule;
  optimizer.lr = given.lr;
  optimizer.weightDecay = given.weight_decay;
  optimizer.momentum = given.momentum;
  optimizer.dampening = given.dampening;
  optimizer.beta1 = given.beta1;
  optimizer.beta2 = given.beta2;
  optimizer.eps = given.eps;
  optimizer.clipNorm = given.clip_norm;
  optimizer.warmupSteps = given.warmup_steps;
  optimizer.totalSteps = given.total_steps;
  PIPEC_ASSIGN_OR_RETURN(optimizer.nesterov,
                         readFlag(given.nesterov, "nesterov"));
  options.accumulate = given.accumulate;
  options.seed = given.seed;
  options.memoryLimit = given.memory_limit;
  PIPEC_ASSIGN_OR_RETURN(
      options.transmitSharedWeights,
      readFlag(given.transmit_shared_weights, "transmit_shared_weights"));
  PIPEC_ASSIGN_OR_RETURN(
      options.referenceKernels,
      readFlag(given.reference_kernels, "reference_kernels"));
  PIPEC_ASSIGN_OR_RETURN(options.checkNumerics,
                         readFlag(given.check_numerics, "check_numerics"));
  return options;
}

void pipec_trainer_options_init(pipec_trainer_options *options, size_t size) {
  writeDefaults(trainerDefaults(), options, size);
}

pipec_status pipec_trainer_create(const pipec_package *package,
                                  const pipec_trainer_options *options,
                                  pipec_trainer **trainer,
                                  pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(package, "the package"));
    PIPEC_RETURN_IF_ERROR(checkPointer(trainer, "the place for a trainer"));
    pipec_trainer_options given = trainerDefaults();
    PIPEC_RETURN_IF_ERROR(readOptions(options, given));
    PIPEC_ASSIGN_OR_RETURN(const TrainerOptions own, ownOptions(given));
    auto made = std::make_unique<pipec_trainer>();
    PIPEC_ASSIGN_OR_RETURN(made->trainer,
                           Trainer::create(package->package, own));
    *trainer = made.release();
    return {};
  });
}

void pipec_trainer_free(pipec_trainer *trainer) { freeHandle(trainer); }

int64_t pipec_trainer_microbatches(const pipec_trainer *trainer) {
  return isHandle(trainer) ? trainer->trainer->microbatches() : 0;
}

pipec_status pipec_trainer_step(pipec_trainer *trainer,
                                const pipec_tensor *batch, size_t count,
                                pipec_step_result *result,
                                pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(trainer, "the trainer"));
    PIPEC_ASSIGN_OR_RETURN(const auto use, trainer->uses.enter("the trainer"));
    if (result && result->size < sizeof(size_t))
      return invalidArgument("the result's size is not set");
    PIPEC_ASSIGN_OR_RETURN(TensorMap tensors, wrapTensors(batch, count));
    PIPEC_ASSIGN_OR_RETURN(StepResult made, trainer->trainer->step(tensors));
    if (!result)
      return {};
    pipec_step_result value = {};
    value.step = made.step;
    value.loss = made.loss;
    value.gradient_norm = made.gradientNorm;
    value.learning_rate = made.learningRate;
    return writeResult(value, result);
  });
}

int64_t pipec_trainer_next_step(const pipec_trainer *trainer) {
  return isHandle(trainer) ? trainer->trainer->nextStep() : -1;
}

pipec_status pipec_trainer_set_next_step(pipec_trainer *trainer, int64_t step,
                                         pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(trainer, "the trainer"));
    PIPEC_ASSIGN_OR_RETURN(const auto use, trainer->uses.enter("the trainer"));
    constexpr int64_t most = int64_t(1) << 62; // steps are counted on from it
    if (step < 0 || step > most)
      return invalidArgument("the next step is " + std::to_string(step) +
                             ", expected 0 to " + std::to_string(most));
    trainer->trainer->setNextStep(step);
    return {};
  });
}

static StatusOr<TensorMap> tensorsOf(Trainer &trainer, int32_t kind) {
  switch (kind) {
  case PIPEC_PARAMETERS:
    return trainer.parameters();
  case PIPEC_BUFFERS:
    return trainer.buffers();
  case PIPEC_GRADIENTS:
    return trainer.gradients();
  case PIPEC_OPTIMIZER_STATE: {
    TensorMap tensors;
    for (const auto &[name, view] : trainer.optimizerState())
      tensors.emplace(name, Tensor::wrap(view.type, view.data, nullptr));
    return tensors;
  }
  default:
    return invalidArgument("there is no kind of tensors " +
                           std::to_string(kind));
  }
}

pipec_status pipec_trainer_tensors(pipec_trainer *trainer, int32_t kind,
                                   pipec_tensors **tensors,
                                   pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(trainer, "the trainer"));
    PIPEC_ASSIGN_OR_RETURN(const auto use, trainer->uses.enter("the trainer"));
    PIPEC_RETURN_IF_ERROR(checkPointer(tensors, "the place for tensors"));
    PIPEC_ASSIGN_OR_RETURN(TensorMap made, tensorsOf(*trainer->trainer, kind));
    *tensors = makeTensors(made, trainer->trainer->aliases(), trainer->trainer);
    return {};
  });
}

/// Copies `given` into `held`, where each has its name or an alias of it.
/// Parameters that are not `trained` may lie in mapped files: they take no
/// other values than they have.
static Status copyInto(const TensorMap &held, const TensorMap *trained,
                       const AliasMap &aliases, const TensorMap &given) {
  std::unique_ptr<pipec_tensors> targets(makeTensors(held, aliases, nullptr));
  std::vector<std::pair<void *, const Tensor *>> copies;
  std::map<size_t, const std::pair<const std::string, Tensor> *> seen;
  for (const auto &named : given) {
    const auto &[name, tensor] = named;
    auto found = targets->index.find(name);
    if (found == targets->index.end())
      return invalidArgument("the trainer has no tensor '" + name +
                             "' of this kind");
    auto &[first, target] = targets->entries[found->second];
    if (target.type() != tensor.type())
      return invalidArgument("tensor '" + name + "' is " + tensor.type().str() +
                             ", expected " + target.type().str());
    const auto [other, isNew] = seen.emplace(found->second, &named);
    if (!isNew && std::memcmp(other->second->second.data(), tensor.data(),
                              tensor.byteSize()) != 0)
      return invalidArgument("'" + other->second->first + "' and '" + name +
                             "' are one tied tensor, and are given different "
                             "values");
    if (!tensor.byteSize() ||
        std::memcmp(target.data(), tensor.data(), tensor.byteSize()) == 0)
      continue;
    if (trained && !trained->count(first))
      return invalidArgument("parameter '" + name +
                             "' is frozen, and keeps its values");
    copies.emplace_back(target.data(), &tensor);
  }
  for (auto &[target, tensor] : copies)
    std::memmove(target, tensor->data(), tensor->byteSize());
  return {};
}

pipec_status pipec_trainer_write(pipec_trainer *trainer, int32_t kind,
                                 const pipec_tensor *tensors, size_t count,
                                 pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(trainer, "the trainer"));
    PIPEC_ASSIGN_OR_RETURN(const auto use, trainer->uses.enter("the trainer"));
    if (kind == PIPEC_GRADIENTS)
      return invalidArgument("gradients are results, and not written");
    Trainer &own = *trainer->trainer;
    PIPEC_ASSIGN_OR_RETURN(TensorMap given, wrapTensors(tensors, count));
    PIPEC_ASSIGN_OR_RETURN(TensorMap held, tensorsOf(own, kind));
    const TensorMap trained = own.trainedParameters();
    PIPEC_RETURN_IF_ERROR(
        copyInto(held, kind == PIPEC_PARAMETERS ? &trained : nullptr,
                 own.aliases(), given));
    own.weightsChanged();
    return {};
  });
}

pipec_status pipec_trainer_save_parameters(pipec_trainer *trainer,
                                           const char *path, int32_t overwrite,
                                           pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(trainer, "the trainer"));
    PIPEC_ASSIGN_OR_RETURN(const auto use, trainer->uses.enter("the trainer"));
    PIPEC_RETURN_IF_ERROR(checkPointer(path, "the file's path"));
    PIPEC_ASSIGN_OR_RETURN(const bool replaces,
                           readFlag(overwrite, "overwrite"));
    return trainer->trainer->saveParameters(path, replaces);
  });
}

pipec_status pipec_trainer_save_checkpoint(pipec_trainer *trainer,
                                           const char *directory, int64_t keep,
                                           pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(trainer, "the trainer"));
    PIPEC_ASSIGN_OR_RETURN(const auto use, trainer->uses.enter("the trainer"));
    PIPEC_RETURN_IF_ERROR(checkPointer(directory, "the checkpoints' folder"));
    if (keep < 0)
      return invalidArgument("keep is " + std::to_string(keep) +
                             ", expected 0 (all stay) or more");
    CheckpointOptions options;
    options.keep = keep;
    return trainer->trainer->saveCheckpoint(directory, options).status();
  });
}

pipec_status pipec_trainer_resume(pipec_trainer *trainer, const char *path,
                                  pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(trainer, "the trainer"));
    PIPEC_ASSIGN_OR_RETURN(const auto use, trainer->uses.enter("the trainer"));
    PIPEC_RETURN_IF_ERROR(checkPointer(path, "the checkpoint's path"));
    return trainer->trainer->resume(path).status();
  });
}

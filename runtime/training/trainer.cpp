// A training step over all ranks. In: a package for training; per step a
// batch. Out: the loss, and weights that moved; or the one error that ended
// the step. Tests: test/unit/runtime/TrainerTest.cpp, test/conformance.
#include "runtime/training/trainer_impl.h"

#include "runtime/executor/infinities.h"
#include "runtime/optimizer/grad_norm.h"
#include "runtime/training/trainer_access.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace pipec {
namespace {

StatusOr<OptimizerConfig> configOf(const OptimizerOptions &options) {
  PIPEC_ASSIGN_OR_RETURN(OptimizerKind kind, optimizerFromName(options.kind));
  OptimizerConfig config = OptimizerConfig::defaults(kind);
  if (!(options.weightDecay < 0)) // NaN is for validate() to refuse
    config.weightDecay = options.weightDecay;
  config.momentum = options.momentum;
  config.dampening = options.dampening;
  config.nesterov = options.nesterov;
  config.beta1 = options.beta1;
  config.beta2 = options.beta2;
  config.eps = options.eps;
  PIPEC_RETURN_IF_ERROR(config.validate());
  return config;
}

StatusOr<LearningRate> rateOf(const OptimizerOptions &options) {
  PIPEC_ASSIGN_OR_RETURN(LearningRateKind kind,
                         learningRateFromName(options.lrSchedule));
  return LearningRate::create(kind, options.lr, options.warmupSteps,
                              options.totalSteps);
}

/// Rows `part` of `parts` equal ones of everything that is cut.
StatusOr<TensorMap> partOf(const Package::Impl &package, const TensorMap &batch,
                           int64_t part, int64_t parts) {
  if (parts == 1)
    return batch;
  TensorMap result = batch;
  for (size_t i = 0; i < package.inputs.size(); ++i) {
    if (!package.isFed(i) || !package.isCut(i, 0))
      continue;
    auto at = result.find(package.inputs[i].name);
    if (at == result.end())
      continue; // planBatch says so
    const Tensor whole = at->second;
    const int64_t rows = whole.shape().empty() ? 0 : whole.shape()[0];
    if (rows == 0 || rows % parts)
      return invalidArgument("input '" + at->first + "' has " +
                             std::to_string(rows) +
                             " rows, which --accumulate " +
                             std::to_string(parts) + " does not divide");
    TensorType type = whole.type();
    type.shape[0] = rows / parts;
    at->second = Tensor::wrap(type,
                              const_cast<uint8_t *>(whole.as<uint8_t>()) +
                                  part * type.byteSize(),
                              std::make_shared<Tensor>(whole));
  }
  return result;
}

} // namespace

/// A channel a transfer; none where both stages are on one rank.
std::vector<std::optional<ChannelSpec>> Trainer::Impl::channelSpecs() const {
  const auto &rankOf = schedule().rankOfStage;
  std::vector<std::optional<ChannelSpec>> specs;
  for (const TransferInfo &transfer : impl().transfers) {
    specs.emplace_back();
    if (rankOf[transfer.from] == rankOf[transfer.to])
      continue;
    ChannelSpec &spec = specs.back().emplace();
    spec.from = transfer.from;
    spec.to = transfer.to;
    spec.value = transfer.value;
    for (const TensorType &type : transfer.types)
      spec.slotBytes = std::max(spec.slotBytes, type.byteSize());
  }
  return specs;
}

StatusOr<std::vector<MemoryNeed>> Trainer::Impl::memoryNeed() const {
  std::vector<MemoryNeed> need;
  for (size_t s = 0; s < stages.size(); ++s)
    need.push_back(stages[s]->memoryNeed(contexts[s]));
  for (const auto &spec : channelSpecs())
    if (spec) {
      MemoryNeed channel;
      PIPEC_ASSIGN_OR_RETURN(channel.transfers, transport.memoryNeed(*spec));
      need[spec->to] += channel;
    }
  return need;
}

/// Before anything is allocated: whether all ranks together stay within the
/// limit.
Status Trainer::Impl::checkLimit(const std::vector<MemoryNeed> &need,
                                 const std::string &advice) const {
  std::vector<MemoryPart> parts;
  for (size_t r = 0; r < schedule().lists.size(); ++r)
    parts.push_back({"rank " + std::to_string(r), {}});
  for (size_t s = 0; s < need.size(); ++s)
    parts[schedule().rankOfStage[s]].need += need[s];
  return checkMemory(parts, options.memoryLimit, advice)
      .withPrefix(package.path());
}

Status Trainer::Impl::createChannels() {
  std::vector<Channel *> all;
  for (const auto &spec : channelSpecs()) {
    channels.emplace_back();
    if (!spec)
      continue;
    auto made = transport.createChannel(*spec);
    if (!made.ok())
      return allocating(made.status(),
                        "transfers from stage " + std::to_string(spec->from) +
                            " to stage " + std::to_string(spec->to),
                        lessMemory());
    all.push_back(made->get());
    channels.back() = std::move(*made);
  }
  control = std::make_unique<RunControl>(all);
  return {};
}

/// Transmitted weights: the later stages use the owner's memory.
void Trainer::Impl::shareWeights() {
  if (!options.transmitSharedWeights)
    return;
  for (const SharedWeight &weight : weights) {
    const SharedWeight::Place &owner = weight.places.front();
    for (const SharedWeight::Place &place : weight.places)
      stages[place.stage]->lendWeight(
          place.weight, stages[owner.stage]->weights()[owner.weight]);
  }
}

Status Trainer::Impl::configure() {
  PIPEC_ASSIGN_OR_RETURN(config, configOf(options.optimizer));
  PIPEC_ASSIGN_OR_RETURN(rate, rateOf(options.optimizer));
  if (!(options.optimizer.clipNorm >= 0) ||
      !std::isfinite(options.optimizer.clipNorm))
    return invalidArgument("--clip-norm must be a number from 0 (0: gradients "
                           "are not clipped)");
  return {};
}

Status Trainer::Impl::createOptimizer() {
  PIPEC_ASSIGN_OR_RETURN(optimizer, Optimizer::create(config));
  for (SharedWeight &weight : weights) {
    if (weight.sites.empty())
      continue;
    const SharedWeight::Place &owner = weight.places.front();
    PIPEC_ASSIGN_OR_RETURN(
        size_t slot,
        optimizer->add(weight.name,
                       impl().stages[owner.stage].weights[owner.weight].type));
    weight.slot = static_cast<int64_t>(slot);
  }
  return {};
}

Status Trainer::Impl::prepare() {
  if (!package.isTrainable())
    return invalidArgument(package.path() +
                           ": the package is for inference; compile the model "
                           "with --loss to train it");
  // Microbatches must be countable.
  const int64_t most = (int64_t(1) << 40) / schedule().microbatches;
  if (options.accumulate < 1 || options.accumulate > most)
    return invalidArgument("accumulate must be from 1 to " +
                           std::to_string(most) + ", got " +
                           std::to_string(options.accumulate));
  if (options.accumulate > 1 && impl().microbatchRows[0] == 0)
    return invalidArgument("--accumulate " +
                           std::to_string(options.accumulate) +
                           ": the package cuts no input, so a batch has no "
                           "parts; compile the model with inputs of the same "
                           "rows, or the others with --whole");
  // All stages train here: none of their folders may be missing.
  for (size_t s = 0; s < impl().stages.size(); ++s)
    PIPEC_RETURN_IF_ERROR(impl().requireStage(s));
  PIPEC_ASSIGN_OR_RETURN(weights, collectWeights(impl()));
  contexts = contextsNeeded(impl());
  for (size_t r = 0; r < schedule().lists.size(); ++r) {
    PIPEC_ASSIGN_OR_RETURN(std::unique_ptr<Stream> stream,
                           device.createStream());
    streams.push_back(std::move(stream));
  }
  for (size_t s = 0; s < impl().stages.size(); ++s) {
    PIPEC_ASSIGN_OR_RETURN(
        std::unique_ptr<TrainStage> stage,
        TrainStage::create(impl(), s, device,
                           *streams[schedule().rankOfStage[s]], options));
    stages.push_back(std::move(stage));
  }
  return configure();
}

Status Trainer::Impl::allocate() {
  for (auto &stage : stages)
    PIPEC_RETURN_IF_ERROR(stage->loadWeights());
  PIPEC_RETURN_IF_ERROR(createOptimizer());
  PIPEC_RETURN_IF_ERROR(createChannels());
  shareWeights();
  for (size_t s = 0; s < stages.size(); ++s)
    PIPEC_RETURN_IF_ERROR(stages[s]->allocate(contexts[s]));
  for (size_t r = 0; r < schedule().lists.size(); ++r)
    workers.emplace_back(impl(), r, device, *streams[r], stages, channels);
  PIPEC_ASSIGN_OR_RETURN(team, WorkerTeam::start(workers.size(), "rank"));
  return {};
}

Status Trainer::Impl::runRanks(const Feed &feed) {
  control->reset();
  team->run([&](size_t rank) { return workers[rank].run(feed, *control); },
            [&](const Status &status) { control->fail(status); });
  return control->result();
}

double Trainer::Impl::lossOf(int64_t microbatches) const {
  double loss = 0;
  for (const auto &stage : stages)
    for (int64_t k = 0; stage->makesLoss() && k < microbatches; ++k)
      loss += stage->lossOf(k);
  return loss;
}

/// What a mean of the model's own is taken over, of the whole batch: before
/// the ranks start, so that every microbatch has it.
StatusOr<LossTotals> Trainer::Impl::lossTotals(const TensorMap &batch) {
  const int64_t m = schedule().microbatches;
  LossTotals totals;
  for (auto &stage : stages) {
    if (!stage->has(ProgramPhase::LossTotals))
      continue;
    for (int64_t part = 0; part < options.accumulate; ++part) {
      PIPEC_ASSIGN_OR_RETURN(TensorMap rows,
                             partOf(impl(), batch, part, options.accumulate));
      PIPEC_ASSIGN_OR_RETURN(
          Feed feed,
          Feed::create(impl(), rows, m, 1, {}, {options.seed, next, part * m}));
      for (int64_t k = 0; k < m; ++k) {
        PIPEC_RETURN_IF_ERROR(
            stage->run(ProgramPhase::LossTotals, k, feed, nullptr));
        totals.add(stage->totals());
      }
    }
  }
  return totals;
}

Status Trainer::Impl::runParts(const TensorMap &batch, double scale,
                               double &loss) {
  const int64_t m = schedule().microbatches;
  PIPEC_ASSIGN_OR_RETURN(const LossTotals totals, lossTotals(batch));
  for (auto &stage : stages)
    stage->beginStep();
  for (int64_t part = 0; part < options.accumulate; ++part) {
    PIPEC_ASSIGN_OR_RETURN(TensorMap rows,
                           partOf(impl(), batch, part, options.accumulate));
    PIPEC_ASSIGN_OR_RETURN(Feed feed,
                           Feed::create(impl(), rows, m, scale, totals,
                                        {options.seed, next, part * m}));
    for (auto &stage : stages)
      stage->beginPart();
    Status status = runRanks(feed);
    if (!status.ok()) {
      for (auto &stage : stages)
        stage->reset();
      return status;
    }
    loss += lossOf(m);
  }
  return {};
}

/// Why the gradient of `name` is not finite: one of a microbatch is not, or
/// their sum is too large.
Status Trainer::Impl::oddGradient(const std::string &name) const {
  const std::string step = " of step " + std::to_string(next);
  for (const auto &stage : stages)
    if (const std::string &which = stage->oddGradient(); !which.empty())
      return numericError(which + step +
                          ", is not finite although the loss is, and no "
                          "operation made a NaN, or an infinity out of finite "
                          "numbers, but where the model looks for that");
  return numericError("the gradient of '" + name + "'" + step +
                      ", summed over microbatches and uses, is not finite "
                      "although each of those is");
}

/// Sums the gradients, clips them and moves the parameters. Norms are summed
/// per parameter in f64 and added in parameter order (decision 6).
Status Trainer::Impl::update(StepResult &result) {
  std::vector<Tensor *> totals;
  double squares = 0;
  lastGradients.clear();
  for (SharedWeight &weight : weights) {
    Tensor *total = weight.slot < 0 ? nullptr : totalGradient(weight, stages);
    totals.push_back(total);
    if (!total)
      continue;
    const double square = squaredNorm(total->as<float>(), total->numElements());
    if (options.checkNumerics && !std::isfinite(square))
      return oddGradient(weight.name);
    squares += square;
    lastGradients.emplace(weight.name, *total);
  }
  result.gradientNorm = std::sqrt(squares);
  const double clip = options.optimizer.clipNorm;
  const double scale = clip > 0 ? clipFactor(result.gradientNorm, clip) : 1;
  result.learningRate = rate->at(next);
  for (size_t w = 0; w < weights.size(); ++w) {
    if (!totals[w])
      continue;
    const SharedWeight::Place &owner = weights[w].places.front();
    Tensor &value = stages[owner.stage]->weights()[owner.weight];
    optimizer->apply(static_cast<size_t>(weights[w].slot), value.as<float>(),
                     totals[w]->as<float>(), scale, result.learningRate);
    spread(weights[w], stages);
  }
  return {};
}

/// What a step reads, under what messages call it.
TensorMap Trainer::Impl::held(const TensorMap &batch) const {
  TensorMap all = asInputs(batch);
  for (const SharedWeight &weight : weights)
    if (!weight.isUnread)
      all[(weight.isBuffer ? "buffer '" : "parameter '") + weight.name + "'"] =
          valueOf(weight);
  return all;
}

/// Names of what holds NaN or infinity: inputs, parameters, buffers.
std::string Trainer::Impl::notFinite(const TensorMap &batch) const {
  std::string names;
  for (const auto &[name, tensor] : held(batch))
    if (!classifyOnHost(tensor.view()).finite())
      names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "a constant of the model" : names;
}

StatusOr<StepResult> Trainer::Impl::step(const TensorMap &batch) {
  StepResult result;
  result.step = next;
  const int64_t microbatches = schedule().microbatches * options.accumulate;
  double scale = 1;
  if (impl().training->mean) {
    PIPEC_ASSIGN_OR_RETURN(double count,
                           countForLoss(impl(), batch, microbatches));
    if (count == 0)
      return invalidArgument("no label of the batch counts: all are the one "
                             "to ignore, " +
                             std::to_string(impl().training->ignoreIndex));
    scale = 1 / count;
  }
  PIPEC_RETURN_IF_ERROR(runParts(batch, scale, result.loss));
  if (options.checkNumerics && !std::isfinite(result.loss))
    return numericError("the loss of step " + std::to_string(next) +
                        " is not finite although no operation made a NaN, or "
                        "an infinity out of "
                        "finite numbers: it comes in by " +
                        notFinite(batch));
  PIPEC_RETURN_IF_ERROR(update(result));
  ++next;
  return result;
}

Trainer::Trainer() = default;
Trainer::~Trainer() = default;

StatusOr<std::unique_ptr<Trainer>>
Trainer::create(const Package &package, const TrainerOptions &options) {
  return TrainerAccess::create(package, options, nullptr);
}

StatusOr<std::unique_ptr<Trainer>>
TrainerAccess::create(const Package &package, const TrainerOptions &options,
                      Device *device) {
  try {
    std::unique_ptr<Trainer> trainer(new Trainer);
    trainer->impl = std::make_unique<Trainer::Impl>(package, device);
    trainer->impl->options = options;
    Trainer::Impl &impl = *trainer->impl;
    PIPEC_RETURN_IF_ERROR(impl.prepare());
    PIPEC_ASSIGN_OR_RETURN(const std::vector<MemoryNeed> need,
                           impl.memoryNeed());
    PIPEC_RETURN_IF_ERROR(impl.checkLimit(need, impl.lessMemory()));
    PIPEC_RETURN_IF_ERROR(impl.allocate());
    return trainer;
  } catch (const std::bad_alloc &) {
    return resourceExhausted(package.path() + ": out of memory; " +
                             lessMemoryToTrain(package.isTrainable() &&
                                               package.impl().keepsForward()));
  }
}

StatusOr<TrainingNeed> TrainerAccess::count(const Package &package,
                                            const TrainerOptions &options) {
  try {
    Trainer::Impl impl(package, nullptr);
    impl.options = options;
    PIPEC_RETURN_IF_ERROR(impl.prepare());
    PIPEC_ASSIGN_OR_RETURN(const std::vector<MemoryNeed> need,
                           impl.memoryNeed());
    TrainingNeed counted;
    for (const MemoryNeed &stage : need)
      counted.stageBytes.push_back(stage.total());
    counted.fits = impl.checkLimit(need, lessMemoryToTrain(false));
    return counted;
  } catch (const std::bad_alloc &) {
    return resourceExhausted(package.path() + ": out of memory; " +
                             lessMemoryToTrain(false));
  }
}

StatusOr<StepResult> Trainer::step(const TensorMap &batch) {
  PIPEC_ASSIGN_OR_RETURN(const auto use, impl->enter());
  try {
    auto result = impl->step(batch);
    if (!result.ok() && result.status().getCode() == StatusCode::NumericError)
      return withInfinities(result.status(), impl->held(batch));
    return result;
  } catch (const std::bad_alloc &) {
    return resourceExhausted("step " + std::to_string(impl->next) +
                             ": out of memory; " + impl->lessMemory());
  }
}

int64_t Trainer::microbatches() const {
  return impl->schedule().microbatches * impl->options.accumulate;
}
int64_t Trainer::nextStep() const { return impl->next; }
void Trainer::setNextStep(int64_t step) { impl->next = step; }

TensorMap Trainer::gradients() const { return impl->lastGradients; }

std::vector<int64_t> Trainer::peakLive() const {
  std::vector<int64_t> peaks;
  for (const RankWorker &worker : impl->workers)
    peaks.push_back(worker.peakLive());
  return peaks;
}

std::vector<uint64_t> Trainer::peakActivationBytes() const {
  std::vector<uint64_t> peaks;
  for (const RankWorker &worker : impl->workers)
    peaks.push_back(worker.peakBytes());
  return peaks;
}

} // namespace pipec

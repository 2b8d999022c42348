// Runs a batch through all stages. In: a checked package; per run whole-batch
// inputs. Out: whole-batch outputs, or the one error that ended the run, after
// which every thread waits for the next run again.
// Tests: test/unit/runtime/ExecutorTest.cpp, ErrorTest.cpp, MemoryTest.cpp.
#include "runtime/executor/pipeline.h"

#include "runtime/executor/infinities.h"

#include <algorithm>
#include <new>

namespace pipec {
namespace {

constexpr int kMaxQueueCapacity = 1 << 16;

/// Host memory that outputs pass through when kernels write memory that the
/// host cannot read.
StatusOr<std::vector<Tensor>> hostCopies(const Package::Impl &package) {
  std::vector<Tensor> copies;
  for (const OutputInfo &output : package.outputs) {
    const TensorType *largest = &output.types[0];
    for (const TensorType &type : output.types)
      if (type.byteSize() > largest->byteSize())
        largest = &type;
    PIPEC_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(*largest));
    copies.push_back(std::move(copy));
  }
  return copies;
}

/// Kernels may rely on elements that lie aligned for their dtype.
StatusOr<Tensor> aligned(const Tensor &tensor) {
  if (reinterpret_cast<uintptr_t>(tensor.data()) % byteSize(tensor.dtype()) ==
      0)
    return tensor;
  return Tensor::copyOf(tensor.type(), tensor.data());
}

} // namespace

StatusOr<std::vector<ChannelSpec>>
Pipeline::channelSpecs(int queueCapacity) const {
  if (queueCapacity < 1 || queueCapacity > kMaxQueueCapacity)
    return invalidArgument("queue capacity " + std::to_string(queueCapacity) +
                           ", expected 1 to " +
                           std::to_string(kMaxQueueCapacity));
  std::vector<ChannelSpec> specs;
  for (const TransferInfo &transfer : package.transfers()) {
    ChannelSpec spec;
    spec.from = transfer.from;
    spec.to = transfer.to;
    spec.value = transfer.value;
    spec.capacity = static_cast<size_t>(queueCapacity);
    for (const TensorType &type : transfer.types)
      spec.slotBytes = std::max(spec.slotBytes, type.byteSize());
    specs.push_back(std::move(spec));
  }
  return specs;
}

StatusOr<std::unique_ptr<Pipeline>>
Pipeline::create(const Package &package, const SessionOptions &options,
                 Device &device, Transport &transport) {
  if (package.isTrainable())
    return invalidArgument(package.path() +
                           ": the package is for training; compile the model "
                           "without --loss to run it");
  std::unique_ptr<Pipeline> pipeline(new Pipeline(package));
  const Package::Impl &impl = pipeline->package.impl();
  PIPEC_ASSIGN_OR_RETURN(std::vector<ChannelSpec> specs,
                         pipeline->channelSpecs(options.queueCapacity));
  std::vector<MemoryPart> parts;
  for (size_t s = 0; s < impl.stages.size(); ++s)
    parts.push_back({"stage " + std::to_string(s), {}});
  for (const ChannelSpec &spec : specs) {
    MemoryNeed channel;
    PIPEC_ASSIGN_OR_RETURN(channel.transfers, transport.memoryNeed(spec));
    parts[spec.to].need += channel;
  }
  for (size_t s = 0; s < impl.stages.size(); ++s) {
    PIPEC_ASSIGN_OR_RETURN(std::unique_ptr<StageExecutor> stage,
                           StageExecutor::create(impl, s, device, options));
    parts[s].need += stage->memoryNeed();
    pipeline->stages.push_back(std::move(stage));
  }
  PIPEC_RETURN_IF_ERROR(checkMemory(parts, options.memoryLimit, kLessMemory)
                            .withPrefix(package.path()));
  for (const ChannelSpec &spec : specs) {
    auto channel = transport.createChannel(spec);
    if (!channel.ok())
      return allocating(channel.status(),
                        "transfers from stage " + std::to_string(spec.from) +
                            " to stage " + std::to_string(spec.to),
                        kLessMemory);
    pipeline->channels.push_back(std::move(*channel));
  }
  for (auto &stage : pipeline->stages)
    PIPEC_RETURN_IF_ERROR(stage->allocate());
  PIPEC_RETURN_IF_ERROR(pipeline->startWorkers());
  return pipeline;
}

Status Pipeline::startWorkers() {
  std::vector<Channel *> all;
  for (auto &channel : channels)
    all.push_back(channel.get());
  control = std::make_unique<RunControl>(all);
  for (auto &stage : stages)
    workers.emplace_back(package.impl(), *stage, all);
  PIPEC_ASSIGN_OR_RETURN(team, WorkerTeam::start(stages.size(), "stage"));
  return {};
}

Pipeline::~Pipeline() = default;

StatusOr<RunContext> Pipeline::prepareRun(const TensorMap &inputs,
                                          const RunOptions &options) const {
  const Package::Impl &impl = package.impl();
  RunContext run;
  run.progress = options.progress;
  PIPEC_ASSIGN_OR_RETURN(run.plan,
                         planBatch(impl, inputs, options.microbatches));
  for (const InputInfo &info : impl.inputs) {
    PIPEC_ASSIGN_OR_RETURN(Tensor tensor, aligned(inputs.at(info.name)));
    run.inputs.push_back(std::move(tensor));
  }
  if (!stages[0]->getDevice().query().sharesHostMemory) {
    PIPEC_ASSIGN_OR_RETURN(run.hostCopies, hostCopies(impl));
  }
  for (size_t s = 0; s < impl.stages.size(); ++s)
    run.actions.push_back(forwardActions(impl.routing[s], run.plan.count(),
                                         s + 1 == impl.stages.size()));
  return run;
}

StatusOr<TensorMap> Pipeline::run(const TensorMap &inputs,
                                  const RunOptions &options) {
  try {
    PIPEC_ASSIGN_OR_RETURN(RunContext run, prepareRun(inputs, options));
    // After the plan has its final place: mergers keep a pointer to it.
    for (const OutputInfo &info : package.outputs()) {
      PIPEC_ASSIGN_OR_RETURN(OutputMerger merger,
                             OutputMerger::create(info, run.plan));
      run.mergers.push_back(std::move(merger));
    }
    control->reset();
    team->run([&](size_t stage) { return workers[stage].run(run, *control); },
              [&](const Status &status) { control->fail(status); });
    if (const Status result = control->result(); !result.ok())
      return withInfinities(result, asInputs(inputs));
    TensorMap outputs;
    for (size_t o = 0; o < run.mergers.size(); ++o)
      outputs.emplace(package.outputs()[o].name, run.mergers[o].finish());
    return outputs;
  } catch (const std::bad_alloc &) {
    return resourceExhausted(std::string("out of memory for the run; ") +
                             kLessMemory);
  } catch (const std::exception &error) {
    return resourceExhausted(std::string("the run could not start: ") +
                             error.what());
  }
}

} // namespace pipec

// The public StageRunner: one stage of a package in the caller's thread.
// In: values of one microbatch by name; out: what the stage makes, by name.
// Tests: test/unit/runtime/StageRunnerTest.cpp.
#include "pipec/session.h"

#include "runtime/device/cpu/cpu_device.h"
#include "runtime/executor/infinities.h"
#include "runtime/executor/stage_executor.h"
#include "runtime/package/convert.h"

#include <algorithm>
#include <new>

namespace pipec {
namespace {

std::string quote(const std::string &name) { return "'" + name + "'"; }

Status checkInput(const ProgramInputDesc &input, const Tensor &tensor) {
  const std::string where = "input " + quote(input.name);
  if (tensor.empty() && input.type.byteSize() != 0)
    return invalidArgument(where + ": the tensor has no data");
  if (findBadBool(input.type, tensor.data()) >= 0)
    return invalidArgument(where + ": a bool is neither 0 nor 1");
  return {};
}

} // namespace

struct StageRunner::Impl {
  explicit Impl(const Package &package) : package(package) {}

  /// The name under which an output is returned.
  const std::string &nameOf(const ProgramOutputDesc &output) const {
    return output.target == ProgramOutputDesc::Target::Transfer
               ? package.transfers()[output.index].value
               : package.outputs()[output.index].name;
  }

  /// Two values of one name could not both be returned.
  Status checkOutputNames() const {
    for (size_t v = 0; v < package.microbatchRows().size(); ++v) {
      std::map<std::string, uint32_t> values;
      for (const ProgramOutputDesc &output : stage->program(v).outputs) {
        auto [it, isNew] = values.emplace(nameOf(output), output.value);
        if (!isNew && it->second != output.value)
          return unsupported("stage " + std::to_string(stage->stageIndex()) +
                             " makes two values named " +
                             quote(nameOf(output)) +
                             "; run the package as a whole");
      }
    }
    return {};
  }

  /// The variant whose input types are those of `inputs`.
  StatusOr<size_t> findVariant(const TensorMap &inputs) const;
  StatusOr<TensorMap> run(const TensorMap &inputs);

  Package package;
  CpuDevice device;
  std::unique_ptr<StageExecutor> stage;
};

StatusOr<size_t> StageRunner::Impl::findVariant(const TensorMap &inputs) const {
  std::string mismatch;
  for (size_t v = 0; v < package.microbatchRows().size(); ++v) {
    const auto &expected = stage->program(v).inputs;
    std::string first;
    for (const ProgramInputDesc &input : expected) {
      auto it = inputs.find(input.name);
      if (it != inputs.end() && it->second.type() == input.type)
        continue;
      first = "input " + quote(input.name) + ": expected " + input.type.str() +
              ", got " +
              (it == inputs.end() ? "none" : it->second.type().str());
      break;
    }
    for (const auto &given : inputs)
      if (first.empty() && std::none_of(expected.begin(), expected.end(),
                                        [&](const auto &input) {
                                          return input.name == given.first;
                                        }))
        first = "surplus input " + quote(given.first);
    if (first.empty())
      return v;
    mismatch += (mismatch.empty() ? "" : "; or ") + first;
  }
  return invalidArgument("stage " + std::to_string(stage->stageIndex()) + ": " +
                         mismatch);
}

StatusOr<TensorMap> StageRunner::Impl::run(const TensorMap &inputs) {
  PIPEC_ASSIGN_OR_RETURN(const size_t variant, findVariant(inputs));
  const ProgramDesc &program = stage->program(variant);
  std::vector<Tensor> copies; // of inputs that lie unaligned
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Tensor *tensor = &inputs.at(program.inputs[i].name);
    PIPEC_RETURN_IF_ERROR(checkInput(program.inputs[i], *tensor));
    if (reinterpret_cast<uintptr_t>(tensor->data()) %
        byteSize(tensor->dtype())) {
      PIPEC_ASSIGN_OR_RETURN(Tensor copy,
                             Tensor::copyOf(tensor->type(), tensor->data()));
      copies.push_back(std::move(copy));
      tensor = &copies.back();
    }
    PIPEC_RETURN_IF_ERROR(stage->bindHostInput(variant, i, tensor->data()));
  }
  if (const Status result = stage->forward(variant, 0, nullptr); !result.ok())
    return withInfinities(result, asInputs(inputs));
  TensorMap outputs;
  for (const ProgramOutputDesc &output : program.outputs) {
    TensorView value = stage->outputValue(variant, output.target, output.index);
    PIPEC_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(value.type));
    PIPEC_RETURN_IF_ERROR(device.copy(stage->getStream(), copy.data(),
                                      value.data, value.type.byteSize()));
    outputs[nameOf(output)] = std::move(copy);
  }
  PIPEC_RETURN_IF_ERROR(stage->synchronize());
  return outputs;
}

StageRunner::StageRunner() = default;
StageRunner::~StageRunner() = default;

StatusOr<std::unique_ptr<StageRunner>>
StageRunner::create(const Package &package, int64_t stage,
                    const SessionOptions &options) {
  const int64_t count = static_cast<int64_t>(package.stages().size());
  if (stage < 0 || stage >= count)
    return invalidArgument("stage " + std::to_string(stage) + ", there are " +
                           std::to_string(count));
  try {
    std::unique_ptr<StageRunner> runner(new StageRunner());
    runner->impl = std::make_unique<Impl>(package);
    Impl &impl = *runner->impl;
    PIPEC_ASSIGN_OR_RETURN(impl.stage,
                           StageExecutor::create(impl.package.impl(), stage,
                                                 impl.device, options));
    PIPEC_RETURN_IF_ERROR(impl.checkOutputNames());
    PIPEC_RETURN_IF_ERROR(checkMemory({{"stage " + std::to_string(stage),
                                        impl.stage->memoryNeed()}},
                                      options.memoryLimit, kLessMemory)
                              .withPrefix(package.path()));
    PIPEC_RETURN_IF_ERROR(impl.stage->allocate());
    return runner;
  } catch (const std::bad_alloc &) {
    return resourceExhausted(package.path() +
                             ": out of memory while loading; " + kLessMemory);
  } catch (const std::exception &error) {
    return internalError(package.path() + ": " + error.what());
  }
}

std::vector<std::string> StageRunner::inputNames() const {
  std::vector<std::string> names;
  for (const ProgramInputDesc &input : impl->stage->program(0).inputs)
    names.push_back(input.name);
  return names;
}

StatusOr<TensorMap> StageRunner::run(const TensorMap &inputs) {
  try {
    return impl->run(inputs);
  } catch (const std::bad_alloc &) {
    return resourceExhausted(std::string("out of memory for the run; ") +
                             kLessMemory);
  } catch (const std::exception &error) {
    return internalError(error.what());
  }
}

} // namespace pipec

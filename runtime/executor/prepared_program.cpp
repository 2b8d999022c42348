// Runs the instructions of a program. In: a checked program, memory for its
// values, inputs per microbatch; out: its values in place, or an error that
// names stage, microbatch, op and where the op comes from. Nothing is
// allocated while it runs: views are made at load and only pointers change.
// Tests: test/unit/runtime/ExecutorTest.cpp, NumericsTest.cpp.
#include "runtime/executor/prepared_program.h"

#include <algorithm>

namespace pipec {
namespace {

using Storage = ValueDesc::Storage;

size_t roundUp(size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

std::string describe(const OpDesc &op) {
  std::string origin = op.origin.str();
  return origin.empty() ? op.name : origin;
}

std::string describe(const RunPlace &place) {
  return std::string(place.phase) + "stage " + std::to_string(place.stage) +
         ", microbatch " + std::to_string(place.microbatch);
}

/// A kernel's error with its place. Some name the op themselves, which is said
/// once.
Status failure(const Status &status, const RunPlace &place, const OpDesc &op) {
  std::string text = status.message();
  const std::string origin = op.origin.str();
  const std::string own =
      "'" + op.name + "'" + (origin.empty() ? "" : " of " + origin) + ": ";
  if (text.rfind(own, 0) == 0)
    text.erase(0, own.size());
  return Status(status.getCode(),
                describe(place) + ": " + describe(op) + ": " + text);
}

} // namespace

StatusOr<PreparedProgram> PreparedProgram::create(const ProgramDesc &program,
                                                  bool referenceKernels) {
  PreparedProgram prepared;
  prepared.program = &program;
  prepared.places.resize(program.values.size(), nullptr);
  prepared.inputUses.resize(program.inputs.size());
  prepared.inputValues.resize(program.inputs.size());
  for (uint32_t v = 0; v < program.values.size(); ++v)
    if (program.values[v].storage == Storage::Input)
      prepared.inputValues[program.values[v].index].push_back(v);
    else if (program.values[v].storage == Storage::Context)
      prepared.contextValues.push_back(v);
  for (const InstructionDesc &instruction : program.instructions) {
    if (instruction.alias)
      continue;
    Step step;
    step.instruction = &instruction;
    PIPEC_ASSIGN_OR_RETURN(step.kernel, KernelRegistry::get().create(
                                            instruction.op, referenceKernels));
    prepared.scratchNeed =
        std::max(prepared.scratchNeed, step.kernel->scratchBytes());
    for (uint32_t input : instruction.inputs) {
      const ValueDesc &value = program.values[input];
      if (value.storage == Storage::Input)
        prepared.inputUses[value.index].push_back(
            {prepared.steps.size(), step.inputs.size()});
      else if (value.storage == Storage::Context)
        prepared.contextUses.push_back(
            {prepared.steps.size(), step.inputs.size(), false, value.offset});
      step.inputs.push_back({value.type, nullptr});
    }
    for (uint32_t output : instruction.outputs) {
      const ValueDesc &value = program.values[output];
      if (value.storage == Storage::Context)
        prepared.contextUses.push_back(
            {prepared.steps.size(), step.outputs.size(), true, value.offset});
      step.outputs.push_back({value.type, nullptr});
    }
    prepared.steps.push_back(std::move(step));
  }
  return prepared;
}

size_t PreparedProgram::literalBytes() const {
  size_t total = 0;
  for (const ValueDesc &value : program->values)
    if (value.storage == Storage::Literal)
      total += roundUp(value.literal.size());
  return total;
}

Status PreparedProgram::bind(Device &device, Stream &stream, uint8_t *arena,
                             void *scratchMemory, uint8_t *literals,
                             const std::vector<void *> &weights) {
  scratch = scratchMemory;
  for (size_t v = 0; v < program->values.size(); ++v) {
    const ValueDesc &value = program->values[v];
    switch (value.storage) {
    case Storage::Arena:
      places[v] = arena + value.offset;
      break;
    case Storage::Weight:
      places[v] = weights[value.index];
      break;
    case Storage::Literal:
      places[v] = literals;
      PIPEC_RETURN_IF_ERROR(device.copy(stream, literals, value.literal.data(),
                                        value.literal.size()));
      literals += roundUp(value.literal.size());
      break;
    case Storage::Input:
    case Storage::Context:
      break;
    }
  }
  for (Step &step : steps) {
    for (size_t i = 0; i < step.inputs.size(); ++i)
      step.inputs[i].data = places[step.instruction->inputs[i]];
    for (size_t i = 0; i < step.outputs.size(); ++i)
      step.outputs[i].data = places[step.instruction->outputs[i]];
  }
  return {};
}

void PreparedProgram::bindInput(size_t input, void *data) {
  for (uint32_t v : inputValues[input])
    places[v] = data;
  for (const InputUse &use : inputUses[input])
    steps[use.step].inputs[use.operand].data = data;
}

void PreparedProgram::bindContext(uint8_t *first, uint64_t split,
                                  uint8_t *rest) {
  auto at = [&](uint64_t offset) {
    return offset < split ? first + offset : rest + (offset - split);
  };
  for (uint32_t v : contextValues)
    places[v] = at(program->values[v].offset);
  for (const ContextUse &use : contextUses) {
    auto &views = use.output ? steps[use.step].outputs : steps[use.step].inputs;
    views[use.operand].data = at(use.offset);
  }
}

Status PreparedProgram::run(Device &device, Stream &stream, bool checkNumerics,
                            const RunControl *control, const RunPlace &place) {
  for (Step &step : steps) {
    if (control && control->stopped())
      return cancelled("another stage failed");
    Status status =
        device.launch(stream, *step.kernel, step.inputs, step.outputs, scratch);
    if (!status.ok())
      return failure(status, place, step.instruction->op);
    if (checkNumerics)
      PIPEC_RETURN_IF_ERROR(checkResults(device, stream, step, place));
  }
  return {};
}

Status PreparedProgram::checkResults(Device &device, Stream &stream,
                                     const Step &step,
                                     const RunPlace &place) const {
  for (size_t o = 0; o < step.outputs.size(); ++o) {
    PIPEC_ASSIGN_OR_RETURN(NumericClass found,
                           device.classify(stream, step.outputs[o]));
    if (!found.finite())
      PIPEC_RETURN_IF_ERROR(
          checkOperands(device, stream, step, o, found, place));
  }
  return {};
}

/// Whether a result that is not finite is the op's doing, or the first sight of
/// a NaN that came in. An infinity may be meant, as in a mask: it is reported
/// where it is made of finite numbers only, and a NaN made of it likewise, but
/// where the model looks for that NaN itself.
Status PreparedProgram::checkOperands(Device &device, Stream &stream,
                                      const Step &step, size_t output,
                                      const NumericClass &found,
                                      const RunPlace &place) const {
  bool hadInfinity = false;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    PIPEC_ASSIGN_OR_RETURN(NumericClass had,
                           device.classify(stream, step.inputs[i]));
    hadInfinity |= had.infinity;
    if (!had.nan)
      continue;
    const std::string source = nameOfSource(step.instruction->inputs[i], place);
    if (found.nan && !source.empty())
      return numericError("nan in " + describe(place) + ": " +
                          describe(step.instruction->op) + " reads it from " +
                          source);
    return {};
  }
  if (hadInfinity &&
      (!found.nan || isAskedForNan(step.instruction->outputs[output])))
    return {};
  return numericError((found.nan ? "nan in " : "infinity in ") +
                      describe(place) + ": " + describe(step.instruction->op));
}

/// Empty where an op made the value.
std::string PreparedProgram::nameOfSource(uint32_t value,
                                          const RunPlace &place) const {
  const ValueDesc &desc = program->values[value];
  if (desc.storage == Storage::Input && !program->inputs[desc.index].transfer)
    return "input '" + program->inputs[desc.index].name + "'";
  if (desc.storage == Storage::Weight && place.weights)
    return (*place.weights)[desc.index].kind + " '" +
           (*place.weights)[desc.index].name + "'";
  return "";
}

bool PreparedProgram::isAskedForNan(uint32_t value) const {
  return std::any_of(program->instructions.begin(), program->instructions.end(),
                     [&](const InstructionDesc &instruction) {
                       return instruction.op.name == "is_nan" &&
                              instruction.inputs[0] == value;
                     });
}

} // namespace pipec

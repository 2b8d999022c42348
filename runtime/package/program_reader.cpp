// stage<i>/program<v>.pb -> ProgramDesc.
// In: a binary schema::Program, untrusted, and the manifest's part of the
// package, checked. Out: a program of which every index is in range, every
// value defined before use and once, every type known and equal to what the
// manifest says (PKG-G1, PKG-G2), its arena checked by arena_checks.cpp.
// Tests: test/unit/runtime/PackageCorruptionTest.cpp, test/fuzz/package.
#include "runtime/package/convert.h"
#include "runtime/package/readers.h"

#include <google/protobuf/stubs/logging.h>

#include <climits>
#include <set>

namespace pipec {
namespace {

std::string number(uint64_t value) { return std::to_string(value); }

Status outOfRange(const std::string &what, uint64_t index, size_t count) {
  return dataLoss(what + " " + number(index) + " is out of range, there are " +
                  number(count));
}

class ProgramReader {
public:
  ProgramReader(const Package::Impl &package, size_t stage, size_t variant,
                ProgramPhase phase)
      : package(package), stage(stage), variant(variant), phase(phase) {}

  StatusOr<ProgramDesc> read(const schema::Program &source) {
    if (source.arena_bytes() > (uint64_t(1) << 62))
      return dataLoss("arena of " + number(source.arena_bytes()) + " bytes");
    program.arenaBytes = source.arena_bytes();
    for (const schema::ProgramInput &input : source.inputs())
      PIPEC_RETURN_IF_ERROR(readInput(input).withPrefix(
          "input " + number(program.inputs.size())));
    for (const schema::Value &value : source.values())
      PIPEC_RETURN_IF_ERROR(readValue(value).withPrefix(
          "value " + number(program.values.size())));
    findUnmadeContextValues(source);
    for (const schema::Instruction &instruction : source.instructions())
      PIPEC_RETURN_IF_ERROR(
          readInstruction(instruction).withPrefix(describe(instruction)));
    for (const schema::ProgramOutput &output : source.outputs())
      PIPEC_RETURN_IF_ERROR(readOutput(output).withPrefix(
          "output " + number(program.outputs.size())));
    return std::move(program);
  }

private:
  Status readInput(const schema::ProgramInput &source) {
    ProgramInputDesc input;
    input.name = source.name();
    PIPEC_ASSIGN_OR_RETURN(input.type, readTensorType(source.type()));
    const TensorType *declared = nullptr;
    const std::string *name = nullptr;
    if (source.source_case() == schema::ProgramInput::kGraphInput) {
      input.index = source.graph_input();
      if (input.index >= package.inputs.size())
        return outOfRange("graph input", input.index, package.inputs.size());
      declared = &package.inputs[input.index].types[variant];
      name = &package.inputs[input.index].name;
      if (phase == ProgramPhase::LossTotals && !package.isFed(input.index))
        return dataLoss("is not of the batch");
    } else if (source.source_case() == schema::ProgramInput::kTransfer) {
      if (phase == ProgramPhase::LossTotals)
        return dataLoss("is not of the batch");
      input.transfer = true;
      input.index = source.transfer();
      if (input.index >= package.transfers.size())
        return outOfRange("transfer", input.index, package.transfers.size());
      const TransferInfo &transfer = package.transfers[input.index];
      if (transfer.to != static_cast<int64_t>(stage))
        return dataLoss("transfer " + number(input.index) + " goes to stage " +
                        std::to_string(transfer.to));
      declared = &transfer.types[variant];
      name = &transfer.value;
    } else {
      return dataLoss("comes from nowhere: neither graph input nor transfer");
    }
    if (input.name != *name)
      return dataLoss("is named '" + input.name + "', in the manifest '" +
                      *name + "'");
    if (input.type != *declared)
      return dataLoss("is " + input.type.str() + ", in the manifest " +
                      declared->str());
    if (!inputNames.insert(input.name).second)
      return dataLoss("the name '" + input.name + "' is taken");
    if (source.in_context()) {
      input.inContext = true;
      input.contextOffset = source.context_offset();
      PIPEC_RETURN_IF_ERROR(checkContext(input.contextOffset, input.type));
    } else if (input.transfer && package.training) {
      return dataLoss("a transfer of a package to train must lie in the "
                      "context");
    }
    program.inputs.push_back(std::move(input));
    return {};
  }

  Status readValue(const schema::Value &source) {
    ValueDesc value;
    PIPEC_ASSIGN_OR_RETURN(value.type, readTensorType(source.type()));
    const TensorType *declared = &value.type;
    switch (source.storage_case()) {
    case schema::Value::kArenaOffset:
      PIPEC_RETURN_IF_ERROR(readArenaOffset(source.arena_offset(), value));
      break;
    case schema::Value::kInput:
      value.storage = ValueDesc::Storage::Input;
      value.index = source.input();
      if (value.index >= program.inputs.size())
        return outOfRange("input", value.index, program.inputs.size());
      if (program.inputs[value.index].inContext)
        return dataLoss("is input " + number(value.index) +
                        ", which lies in the context: nothing is there to "
                        "read but at its place");
      declared = &program.inputs[value.index].type;
      break;
    case schema::Value::kWeight:
      value.storage = ValueDesc::Storage::Weight;
      value.index = source.weight();
      if (value.index >= package.stages[stage].weights.size())
        return outOfRange("weight", value.index,
                          package.stages[stage].weights.size());
      PIPEC_RETURN_IF_ERROR(checkRead(value.index));
      declared = &package.stages[stage].weights[value.index].type;
      break;
    case schema::Value::kLiteral:
      PIPEC_RETURN_IF_ERROR(readLiteral(source.literal(), value));
      break;
    case schema::Value::kContextOffset:
      value.storage = ValueDesc::Storage::Context;
      value.offset = source.context_offset();
      PIPEC_RETURN_IF_ERROR(checkContext(value.offset, value.type));
      break;
    case schema::Value::STORAGE_NOT_SET:
      return dataLoss("has no storage");
    }
    if (value.type != *declared)
      return dataLoss("is " + value.type.str() + ", its storage holds " +
                      declared->str());
    defined.push_back(value.storage != ValueDesc::Storage::Arena);
    program.values.push_back(std::move(value));
    return {};
  }

  /// Training leaves what nothing reads where it is mapped.
  Status checkRead(uint32_t weight) const {
    const WeightInfo &info = package.stages[stage].weights[weight];
    return info.unread ? dataLoss("is of weight '" + info.name +
                                  "', which no program reads by the manifest")
                       : Status();
  }

  /// A context value that no instruction makes was made by an earlier phase.
  void findUnmadeContextValues(const schema::Program &source) {
    for (size_t v = 0; v < program.values.size(); ++v)
      if (program.values[v].storage == ValueDesc::Storage::Context)
        defined[v] = true;
    for (const schema::Instruction &instruction : source.instructions())
      for (uint32_t output : instruction.outputs())
        if (output < defined.size() &&
            program.values[output].storage == ValueDesc::Storage::Context)
          defined[output] = false;
  }

  Status checkContext(uint64_t offset, const TensorType &type) const {
    if (!package.training || phase == ProgramPhase::LossTotals)
      return dataLoss("lies in a context, but the package is not for "
                      "training, or the program has none");
    const uint64_t total = package.contextBytes[stage][variant];
    const uint64_t bytes = type.byteSize();
    if (offset % kArenaAlignment != 0 || offset > total ||
        bytes > total - offset)
      return dataLoss(number(bytes) + " bytes at context offset " +
                      number(offset) + " do not fit the context of " +
                      number(total) + ", or are not aligned to " +
                      number(kArenaAlignment));
    const uint64_t forWeight = package.contextWeightBytes[stage][variant];
    if (offset < forWeight && bytes > forWeight - offset)
      return dataLoss(number(bytes) + " bytes at context offset " +
                      number(offset) + " lie across its parts, " +
                      number(forWeight) + " bytes for W and the rest");
    if (offset >= forWeight && phase == ProgramPhase::BackwardWeight &&
        package.has(stage, ProgramPhase::BackwardInput))
      return dataLoss("context offset " + number(offset) +
                      " is free after B, and read by W");
    return {};
  }

  /// A kernel's results never share bytes with its operands or each other.
  Status checkContextOverlap(const InstructionDesc &instruction) const {
    auto overlaps = [&](uint32_t a, uint32_t b) {
      const ValueDesc &x = program.values[a], &y = program.values[b];
      return x.storage == ValueDesc::Storage::Context &&
             y.storage == ValueDesc::Storage::Context &&
             x.offset < y.offset + y.type.byteSize() &&
             y.offset < x.offset + x.type.byteSize();
    };
    for (uint32_t output : instruction.outputs) {
      for (uint32_t input : instruction.inputs)
        if (overlaps(output, input) &&
            !(instruction.op.keepsBytes() &&
              program.values[output].offset == program.values[input].offset))
          return dataLoss("writes over its operand, value " + number(input));
      for (uint32_t other : instruction.outputs)
        if (other != output && overlaps(output, other))
          return dataLoss("two of its results share bytes");
    }
    return {};
  }

  Status readArenaOffset(uint64_t offset, ValueDesc &value) const {
    const uint64_t bytes = value.type.byteSize();
    if (offset % kArenaAlignment != 0)
      return dataLoss("arena offset " + number(offset) +
                      " is not a multiple of " + number(kArenaAlignment));
    if (offset > program.arenaBytes || bytes > program.arenaBytes - offset)
      return dataLoss(number(bytes) + " bytes at arena offset " +
                      number(offset) + " do not fit the arena of " +
                      number(program.arenaBytes));
    value.storage = ValueDesc::Storage::Arena;
    value.offset = offset;
    return {};
  }

  static Status readLiteral(const std::string &bytes, ValueDesc &value) {
    value.storage = ValueDesc::Storage::Literal;
    value.literal = bytes;
    if (bytes.size() != value.type.byteSize())
      return dataLoss("literal of " + number(bytes.size()) + " bytes, but " +
                      value.type.str() + " has " +
                      number(value.type.byteSize()));
    if (findBadBool(value.type, bytes.data()) >= 0)
      return dataLoss("a bool literal holds neither 0 nor 1");
    return {};
  }

  Status readInstruction(const schema::Instruction &source) {
    InstructionDesc instruction;
    OpDesc &op = instruction.op;
    op.name = source.op();
    op.origin = readOrigin(source.origin());
    if (op.name.empty())
      return dataLoss("has no op");
    for (const schema::Attribute &attribute : source.attributes()) {
      PIPEC_ASSIGN_OR_RETURN(AttrValue value, readAttribute(attribute));
      if (!op.attrs.emplace(attribute.name(), std::move(value)).second)
        return dataLoss("two attributes '" + attribute.name() + "'");
    }
    for (uint32_t input : source.inputs()) {
      if (input >= program.values.size())
        return outOfRange("value", input, program.values.size());
      if (!defined[input])
        return dataLoss("reads value " + number(input) + " before it is made");
      instruction.inputs.push_back(input);
      op.inputs.push_back(program.values[input].type);
    }
    for (uint32_t output : source.outputs()) {
      if (output >= program.values.size())
        return outOfRange("value", output, program.values.size());
      if (program.values[output].storage != ValueDesc::Storage::Arena &&
          program.values[output].storage != ValueDesc::Storage::Context)
        return dataLoss("writes value " + number(output) +
                        ", which is an input, weight or literal");
      if (defined[output])
        return dataLoss("writes value " + number(output) + " a second time");
      defined[output] = true;
      instruction.outputs.push_back(output);
      op.outputs.push_back(program.values[output].type);
    }
    PIPEC_RETURN_IF_ERROR(checkContextOverlap(instruction));
    program.instructions.push_back(std::move(instruction));
    return {};
  }

  Status readOutput(const schema::ProgramOutput &source) {
    ProgramOutputDesc output;
    output.value = source.value();
    if (output.value >= program.values.size())
      return outOfRange("value", output.value, program.values.size());
    if (!defined[output.value])
      return dataLoss("value " + number(output.value) + " is never made");
    const TensorType *declared = nullptr;
    using Target = ProgramOutputDesc::Target;
    if ((source.target_case() == schema::ProgramOutput::kLossTotal) !=
        (phase == ProgramPhase::LossTotals))
      return dataLoss("totals of the loss leave the program loss_totals, and "
                      "nothing else does");
    if (source.target_case() == schema::ProgramOutput::kLossTotal) {
      output.target = Target::LossTotal;
      output.index = source.loss_total();
      if (output.index >= package.inputs.size() ||
          package.inputs[output.index].role != InputRole::LossTotal)
        return dataLoss("input " + number(output.index) +
                        " is no total of the loss");
      declared = &package.inputs[output.index].types[variant];
    } else if (source.target_case() == schema::ProgramOutput::kGraphOutput) {
      output.target = Target::GraphOutput;
      output.index = source.graph_output();
      if (output.index >= package.outputs.size())
        return outOfRange("graph output", output.index, package.outputs.size());
      declared = &package.outputs[output.index].types[variant];
    } else if (source.target_case() == schema::ProgramOutput::kTransfer) {
      output.target = Target::Transfer;
      output.index = source.transfer();
      if (output.index >= package.transfers.size())
        return outOfRange("transfer", output.index, package.transfers.size());
      const TransferInfo &transfer = package.transfers[output.index];
      if (transfer.from != static_cast<int64_t>(stage))
        return dataLoss("transfer " + number(output.index) + " leaves stage " +
                        std::to_string(transfer.from));
      declared = &transfer.types[variant];
    } else if (source.target_case() == schema::ProgramOutput::kGradientSite) {
      output.target = Target::GradientSite;
      output.index = source.gradient_site();
      if (output.index >= package.sites[stage].size())
        return outOfRange("gradient site", output.index,
                          package.sites[stage].size());
      if (phase != ProgramPhase::BackwardWeight)
        return dataLoss("a gradient of a parameter leaves another program than "
                        "backward_weight");
      declared = &package.stages[stage]
                      .weights[package.sites[stage][output.index].weight]
                      .type;
    } else if (source.target_case() == schema::ProgramOutput::kBuffer) {
      output.target = Target::Buffer;
      output.index = source.buffer();
      if (output.index >= package.stages[stage].weights.size())
        return outOfRange("buffer", output.index,
                          package.stages[stage].weights.size());
      if (package.stages[stage].weights[output.index].kind != "buffer" ||
          phase != ProgramPhase::Forward || !package.training)
        return dataLoss("moves a weight that is no buffer, or outside of the "
                        "forward of training");
      PIPEC_RETURN_IF_ERROR(checkRead(output.index));
      declared = &package.stages[stage].weights[output.index].type;
    } else {
      return dataLoss("goes nowhere: neither graph output nor transfer");
    }
    const TensorType &type = program.values[output.value].type;
    if (type != *declared)
      return dataLoss("is " + type.str() + ", in the manifest " +
                      declared->str());
    program.outputs.push_back(output);
    return {};
  }

  std::string describe(const schema::Instruction &source) const {
    std::string origin = readOrigin(source.origin()).str();
    return "instruction " + number(program.instructions.size()) + ", " +
           source.op() + (origin.empty() ? "" : " of " + origin);
  }

  const Package::Impl &package;
  const size_t stage, variant;
  const ProgramPhase phase;
  ProgramDesc program;
  std::vector<bool> defined; // beside program.values
  std::set<std::string> inputNames;
};

StatusOr<ProgramDesc> parseAndRead(const FileBytes &bytes,
                                   const Package::Impl &package, size_t stage,
                                   size_t variant, ProgramPhase phase) {
  schema::Program source;
  google::protobuf::LogSilencer silence;
  if (bytes.size > INT_MAX ||
      !source.ParseFromArray(bytes.data, static_cast<int>(bytes.size)))
    return dataLoss("not a program: truncated or corrupt");
  PIPEC_ASSIGN_OR_RETURN(
      ProgramDesc program,
      ProgramReader(package, stage, variant, phase).read(source));
  PIPEC_RETURN_IF_ERROR(checkArena(program));
  return program;
}

} // namespace

StatusOr<ProgramDesc> readProgram(const FileBytes &bytes,
                                  const std::string &path,
                                  const Package::Impl &package, size_t stage,
                                  size_t variant, ProgramPhase phase) {
  auto program = parseAndRead(bytes, package, stage, variant, phase);
  if (!program.ok())
    return program.status().withPrefix(path);
  return program;
}

} // namespace pipec

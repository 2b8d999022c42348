// The memory plan of a program, checked: no two values that are live together
// share bytes.
//
// In: a program with checked indices. Out: reshapes that keep their operand's
// place are marked `alias`, or DataLoss. A value is live from the instruction
// that makes it to the last one that reads it, both included (a kernel's
// results never overlap its operands), to the end if it leaves the stage. A
// reshape in place joins its operand and result to one range of bytes.
// Cost: O(n log n). Tests: test/unit/runtime/PackageCorruptionTest.cpp.
#include "runtime/package/readers.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace pipec {
namespace {

using Storage = ValueDesc::Storage;

class ArenaChecker {
public:
  explicit ArenaChecker(ProgramDesc &program)
      : program(program), range(program.values.size()),
        lastUse(program.values.size(), 0) {
    std::iota(range.begin(), range.end(), 0u);
  }

  Status check() {
    for (size_t i = 0; i < program.instructions.size(); ++i)
      PIPEC_RETURN_IF_ERROR(visitUses(program.instructions[i], i));
    for (const ProgramOutputDesc &output : program.outputs)
      lastUse[range[output.value]] = program.instructions.size();
    for (size_t i = 0; i < program.instructions.size(); ++i) {
      expire(i);
      if (program.instructions[i].alias)
        continue;
      for (uint32_t output : program.instructions[i].outputs)
        PIPEC_RETURN_IF_ERROR(place(output, i));
    }
    return {};
  }

private:
  struct Live {
    uint64_t end;
    uint32_t value;
  };

  Status visitUses(InstructionDesc &instruction, size_t i) {
    for (uint32_t input : instruction.inputs)
      lastUse[range[input]] = i;
    for (uint32_t output : instruction.outputs)
      lastUse[output] = i;
    if (!instruction.op.keepsBytes() || instruction.inputs.size() != 1 ||
        instruction.outputs.size() != 1)
      return {};
    const ValueDesc &from = program.values[instruction.inputs[0]];
    const ValueDesc &to = program.values[instruction.outputs[0]];
    const bool placed =
        from.storage == Storage::Arena || from.storage == Storage::Context;
    if (!placed || from.storage != to.storage || from.offset != to.offset)
      return {};
    if (from.type.dtype != to.type.dtype ||
        from.type.byteSize() != to.type.byteSize())
      return dataLoss("instruction " + std::to_string(i) + ", " +
                      instruction.op.name + " of " + from.type.str() + " to " +
                      to.type.str() + ": the element counts or dtypes differ");
    instruction.alias = true;
    range[instruction.outputs[0]] = range[instruction.inputs[0]];
    return {};
  }

  /// Takes ranges whose last use lies before instruction `i` off the map.
  void expire(size_t i) {
    while (!ends.empty() && ends.begin()->first < i) {
      live.erase(ends.begin()->second);
      ends.erase(ends.begin());
    }
  }

  Status place(uint32_t index, size_t i) {
    const ValueDesc &value = program.values[index];
    if (value.storage != Storage::Arena)
      return {}; // the context is laid out for all its life
    const uint64_t begin = value.offset;
    const uint64_t end = begin + value.type.byteSize();
    if (begin == end)
      return {};
    auto next = live.lower_bound(begin);
    if (next != live.end() && next->first < end)
      return overlap(index, next->second.value, i);
    if (next != live.begin() && std::prev(next)->second.end > begin)
      return overlap(index, std::prev(next)->second.value, i);
    live.emplace(begin, Live{end, index});
    ends.emplace(lastUse[index], begin);
    return {};
  }

  static Status overlap(uint32_t a, uint32_t b, size_t i) {
    return dataLoss("value " + std::to_string(a) + ", made by instruction " +
                    std::to_string(i) + ", overlaps value " +
                    std::to_string(b) + ", which is still needed");
  }

  ProgramDesc &program;
  std::vector<uint32_t> range;   // value -> the value that its bytes began as
  std::vector<size_t> lastUse;   // instruction, by first value of the range
  std::map<uint64_t, Live> live; // by first byte
  std::multimap<size_t, uint64_t> ends; // last use -> first byte
};

} // namespace

Status checkArena(ProgramDesc &program) {
  return ArenaChecker(program).check();
}

} // namespace pipec

// A program of one stage and variant, ready to run: kernels made, views bound.
#ifndef PIPEC_RUNTIME_EXECUTOR_PREPARED_PROGRAM_H
#define PIPEC_RUNTIME_EXECUTOR_PREPARED_PROGRAM_H

#include "runtime/device/device.h"
#include "runtime/executor/run_control.h"
#include "runtime/package/package_impl.h"

namespace pipec {

/// Where a run is, for messages.
struct RunPlace {
  int64_t stage = 0;
  int64_t microbatch = 0;
  const char *phase = "";                           // "", "backward of "
  const std::vector<WeightInfo> *weights = nullptr; // of the stage, for names
};

/// Order of calls: create, bind, then per microbatch bindInput of every input
/// and run. Thread rule: externally synchronised. Keeps references to the
/// program it was made from.
class PreparedProgram {
public:
  static StatusOr<PreparedProgram> create(const ProgramDesc &program,
                                          bool referenceKernels);

  /// Scratch memory that the largest kernel needs.
  size_t scratchBytes() const { return scratchNeed; }
  /// Bytes of all literals, each on an aligned place.
  size_t literalBytes() const;
  /// Gives every value but inputs its place: device memory of arenaBytes,
  /// scratchBytes and literalBytes, and a pointer per weight. Copies the
  /// literals.
  Status bind(Device &device, Stream &stream, uint8_t *arena, void *scratch,
              uint8_t *literals, const std::vector<void *> &weights);
  void bindInput(size_t input, void *data);
  /// Of a program for training, before each run: the microbatch's context, its
  /// first `split` bytes and the rest, which is null where none of it is used.
  void bindContext(uint8_t *first, uint64_t split, uint8_t *rest);

  /// Queues all instructions. With `checkNumerics` looks at each float result.
  /// Errors name stage, microbatch, op and origin.
  Status run(Device &device, Stream &stream, bool checkNumerics,
             const RunControl *control, const RunPlace &place);

  /// Place and type of a value, valid while inputs stay bound.
  TensorView value(uint32_t index) const {
    return {program->values[index].type, places[index]};
  }
  const ProgramDesc &desc() const { return *program; }

private:
  struct Step {
    const InstructionDesc *instruction;
    std::unique_ptr<Kernel> kernel;
    std::vector<TensorView> inputs, outputs;
  };
  struct InputUse {
    size_t step, operand;
  };
  struct ContextUse {
    size_t step, operand;
    bool output;
    uint64_t offset;
  };
  Status checkResults(Device &device, Stream &stream, const Step &step,
                      const RunPlace &place) const;
  Status checkOperands(Device &device, Stream &stream, const Step &step,
                       size_t output, const NumericClass &found,
                       const RunPlace &place) const;
  std::string nameOfSource(uint32_t value, const RunPlace &place) const;
  bool isAskedForNan(uint32_t value) const;

  const ProgramDesc *program = nullptr;
  std::vector<Step> steps;                        // without aliases
  std::vector<void *> places;                     // by value
  std::vector<std::vector<InputUse>> inputUses;   // by program input
  std::vector<std::vector<uint32_t>> inputValues; // by program input
  std::vector<ContextUse> contextUses;
  std::vector<uint32_t> contextValues;
  void *scratch = nullptr;
  size_t scratchNeed = 0;
};

} // namespace pipec

#endif

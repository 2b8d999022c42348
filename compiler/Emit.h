// From lowered graphs to the package's messages.
#ifndef PIPEC_COMPILER_EMIT_H
#define PIPEC_COMPILER_EMIT_H

#include "compiler/Compiler.h"
#include "frontends/common/OpenedModel.h"
#include "ir/PipeOps.h"
#include "passes/schedule/Simulate.h"

#include "llvm/ADT/MapVector.h"

namespace pipec {

struct EmitVariant {
  int64_t rows = 0;
  pipe::GraphOp graph; // after the lower phase
  /// The same of what makes the parts of the loss's totals; null: there are
  /// none. Its results are those of the inputs of that role, in their order.
  pipe::GraphOp lossTotals;
};

struct EmitInput {
  std::string modelName;
  const CompileOptions *options = nullptr;
  const frontend::ModelInterface *interface = nullptr;
  std::vector<EmitVariant> variants; // the same stages in each
  /// The loss is the sum over microbatches as the graphs have it.
  bool lossAdds = false;
};

/// Manifest, programs and weight sources of all variants.
StatusOr<CompiledModel> emitModel(const EmitInput &input);

/// The weights of one stage in order of first use, over all variants.
class EmittedWeights {
public:
  StatusOr<uint32_t> indexOf(pipe::WeightOp weight);
  /// Index of a constant too large for a program's text.
  uint32_t indexOf(const std::string &name, const Tensor &constant);

  const llvm::MapVector<llvm::StringRef, uint32_t> &names() const {
    return indices;
  }
  std::vector<schema::Weight> messages;
  std::vector<WeightSource> sources;

private:
  llvm::MapVector<llvm::StringRef, uint32_t> indices;
  std::vector<std::unique_ptr<std::string>> ownedNames;
};

/// What a program's inputs and outputs are called in the manifest.
struct ProgramLinks {
  std::unique_ptr<mlir::SymbolTable> weights; // of the module
  llvm::DenseMap<mlir::Value, uint32_t>
      graphInputs; // block arguments of the graph
  llvm::DenseMap<mlir::Operation *, uint32_t> transfers;
  llvm::DenseMap<mlir::Operation *, uint32_t> sites; // of pipe.gradient ops
  std::vector<std::string> inputNames;
  std::vector<std::string> transferNames;
};

/// The program of one phase of a stage.
StatusOr<schema::Program> emitProgram(pipe::StageOp stage,
                                      const ProgramLinks &links,
                                      EmittedWeights &weights);

/// The schedule that the options ask for, over the stages and transfers that
/// the manifest has by now; proved.
Status addSchedule(schema::Manifest &manifest, const CompileOptions &options);
/// What the manifest holds, in the terms of schedules.
StageGraph stageGraphOf(const schema::Manifest &manifest);
Schedule scheduleOf(const schema::Manifest &manifest);
/// The cost model's, of one microbatch: a backward is about twice the forward,
/// half for either gradient.
std::vector<StageTimes> stageTimes(const schema::Manifest &manifest);
/// What a microbatch of the largest variant keeps in each stage, in bytes.
std::vector<StageMemory> stageMemory(const schema::Manifest &manifest);

void setType(schema::TensorType *message, const TensorType &type);

/// The outermost module paths that lie wholly in each stage, in file order; for
/// a stage without any, the paths of the modules that it holds a part of.
std::vector<std::vector<std::string>> stageModules(pipe::GraphOp graph);

} // namespace pipec

#endif // PIPEC_COMPILER_EMIT_H

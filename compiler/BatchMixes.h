// What a user is told of a model that mixes the rows of its batch.
#ifndef PIPEC_COMPILER_BATCHMIXES_H
#define PIPEC_COMPILER_BATCHMIXES_H

#include "compiler/Microbatches.h"
#include "ir/PipeOps.h"

#include "mlir/IR/BuiltinOps.h"

namespace pipec {

/// An entry an op that mixes rows, such as "ReduceMean node_mean (norm,
/// model.py:12) reduces over the batch". `graph` is imported for microbatches
/// of `rows` rows, and to train has its loss; see
/// passes/partition/BatchCoupling.h. `lossAdds`: the loss is the sum over
/// microbatches.
std::vector<std::string>
describeBatchMixes(pipe::GraphOp graph, int64_t rows,
                   const frontend::ModelInterface &model,
                   const CompileOptions &options, bool lossAdds);

/// The same of outputs with the batch on two axes, such as the similarities of
/// all pairs of rows: whatever the ops do that make one, microbatches make
/// less. The file's names of axes alone are no proof, for exporters give wrong
/// ones: `importRows` imports the model for a number of rows, or gives null.
std::vector<std::string> describeBatchPairs(
    const frontend::ModelInterface &model, const CompileOptions &options,
    llvm::function_ref<mlir::OwningOpRef<mlir::ModuleOp>(int64_t)> importRows);

/// The warning for whoever cuts such a batch; `mixes` has an entry. `remedy`:
/// "--microbatches 1 keeps them equal".
std::string batchMixWarning(const std::vector<std::string> &mixes,
                            const std::string &remedy);

} // namespace pipec

#endif // PIPEC_COMPILER_BATCHMIXES_H

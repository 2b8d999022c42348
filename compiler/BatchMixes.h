// What a user is told of a model that mixes the rows of its batch.
#ifndef PIPEC_COMPILER_BATCHMIXES_H
#define PIPEC_COMPILER_BATCHMIXES_H

#include "compiler/Microbatches.h"
#include "ir/PipeOps.h"

namespace pipec {

/// An entry an op that mixes rows, such as "ReduceMean node_mean (norm,
/// model.py:12) reduces over the batch". `graph` is imported for microbatches
/// of `rows` rows, and to train has its loss; see
/// passes/partition/BatchCoupling.h.
std::vector<std::string> describeBatchMixes(pipe::GraphOp graph, int64_t rows,
                                            const onnx::ModelInterface &model,
                                            const CompileOptions &options);

/// The warning for whoever cuts such a batch; `mixes` has an entry. `remedy`:
/// "--microbatches 1 keeps them equal".
std::string batchMixWarning(const std::vector<std::string> &mixes,
                            const std::string &remedy);

} // namespace pipec

#endif // PIPEC_COMPILER_BATCHMIXES_H

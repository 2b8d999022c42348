// The compiler as a library: a model file in, a cut and lowered model out.
#ifndef PIPEC_COMPILER_COMPILER_H
#define PIPEC_COMPILER_COMPILER_H

#include "compiler/Options.h"
#include "package.pb.h"

namespace pipec {

/// Where the bytes of one stage's weight come from.
struct WeightSource {
  Tensor inMemory; // a constant made at compile time; else empty and:
  std::string file;
  uint64_t offset = 0, length = 0;
  std::vector<int64_t>
      permutation; // weight axis k is stored axis permutation[k]
};

/// All that a package holds, in memory but for the weights.
struct CompiledModel {
  schema::Manifest manifest;
  std::vector<std::vector<schema::Program>> programs; // [stage][variant]
  /// To train, where manifest.stages(s) says there are: [stage][variant].
  std::vector<std::vector<schema::Program>> backwardInput, backwardWeight,
      lossTotals;
  std::vector<std::vector<WeightSource>>
      weights;      // [stage], as manifest.stages(s).weights
  std::string plan; // readable dump of the cut
};

/// Imports, cuts and lowers `modelPath`. Needs memory for the graph, not for
/// the weights. Errors are for the user: they name file, node, module path,
/// expected and got.
StatusOr<CompiledModel> compileModel(const std::string &modelPath,
                                     const CompileOptions &options,
                                     const Reporter &report);

/// Types of the model's inputs for a batch of `rows` rows of input `rowsFrom`;
/// see batchShapes in compiler/Microbatches.h. What else is left symbolic is an
/// error that says what to bind.
StatusOr<std::map<std::string, TensorType>>
modelInputTypes(const std::string &modelPath, const CompileOptions &options,
                const std::string &rowsFrom, int64_t rows);

} // namespace pipec

#endif // PIPEC_COMPILER_COMPILER_H

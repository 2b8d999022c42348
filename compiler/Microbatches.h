// From the batch that a user has to the microbatch sizes that are compiled.
#ifndef PIPEC_COMPILER_MICROBATCHES_H
#define PIPEC_COMPILER_MICROBATCHES_H

#include "compiler/Options.h"
#include "frontends/common/OpenedModel.h"

namespace pipec {

/// One microbatch size: what the frontend is asked to import.
struct VariantShapes {
  int64_t rows = 0; // of axis 0 of the inputs that are cut; 0: no input is cut
  std::map<std::string, std::vector<int64_t>> inputShapes;
  /// Of all microbatches that the options ask for, a step's parts aside.
  int64_t batchRows = 0;
};

/// Shapes of every graph input for each distinct microbatch size, largest
/// first. Errors name the input, the dimension and what to pass.
StatusOr<std::vector<VariantShapes>>
planVariants(const frontend::ModelInterface &model,
             const CompileOptions &options);

/// The same of another number of rows.
VariantShapes withRows(VariantShapes variant, int64_t rows,
                       const frontend::ModelInterface &model,
                       const CompileOptions &options);

/// `options` with every input whole where nothing is to be cut: with one
/// microbatch, inputs whose first dimensions differ need no --whole. `changed`
/// says whether that was so.
StatusOr<CompileOptions> wholeWhereUncut(const frontend::ModelInterface &model,
                                         const CompileOptions &options,
                                         bool &changed);

/// Shapes of every graph input for one batch of `rows` rows of input
/// `rowsFrom`: inputs that are cut with it have as many, all others the sizes
/// that they declare. `rows` 0: what the file or a binding says, else one a
/// microbatch, of all parts. Errors as of planVariants.
StatusOr<std::map<std::string, std::vector<int64_t>>>
batchShapes(const frontend::ModelInterface &model,
            const CompileOptions &options, const std::string &rowsFrom,
            int64_t rows);

/// Whether `input` goes uncut to every microbatch.
bool isWholeInput(const frontend::ModelInterface::Port &input,
                  const CompileOptions &options);

/// How the microbatches of output `name` join: as asked, else behind each other
/// where its first dimension is the microbatch's rows. `variants`: rows and the
/// output's type of each size; no rows: no input is cut.
Merge mergeOf(const frontend::ModelInterface &model,
              const CompileOptions &options, const std::string &name,
              const std::vector<std::pair<int64_t, TensorType>> &variants);

} // namespace pipec

#endif // PIPEC_COMPILER_MICROBATCHES_H

// Tensors that are at hand against the inputs that a model file declares.
#ifndef PIPEC_COMPILER_GIVENINPUTS_H
#define PIPEC_COMPILER_GIVENINPUTS_H

#include "compiler/Options.h"
#include "frontends/common/OpenedModel.h"

namespace pipec {

/// Whether `options.given` has every input of the model, of its element type
/// and rank, and of the sizes that the file fixes; the first dimension is left
/// to the cut. Says all that is missing at once, in the words that a package's
/// inputs are spoken of. Ok where nothing is given.
Status checkGivenInputs(const frontend::ModelInterface &model,
                        const CompileOptions &options);

} // namespace pipec

#endif // PIPEC_COMPILER_GIVENINPUTS_H

// Gives the initializers of an ONNX file their PyTorch names: the rules that
// fill a WeightTable.
//
// In: an opened Model. Out: a WeightTable, and what of the model it lacks.
// Tests: test/unit/frontends/WeightTableTest.cpp and ModelNamesTest.cpp (all
// reference models).
#ifndef PIPEC_FRONTENDS_ONNX_NAMES_NAMES_H
#define PIPEC_FRONTENDS_ONNX_NAMES_NAMES_H

#include "frontends/common/WeightTable.h"
#include "frontends/onnx/metadata/Model.h"

namespace pipec::onnx {

std::vector<std::vector<Reader>> readersOf(const Model &model);

/// Names by the graph signature and fx nodes.
WeightTable namesBySignature(const Model &model, const ImportOptions &options);
/// Names by initializer and node names (TorchScript-based exporter, other
/// tools).
WeightTable namesByText(const Model &model, const ImportOptions &options);
/// Parameters and buffers among what went into a value that the exporter's
/// optimizer computed.
std::vector<std::string> stateSourcesOf(const Model &model,
                                        const std::string &value);
/// Adds the names under which modules hold a tensor that another module owns.
void findAliases(const Model &model, WeightTable &table);
/// Names tensors by the state_dict in the file options.names. Errors: the file
/// cannot be read; nothing in it equals a tensor of the model.
Status nameByState(const Model &model, const ImportOptions &options,
                   WeightTable &table);
/// ComputedAtExport.cpp: see OnnxModel.
std::vector<ComputedTensor> findComputed(const Model &model,
                                         const WeightTable &table);
LostParameters findLost(const Model &model, const WeightTable &table);
std::vector<std::string> findPossibleBuffers(const Model &model,
                                             const WeightTable &table);
std::map<std::string, int64_t> findPaddedTables(const Model &model,
                                                const WeightTable &table);
std::vector<std::string> findGuessedNames(const Model &model,
                                          const WeightTable &table);
/// All of the above, then ties (resolveTies). Errors name unknown parameters.
StatusOr<WeightTable> makeWeightTable(const Model &model,
                                      const ImportOptions &options);

/// The TorchScript-based exporter has a number for the tensor's name.
bool isNumbered(const Model &model, int initializer);
/// A value of fx that numbers alone make: full_3, zeros.
bool isMadeOfNumbers(const std::string &fxName);

} // namespace pipec::onnx

#endif

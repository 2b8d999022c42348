// Which initializer is which PyTorch parameter: names, kinds, orientation and
// ties.
//
// In: an opened Model. Out: a WeightTable: one declaration per parameter,
// buffer or constant, and for each place that reads an initializer the
// declaration it means and how the file's form follows from it. Tests:
// test/unit/frontends/WeightTableTest.cpp and ModelNamesTest.cpp (all reference
// models).
#ifndef PIPEC_FRONTENDS_COMMON_WEIGHTTABLE_H
#define PIPEC_FRONTENDS_COMMON_WEIGHTTABLE_H

#include "frontends/common/TensorCompare.h"
#include "frontends/onnx/metadata/Model.h"

#include <set>

namespace pipec::onnx {

enum class WeightKind { Parameter, Buffer, Constant };

struct WeightDecl {
  std::string name; // first state_dict name, or the initializer's
  std::vector<std::string> aliases; // other state_dict names of the same tensor
  WeightKind kind = WeightKind::Constant;
  int initializer = 0;
  TensorType type; // in PyTorch's orientation
  /// Axis k of `type` is stored as axis permutation[k]; empty: stored as it is.
  Permutation permutation;
};

/// The file's form of a declared weight: transposed by `permutation` (where
/// given), then reshaped to the initializer's shape.
struct WeightUse {
  int decl = -1;
  Permutation permutation;
};

struct WeightTable {
  std::vector<WeightDecl> decls;                 // file order
  std::map<std::pair<int, int>, WeightUse> uses; // (node, input position)
  std::map<int, WeightUse>
      defaults; // by initializer, for other readers (graph outputs)
  std::vector<std::string> notices, trainingWarnings;
  /// Parameters without a declaration of their own: those that the signature
  /// lists or a legacy file's nodes show, and by the exporter's name those of
  /// which a legacy file does not show which they were. Then the buffers that
  /// the signature lists, "mask (buffer)".
  std::vector<std::string> folded;
  /// Parameters that a tensor may have been, whose bytes are others: by the
  /// tensor's initializer.
  std::map<int, std::string> refuted;
  /// Nameless initializers that are read as the named parameter whose moved
  /// copy they are.
  std::map<int, std::string> copies;
  /// Names of --untie that kept a copy apart.
  std::set<std::string> apart;
  /// Names that the user's state_dict proves.
  std::set<std::string> certain;

  /// Of parameters and buffers, with aliases.
  std::vector<std::string> names() const;
  /// Lists a name in `folded` once.
  void addFolded(const std::string &name);
  /// Declaration with that name or alias; -1. A constant may have a parameter's
  /// name (the file keeps one of several equal tensors): the parameter is
  /// found.
  int find(const std::string &name) const;
  /// Keeps the declarations in `order`, one each, drops the others, which
  /// nothing may mean any more.
  void reorder(const std::vector<int> &order);
};

/// A place that reads an initializer.
struct Reader {
  int node = 0, input = 0;
};
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
/// Recognises tables stored twice, then applies --tie and --untie. Errors name
/// unknown parameters.
Status resolveTies(const Model &model, const ImportOptions &options,
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
/// All of the above.
StatusOr<WeightTable> makeWeightTable(const Model &model,
                                      const ImportOptions &options);

/// The TorchScript-based exporter has a number for the tensor's name.
bool isNumbered(const Model &model, int initializer);
/// Whether --untie names it.
bool isApart(const ImportOptions &options, const std::string &name);
/// Stored position of each declared axis, undone: the permutation from the
/// declared to the stored form.
Permutation inversePermutation(const Permutation &permutation);
/// A value of fx that numbers alone make: full_3, zeros.
bool isMadeOfNumbers(const std::string &fxName);

} // namespace pipec::onnx

#endif

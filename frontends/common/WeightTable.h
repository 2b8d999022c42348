// Which tensor of a model file is which PyTorch parameter: names, kinds,
// orientation and ties.
//
// In: what a frontend knows of its file's tensors. Out: a WeightTable: one
// declaration per parameter, buffer or constant, and for each place that reads
// a tensor the declaration it means and how the file's form follows from it.
// Tensors and nodes are numbers of the frontend's own; a tensor that is an
// input of no other is an initializer, as in ONNX. Tests:
// test/unit/frontends/WeightTableTest.cpp and ModelNamesTest.cpp (all reference
// models).
#ifndef PIPEC_FRONTENDS_COMMON_WEIGHTTABLE_H
#define PIPEC_FRONTENDS_COMMON_WEIGHTTABLE_H

#include "frontends/common/OpenedModel.h"
#include "frontends/common/TensorCompare.h"

#include <set>

namespace pipec::frontend {

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

/// Whether --untie names it.
bool isApart(const ImportOptions &options, const std::string &name);
/// Stored position of each declared axis, undone: the permutation from the
/// declared to the stored form.
Permutation inversePermutation(const Permutation &permutation);
} // namespace pipec::frontend

#endif

// Tensors by name over several safetensors files, and loading them into memory
// that is already there.
#ifndef PIPEC_RUNTIME_CHECKPOINT_TENSOR_TABLE_H
#define PIPEC_RUNTIME_CHECKPOINT_TENSOR_TABLE_H

#include "runtime/base/safetensors.h"

#include <optional>

namespace pipec {

/// One parameter or buffer, or one piece of optimizer state, and all of its
/// names: several where weights are tied. Host memory, borrowed.
struct NamedView {
  std::vector<std::string> names; // at least one; the first is used in messages
  TensorView view;
};

/// Groups of names that are one and the same tensor.
using TiedNames = std::vector<std::vector<std::string>>;

/// How the names that a model has and those that files have differ.
struct NameReport {
  std::vector<std::string> missing; // first names of what no file has
  std::vector<std::string> surplus; // in the files, but nobody's name

  /// "", or one line a kind with at most ten names each.
  std::string str() const;
  /// The same below a message: each line begins with a line end and two spaces.
  std::string indented() const;
};

/// "'a', 'b' and 3 more" of at most ten names.
std::string listNames(const std::vector<std::string> &names);

struct LoadRules {
  /// Leave the memory of a missing tensor as it is; otherwise it is an error.
  bool allowMissing = false;
  /// Read f16 and bf16 into f32, which is exact.
  bool widen = false;
  /// Where files hold several names of one target, read all and require that
  /// they are equal; those that tie() joined are taken to be.
  bool compareTied = false;
};

/// Files are mapped and stay so while the table or a tensor from it lives.
/// Thread rule: add() and tie() before all else; then immutable, and load()
/// may run at once for targets that do not overlap.
class TensorTable {
public:
  /// `where` is what messages call the whole, a folder or a file.
  explicit TensorTable(std::string where) : where(std::move(where)) {}
  TensorTable() = default;

  /// Takes in all tensors of the safetensors file at `path`. InvalidArgument
  /// for a name that an earlier file has; Io, DataLoss.
  Status add(const std::string &path);
  /// Takes in the tensors of an index: name -> file name in `folder`. DataLoss
  /// for file names that are more than a name ("..", any slash), and for files
  /// that lack a tensor.
  Status addIndexed(const std::string &folder,
                    const std::map<std::string, std::string> &fileOf);
  /// Lets a name stand for every other in its group. Call it once.
  void tie(const TiedNames &tied);

  /// All names, in name order.
  std::vector<std::string> names() const;
  /// Null when there is none of that very name.
  const TensorType *find(const std::string &name) const;
  /// The tensor of that very name, aliasing the map: read only.
  StatusOr<Tensor> get(const std::string &name) const;
  /// Path of the file that holds `name`; "" when there is none.
  std::string fileOf(const std::string &name) const;
  /// The files, in the order they came.
  const std::vector<SafetensorsFile> &files() const { return opened; }

  /// Compares names alone.
  NameReport match(const std::vector<NamedView> &targets) const;

  /// Copies into each target the tensor of any of its names. Everything is
  /// checked before the first byte is written: on an error the targets are as
  /// they were. InvalidArgument lists missing names, or names the tensor whose
  /// type differs, both types and the file; DataLoss for a bool that is neither
  /// 0 nor 1.
  Status load(const std::vector<NamedView> &targets,
              const LoadRules &rules = {}) const;

private:
  struct Copy {
    Tensor from;
    TensorView to;
  };
  /// The names in the table that stand for `target`.
  std::vector<std::string> present(const NamedView &target) const;
  /// Whether tie() said so.
  bool isTied(const std::string &a, const std::string &b) const;
  /// The tensor for `target`, checked; none when it is missing.
  StatusOr<std::optional<Tensor>> choose(const NamedView &target,
                                         const LoadRules &rules) const;

  std::string where;
  std::vector<SafetensorsFile> opened;
  std::map<std::string, size_t> holder; // name -> index in `opened`
  TiedNames groups;
  std::map<std::string, size_t> groupOf; // name -> index in `groups`
};

} // namespace pipec

#endif

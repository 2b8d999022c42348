// Packages (model.pipe/): what a compiled model holds. See
// docs/package-format.md.
#ifndef PIPEC_PACKAGE_H
#define PIPEC_PACKAGE_H

#include "pipec/tensor.h"

namespace pipec {

/// How the outputs of the microbatches join.
enum class Merge { Concat, Mean, Sum, Same, Unspecified };

/// Who feeds an input: the batch, or, where a package is for training, the
/// runtime itself.
enum class InputRole { Data, Labels, LossScale, RandomKey, LossTotal };

struct InputInfo {
  std::string name;
  bool whole = false;            // every microbatch gets it uncut
  std::vector<TensorType> types; // of one microbatch, per variant
  InputRole role = InputRole::Data;
};
struct OutputInfo {
  std::string name;
  Merge merge = Merge::Concat;
  std::vector<TensorType> types;
};
struct WeightInfo {
  std::string name;
  std::vector<std::string> aliases;
  std::string kind; // "parameter", "buffer", "constant"
  TensorType type;
  bool unread = false; // by all programs: kept for who saves the model
};
struct StageInfo {
  int64_t index = 0;
  std::vector<std::string> modules;
  std::vector<WeightInfo> weights;
  std::vector<uint64_t> flops;      // of one microbatch, per variant
  std::vector<uint64_t> arenaBytes; // per variant
};
struct TransferInfo {
  std::string value, producer;
  int64_t from = 0, to = 0;
  std::vector<TensorType> types;
  bool gradient = false; // flows to an earlier stage
};

class PackageFiles;

struct PackageOptions {
  /// Folders whose files a package may name as its weights, beside its own. One
  /// that was compiled with its weights in place needs none: it knows what lies
  /// in their files, which one from elsewhere cannot know of others.
  std::vector<std::string> allowExternal;
};

/// A package, opened and checked; weights are mapped only when a session needs
/// them. Copies share. Thread rule: immutable.
class Package {
public:
  /// `path` is the model.pipe folder. Errors: Io, DataLoss (corrupt),
  /// Unsupported (another format version).
  static StatusOr<Package> open(const std::string &path,
                                const PackageOptions &options = {});

  const std::string &path() const;
  const std::string &modelName() const;
  const std::string &producer() const;
  const std::vector<InputInfo> &inputs() const;
  const std::vector<OutputInfo> &outputs() const;
  const std::vector<StageInfo> &stages() const;
  const std::vector<TransferInfo> &transfers() const;
  /// Rows of a microbatch that each variant was compiled for (0: no input is
  /// cut).
  const std::vector<int64_t> &microbatchRows() const;
  /// Whether it was compiled for training.
  bool isTrainable() const;

  struct Impl;
  const Impl &impl() const { return *held; }

private:
  friend StatusOr<Package> openPackage(const PackageFiles &files,
                                       const PackageOptions &options);
  std::shared_ptr<const Impl> held;
};

} // namespace pipec

#endif // PIPEC_PACKAGE_H

// Binds a stage's weights. In: the checked manifest and the stage's
// weights.safetensors or the model's own files, untrusted. Out: read-only
// tensors that alias the maps, or copies where the bytes lie unaligned for
// their dtype or with other axes. Tests: test/unit/runtime/WeightsTest.cpp.
#include "runtime/package/weights.h"

#include "runtime/base/fingerprint.h"
#include "runtime/base/safetensors.h"
#include "runtime/package/convert.h"
#include "runtime/package/permute.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace pipec {
namespace {

namespace fs = std::filesystem;

/// Whether the file at `path` lies in `folder`, links followed in both.
bool isBelow(const std::string &folder, const fs::path &path) {
  std::error_code error;
  const fs::path outer = fs::canonical(folder, error);
  if (error)
    return false;
  const auto ends =
      std::mismatch(outer.begin(), outer.end(), path.begin(), path.end());
  return ends.first == outer.end();
}

/// A package comes from anyone, and what it names as weights ends up in results
/// that may go anywhere: its own files, those in folders that the user allows,
/// and, where it was compiled with its weights in place, the ones whose content
/// it knows.
Status checkAllowed(const Package::Impl &package, const ExternalRange &range,
                    const MappedFile &file) {
  std::error_code error;
  const fs::path path = fs::canonical(file.path(), error);
  if (error)
    return ioError("'" + file.path() + "': " + error.message());
  if (isBelow(package.path, path))
    return {};
  for (const std::string &folder : package.options.allowExternal)
    if (isBelow(folder, path))
      return {};
  if (!range.fingerprint.empty() && range.fingerprint == fingerprintOf(file))
    return {};
  return invalidArgument(
      "the package names '" + file.path() +
      "', which lies outside of it, as a file of its weights, and does not "
      "know "
      "what is in it, as one does that was compiled with --weights-in-place; "
      "where you trust the package, allow the file's folder: "
      "--allow-external " +
      path.parent_path().string());
}

/// Relative files lie below the package folder.
std::string resolve(const Package::Impl &package, const std::string &file) {
  return file[0] == '/' ? file : package.path + "/" + file;
}

Status checkUnchanged(const ExternalRange &range, const MappedFile &file) {
  const bool isKnown = range.fileSize || range.fileMtimeNs;
  return !isKnown || (range.fileSize == file.size() &&
                      range.fileMtimeNs == file.mtimeNs())
             ? Status()
             : dataLoss("'" + file.path() +
                        "' has changed since the package was compiled with its "
                        "weights in place; compile the model again");
}

bool isAligned(const Tensor &tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data()) %
             byteSize(tensor.dtype()) ==
         0;
}

} // namespace

StatusOr<StageWeights> StageWeights::map(const Package::Impl &package,
                                         size_t stage) {
  StageWeights weights;
  weights.bound.resize(package.stages[stage].weights.size());
  PIPEC_RETURN_IF_ERROR(weights.bindInternal(package, stage));
  PIPEC_RETURN_IF_ERROR(
      weights.bindExternal(package, stage).withPrefix(package.path));
  return weights;
}

Status StageWeights::bindInternal(const Package::Impl &package, size_t stage) {
  const auto &external = package.external[stage];
  std::optional<SafetensorsFile> file;
  for (size_t i = 0; i < bound.size(); ++i) {
    if (external[i])
      continue;
    if (!file) {
      PIPEC_ASSIGN_OR_RETURN(file,
                             SafetensorsFile::open(package.stageFolder(stage) +
                                                   "/weights.safetensors"));
      PIPEC_RETURN_IF_ERROR(file->checkSeal());
    }
    const WeightInfo &info = package.stages[stage].weights[i];
    const std::string where = file->path() + ": weight '" + info.name + "'";
    const TensorType *type = file->find(info.name);
    if (!type)
      return dataLoss(where + " is missing");
    if (*type != info.type)
      return dataLoss(where + " is " + type->str() + ", in the manifest " +
                      info.type.str());
    PIPEC_ASSIGN_OR_RETURN(Tensor tensor, file->get(info.name));
    PIPEC_RETURN_IF_ERROR(add(i, std::move(tensor)).withPrefix(where));
  }
  return {};
}

Status StageWeights::bindExternal(const Package::Impl &package, size_t stage) {
  std::map<std::string, std::shared_ptr<const MappedFile>> files;
  for (size_t i = 0; i < bound.size(); ++i) {
    const std::optional<ExternalRange> &range = package.external[stage][i];
    if (!range)
      continue;
    const WeightInfo &info = package.stages[stage].weights[i];
    const std::string where =
        "weight '" + info.name + "' of stage " + std::to_string(stage);
    std::shared_ptr<const MappedFile> &file = files[range->file];
    if (!file) {
      auto opened = MappedFile::open(resolve(package, range->file));
      if (!opened.ok())
        return opened.status().withPrefix(where);
      PIPEC_RETURN_IF_ERROR(checkUnchanged(*range, **opened).withPrefix(where));
      PIPEC_RETURN_IF_ERROR(
          checkAllowed(package, *range, **opened).withPrefix(where));
      file = *opened;
    }
    PIPEC_RETURN_IF_ERROR(checkUnchanged(*range, *file).withPrefix(where));
    auto bytes = file->range(range->offset, range->length);
    if (!bytes.ok())
      return bytes.status().withPrefix(where);
    if (!range->permutation.empty())
      pending.push_back({i, range->storedShape, range->permutation});
    Tensor tensor =
        Tensor::wrap(info.type, const_cast<uint8_t *>(*bytes), file);
    PIPEC_RETURN_IF_ERROR(
        add(i, std::move(tensor)).withPrefix(file->path() + ": " + where));
  }
  return {};
}

Status StageWeights::add(size_t index, Tensor tensor) {
  if (int64_t bad = findBadBool(tensor.type(), tensor.data()); bad >= 0)
    return dataLoss("element " + std::to_string(bad) +
                    " of a bool is neither 0 nor 1");
  const bool permuted = !pending.empty() && pending.back().index == index;
  if (!permuted && tensor.byteSize() != 0 && !isAligned(tensor))
    pending.push_back({index, {}, {}});
  bound[index] = std::move(tensor);
  return {};
}

uint64_t StageWeights::copiedBytes() const {
  uint64_t total = 0;
  for (const Pending &copy : pending)
    total += bound[copy.index].byteSize();
  return total;
}

Status StageWeights::materialise() {
  for (const Pending &copy : pending) {
    Tensor &tensor = bound[copy.index];
    auto allocated = Tensor::allocate(tensor.type());
    if (!allocated.ok())
      return allocated.status().withPrefix("copy of weight " +
                                           std::to_string(copy.index));
    Tensor fresh = std::move(*allocated);
    if (copy.permutation.empty())
      std::memcpy(fresh.data(), tensor.data(), tensor.byteSize());
    else
      permuteCopy(tensor.data(), copy.storedShape, copy.permutation,
                  byteSize(tensor.dtype()), fresh.data());
    tensor = std::move(fresh);
  }
  pending.clear();
  return {};
}

} // namespace pipec

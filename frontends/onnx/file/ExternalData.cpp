// Tensors whose elements lie in files beside the model (ONNX external data).
//
// In: TensorProto.external_data. Out: a checked range of a mapped file. A
// location is untrusted: it is relative, stays in the model's folder, and may
// not lead out of it by a link. Tests:
// test/unit/frontends/TensorSourceTest.cpp.
#include "frontends/onnx/file/TensorFiles.h"

#include <filesystem>

namespace pipec::onnx {
namespace fs = std::filesystem;

/// Whole decimal number, or an error.
static StatusOr<uint64_t> parseCount(const std::string &key,
                                     const std::string &text) {
  uint64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9' || value > (UINT64_MAX - 9) / 10)
      return dataLoss("external data: " + key + " '" + text +
                      "' is not a byte count");
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  if (text.empty())
    return dataLoss("external data: " + key + " is empty");
  return value;
}

static Status checkLocation(const std::string &location) {
  fs::path path(location);
  if (location.empty())
    return dataLoss("external data: the location is missing");
  if (location.find('\0') != std::string::npos || path.is_absolute())
    return dataLoss("external data location '" + location +
                    "' is not relative to the model's folder");
  for (const fs::path &part : path)
    if (part == "..")
      return dataLoss("external data location '" + location +
                      "' leaves the model's folder");
  return Status();
}

StatusOr<std::shared_ptr<const MappedFile>>
TensorFiles::open(const std::string &location) {
  auto found = files.find(location);
  if (found != files.end())
    return found->second;
  PIPEC_RETURN_IF_ERROR(checkLocation(location));
  fs::path base = folder.empty() ? fs::path(".") : fs::path(folder);
  fs::path path = folder.empty() ? fs::path(location) : base / location;
  std::error_code error;
  fs::path realBase = fs::canonical(base, error);
  if (error)
    return ioError("cannot resolve the model's folder '" + base.string() +
                   "': " + error.message());
  fs::path real = fs::canonical(path, error);
  if (error)
    return ioError("external data file '" + path.string() +
                   "' cannot be opened: " + error.message());
  auto split =
      std::mismatch(realBase.begin(), realBase.end(), real.begin(), real.end());
  if (split.first != realBase.end())
    return dataLoss("external data location '" + location +
                    "' is a link that leaves the model's folder");
  PIPEC_ASSIGN_OR_RETURN(auto file, MappedFile::open(path.string()));
  files[location] = file;
  return file;
}

StatusOr<TensorSource>
TensorFiles::locateExternal(const ::onnx::TensorProto &tensor,
                            TensorSource source) {
  std::string location;
  std::optional<uint64_t> offset, length;
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() == "location") {
      location = entry.value();
    } else if (entry.key() == "offset") {
      PIPEC_ASSIGN_OR_RETURN(offset, parseCount("offset", entry.value()));
    } else if (entry.key() == "length") {
      PIPEC_ASSIGN_OR_RETURN(length, parseCount("length", entry.value()));
    }
  }
  uint64_t bytes = source.type.byteSize();
  if (length && *length != bytes)
    return dataLoss("external data: " + source.type.str() + " needs " +
                    std::to_string(bytes) + " bytes, the stated length is " +
                    std::to_string(*length));
  PIPEC_ASSIGN_OR_RETURN(source.file, open(location));
  source.offset = offset.value_or(0);
  source.length = bytes;
  PIPEC_RETURN_IF_ERROR([&]() -> Status {
    auto range = source.file->range(source.offset, source.length);
    return range.ok() ? Status() : range.status();
  }());
  return source;
}

} // namespace pipec::onnx

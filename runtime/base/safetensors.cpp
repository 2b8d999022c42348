// Reads safetensors files by map. In: a path, whose content is not trusted.
// Out: types, offsets and tensors that alias the map.
// Tests: test/unit/base/SafetensorsTest.cpp; fuzzed by test/fuzz.
#include "runtime/base/safetensors.h"

#include "runtime/base/safetensors_header.h"

#include <algorithm>
#include <cstring>

namespace pipec {

namespace {

/// Of a file whose first eight bytes are no header's length.
std::string whatElse(const MappedFile &file, uint64_t headerBytes) {
  constexpr const char *kWrite =
      ", not safetensors; safetensors.torch.save_file(tensors, FILE) writes "
      "those";
  const std::string start(reinterpret_cast<const char *>(file.data()), 4);
  if (start == "PK\3\4")
    return std::string("it is a zip archive, as torch.save and numpy.savez "
                       "write them") +
           kWrite;
  if (start[0] == '\x80' && start[1] <= 5)
    return std::string("it is a pickle") + kWrite;
  if (start == "\x93NUM")
    return std::string("it is a NumPy array") + kWrite;
  return "no safetensors file, or the beginning of one: its first 8 bytes give "
         "the header " +
         std::to_string(headerBytes) + " bytes, the file has " +
         std::to_string(file.size()) + " (at most " +
         std::to_string(safetensors::kMaxHeaderBytes) + " are allowed)";
}

} // namespace

StatusOr<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  SafetensorsFile result;
  PIPEC_ASSIGN_OR_RETURN(result.file, MappedFile::open(path));
  const MappedFile &file = *result.file;
  const std::string prefix = "'" + path + "'";
  if (file.size() < 8)
    return dataLoss(prefix + ": " + std::to_string(file.size()) +
                    " bytes are too few for a safetensors file");
  uint64_t headerBytes = 0;
  for (int i = 7; i >= 0; --i)
    headerBytes = headerBytes << 8 | file.data()[i];
  if (headerBytes > safetensors::kMaxHeaderBytes ||
      headerBytes > file.size() - 8)
    return dataLoss(prefix + ": " + whatElse(file, headerBytes));
  const std::string_view text(reinterpret_cast<const char *>(file.data()) + 8,
                              headerBytes);
  StatusOr<safetensors::Header> header =
      safetensors::parseHeader(text, file.size() - 8 - headerBytes);
  if (!header.ok())
    return header.status().withPrefix(prefix);
  for (safetensors::Entry &entry : header->entries) {
    result.order.push_back(entry.name);
    result.entries[entry.name] = {std::move(entry.type),
                                  8 + headerBytes + entry.begin};
  }
  result.meta = std::move(header->metadata);
  return result;
}

const TensorType *SafetensorsFile::find(const std::string &name) const {
  auto it = entries.find(name);
  return it == entries.end() ? nullptr : &it->second.type;
}

StatusOr<uint64_t> SafetensorsFile::offsetOf(const std::string &name) const {
  auto it = entries.find(name);
  if (it == entries.end())
    return invalidArgument("'" + path() + "' has no tensor '" + name + "'");
  return it->second.offset;
}

StatusOr<Tensor> SafetensorsFile::get(const std::string &name) const {
  PIPEC_ASSIGN_OR_RETURN(const uint64_t offset, offsetOf(name));
  const TensorType &type = entries.at(name).type;
  const uint8_t *bytes = file->data() + offset;
  // The format does not promise alignment; typed access needs it.
  if (reinterpret_cast<uintptr_t>(bytes) % byteSize(type.dtype) != 0)
    return Tensor::copyOf(type, bytes);
  return Tensor::wrap(type, const_cast<uint8_t *>(bytes), file);
}

Status SafetensorsFile::checkSeal() const {
  const auto found = meta.find(safetensors::kSealKey);
  if (found == meta.end())
    return {};
  const std::string &seal = found->second, none = safetensors::kNoSeal;
  uint64_t headerEnd = file->size(); // where there is no tensor
  for (const auto &[name, entry] : entries)
    headerEnd = std::min(headerEnd, entry.offset);
  std::string header(reinterpret_cast<const char *>(file->data()), headerEnd);
  const size_t at = safetensors::findSeal(header);
  if (at == 0 || seal.size() != none.size())
    return dataLoss("'" + path() + "': its checksum is damaged");
  header.replace(at, none.size(), none);
  Digest digest;
  digest.add(header.data(), header.size());
  digest.add(file->data() + headerEnd, file->size() - headerEnd);
  if (digest.hex() == seal)
    return {};
  return dataLoss("'" + path() +
                  "' is damaged: its bytes are not those that were written "
                  "(checksum " +
                  digest.hex() + ", expected " + seal + ")");
}

StatusOr<TensorMap> loadSafetensors(const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(const SafetensorsFile file,
                         SafetensorsFile::open(path));
  TensorMap tensors;
  for (const std::string &name : file.names()) {
    PIPEC_ASSIGN_OR_RETURN(tensors[name], file.get(name));
  }
  return tensors;
}

} // namespace pipec

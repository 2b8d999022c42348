// Where the elements of a model file's tensor lie, and how to read them when
// they are needed.
//
// In: what a frontend's reader found. Out: values; nothing is read from disk
// but what the caller asks for. Tests:
// test/unit/frontends/TensorSourceTest.cpp.
#ifndef PIPEC_FRONTENDS_COMMON_TENSORSOURCE_H
#define PIPEC_FRONTENDS_COMMON_TENSORSOURCE_H

#include "pipec/tensor.h"
#include "runtime/base/mapped_file.h"

#include <memory>
#include <string>
#include <vector>

namespace pipec::frontend {

/// Either a range of a file, or bytes in memory (`inlined`) for small tensors
/// and for payloads that are not stored as they lie in memory.
struct TensorSource {
  TensorType type;
  std::shared_ptr<const MappedFile> file;
  uint64_t offset = 0, length = 0; // bytes
  Tensor inlined;

  bool inFile() const { return file != nullptr; }
  /// A copy of the elements, aligned. Errors: ResourceExhausted.
  StatusOr<Tensor> load() const;
};

/// A tensor of a model file under the name that it has there.
struct NamedTensor {
  std::string name;
  TensorSource source;
};
using NamedTensors = std::vector<NamedTensor>; // in the file's order

} // namespace pipec::frontend

#endif

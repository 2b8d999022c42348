// Finds where tensor bytes lie in a serialised ModelProto.
//
// In: the mapped bytes of an .onnx file. Out: a copy of the message without the
// large payloads of initializers and of tensor attributes, and the place in the
// file of each payload left out. So the protobuf library never sees weight
// bytes. Every length is checked; nothing recurses further than the model /
// graph / node / attribute / tensor nesting. Tests:
// test/unit/frontends/WireScannerTest.cpp.
#ifndef PIPEC_FRONTENDS_ONNX_FILE_WIRESCANNER_H
#define PIPEC_FRONTENDS_ONNX_FILE_WIRESCANNER_H

#include "pipec/status.h"

#include <map>
#include <vector>

namespace pipec::onnx {

/// A run of bytes of the model file that holds a tensor's elements,
/// little-endian.
struct Payload {
  uint64_t offset = 0; // from the start of the file, in bytes
  uint64_t length = 0; // in bytes
  int field = 0;       // TensorProto field: raw_data, float_data or double_data
};

struct ScannedModel {
  std::string pruned;                  // ModelProto without the payloads below
  std::map<int, Payload> initializers; // by position in graph.initializer
  std::map<std::pair<int, int>, Payload>
      attributes; // by (node, attribute) position
};

/// Payloads of more bytes than this are left out of the copy.
constexpr uint64_t kInlinePayloadLimit = 256;

/// Errors (DataLoss) name the byte offset at which the message breaks.
StatusOr<ScannedModel> scanModel(const uint8_t *data, uint64_t size);

} // namespace pipec::onnx

#endif

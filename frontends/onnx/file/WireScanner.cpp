// Walks the protobuf wire format of a ModelProto: see WireScanner.h.
//
// In: bytes. Out: the pruned message and the payloads' places. A tensor whose
// payload comes in several pieces keeps it in the copy, where protobuf joins
// the pieces. Tests: test/unit/frontends/WireScannerTest.cpp.
#include "frontends/onnx/file/WireScanner.h"

namespace pipec::onnx {
namespace {

enum class Message { Model, Graph, Node, Attribute, Tensor };

// Wire types of the protobuf encoding.
constexpr int kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;
// TensorProto fields that hold elements as they lie in memory.
constexpr int kFloatData = 4, kRawData = 9, kDoubleData = 10;

struct Nested {
  Message parent;
  int field;
  Message child;
};
constexpr Nested kNested[] = {
    {Message::Model, 7, Message::Graph},
    {Message::Graph, 1, Message::Node},
    {Message::Graph, 5, Message::Tensor},
    {Message::Node, 5, Message::Attribute},
    {Message::Attribute, 5, Message::Tensor},
};

void putVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

Status broken(uint64_t offset, const char *what) {
  return dataLoss("not a valid ONNX file: " + std::string(what) + " at byte " +
                  std::to_string(offset));
}

class Scanner {
public:
  Scanner(const uint8_t *data, ScannedModel &result)
      : data(data), result(result) {}

  Status scan(Message kind, uint64_t begin, uint64_t end, std::string &out);

private:
  struct Field {
    int number = 0;
    int wireType = 0;
    uint64_t start = 0, content = 0, end = 0; // key, payload and next field
  };

  Status readVarint(uint64_t &pos, uint64_t end, uint64_t &value) const {
    value = 0;
    uint64_t start = pos;
    for (int shift = 0; shift < 64; shift += 7) {
      if (pos >= end)
        return broken(start, "a number is cut off");
      uint8_t byte = data[pos++];
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return Status();
    }
    return broken(start, "a number has more than ten bytes");
  }

  Status readField(uint64_t pos, uint64_t end, Field &field) const {
    field.start = pos;
    uint64_t key = 0, length = 0;
    PIPEC_RETURN_IF_ERROR(readVarint(pos, end, key));
    if ((key >> 3) == 0 || (key >> 3) > 536870911)
      return broken(field.start, "a field number is out of range");
    field.number = static_cast<int>(key >> 3);
    field.wireType = static_cast<int>(key & 7);
    if (field.wireType == kBytes) {
      PIPEC_RETURN_IF_ERROR(readVarint(pos, end, length));
      field.content = pos;
    } else if (field.wireType == kVarint) {
      field.content = pos;
      PIPEC_RETURN_IF_ERROR(readVarint(pos, end, length));
      length = 0;
    } else if (field.wireType == kFixed64 || field.wireType == kFixed32) {
      field.content = pos;
      length = field.wireType == kFixed64 ? 8 : 4;
    } else {
      return broken(field.start, "an unknown wire type");
    }
    if (length > end - pos)
      return broken(field.start, "a field is longer than its message");
    field.end = pos + length;
    return Status();
  }

  static const Nested *nested(Message parent, const Field &field) {
    for (const Nested &entry : kNested)
      if (entry.parent == parent && entry.field == field.number &&
          field.wireType == kBytes)
        return &entry;
    return nullptr;
  }

  void copy(const Field &field, std::string &out) const {
    out.append(reinterpret_cast<const char *>(data + field.start),
               field.end - field.start);
  }

  Status scanChild(Message child, Message parent, const Field &field,
                   std::string &out);
  Status scanTensor(uint64_t begin, uint64_t end, std::string &out,
                    std::optional<Payload> &payload) const;
  void enter(Message child, Message parent);

  const uint8_t *data;
  ScannedModel &result;
  int node = -1, attribute = -1, initializer = -1;
  int attributeTensors = 0;
};

void Scanner::enter(Message child, Message parent) {
  if (child == Message::Node) {
    ++node;
    attribute = -1;
  } else if (child == Message::Attribute) {
    ++attribute;
    attributeTensors = 0;
  } else if (child == Message::Tensor && parent == Message::Graph) {
    ++initializer;
  }
}

Status Scanner::scanChild(Message child, Message parent, const Field &field,
                          std::string &out) {
  enter(child, parent);
  std::string content;
  if (child == Message::Tensor) {
    std::optional<Payload> payload;
    PIPEC_RETURN_IF_ERROR(
        scanTensor(field.content, field.end, content, payload));
    if (parent == Message::Attribute && ++attributeTensors > 1)
      return broken(field.start, "an attribute has two tensors");
    if (payload && parent == Message::Graph)
      result.initializers[initializer] = *payload;
    else if (payload)
      result.attributes[{node, attribute}] = *payload;
  } else {
    PIPEC_RETURN_IF_ERROR(scan(child, field.content, field.end, content));
  }
  putVarint(out, static_cast<uint64_t>(field.number) << 3 | kBytes);
  putVarint(out, content.size());
  out += content;
  return Status();
}

Status Scanner::scanTensor(uint64_t begin, uint64_t end, std::string &out,
                           std::optional<Payload> &payload) const {
  auto holdsElements = [](const Field &field) {
    return field.wireType == kBytes &&
           (field.number == kFloatData || field.number == kRawData ||
            field.number == kDoubleData);
  };
  int pieces = 0;
  Field field;
  for (uint64_t pos = begin; pos < end; pos = field.end) {
    PIPEC_RETURN_IF_ERROR(readField(pos, end, field));
    bool elements = field.number == kFloatData || field.number == kRawData ||
                    field.number == kDoubleData;
    pieces += elements;
    if (holdsElements(field))
      payload = Payload{field.content, field.end - field.content, field.number};
  }
  if (pieces != 1)
    payload.reset();
  for (uint64_t pos = begin; pos < end; pos = field.end) {
    PIPEC_RETURN_IF_ERROR(readField(pos, end, field));
    if (!payload || payload->length <= kInlinePayloadLimit ||
        !holdsElements(field))
      copy(field, out);
  }
  return Status();
}

Status Scanner::scan(Message kind, uint64_t begin, uint64_t end,
                     std::string &out) {
  Field field;
  for (uint64_t pos = begin; pos < end; pos = field.end) {
    PIPEC_RETURN_IF_ERROR(readField(pos, end, field));
    if (const Nested *entry = nested(kind, field))
      PIPEC_RETURN_IF_ERROR(scanChild(entry->child, kind, field, out));
    else
      copy(field, out);
  }
  return Status();
}

} // namespace

StatusOr<ScannedModel> scanModel(const uint8_t *data, uint64_t size) {
  ScannedModel result;
  Scanner scanner(data, result);
  PIPEC_RETURN_IF_ERROR(scanner.scan(Message::Model, 0, size, result.pruned));
  return result;
}

} // namespace pipec::onnx

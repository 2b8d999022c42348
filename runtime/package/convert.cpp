// Types, attributes and origins of the package schema, turned into the
// runtime's. In: parsed messages of an untrusted file; out: values that are
// safe to use. Tests: test/unit/runtime/PackageCorruptionTest.cpp.
#include "runtime/package/convert.h"

namespace pipec {
namespace {

constexpr int kMaxRank = 32;

bool isKnownDType(int dtype) {
  return dtype >= static_cast<int>(DType::Bool) &&
         dtype <= static_cast<int>(DType::F64);
}

} // namespace

StatusOr<TensorType> readTensorType(const schema::TensorType &type) {
  if (!isKnownDType(type.dtype()))
    return dataLoss("unknown dtype " + std::to_string(type.dtype()));
  if (type.shape_size() > kMaxRank)
    return dataLoss("rank " + std::to_string(type.shape_size()) +
                    ", expected at most " + std::to_string(kMaxRank));
  TensorType result;
  result.dtype = static_cast<DType>(type.dtype());
  result.shape.assign(type.shape().begin(), type.shape().end());
  if (auto bytes = checkedByteSize(result); !bytes.ok())
    return dataLoss(bytes.status().message());
  return result;
}

StatusOr<AttrValue> readAttribute(const schema::Attribute &attribute) {
  using Case = schema::Attribute::ValueCase;
  switch (attribute.value_case()) {
  case Case::kI:
    return AttrValue(static_cast<int64_t>(attribute.i()));
  case Case::kF:
    return AttrValue(attribute.f());
  case Case::kS:
    return AttrValue(attribute.s());
  case Case::kB:
    return AttrValue(attribute.b());
  case Case::kInts:
    return AttrValue(std::vector<int64_t>(attribute.ints().values().begin(),
                                          attribute.ints().values().end()));
  case Case::kFloats:
    return AttrValue(std::vector<double>(attribute.floats().values().begin(),
                                         attribute.floats().values().end()));
  case Case::kDtype:
    if (!isKnownDType(attribute.dtype()))
      return dataLoss("attribute '" + attribute.name() + "': unknown dtype " +
                      std::to_string(attribute.dtype()));
    return AttrValue(static_cast<DType>(attribute.dtype()));
  case Case::VALUE_NOT_SET:
    break;
  }
  return dataLoss("attribute '" + attribute.name() + "' has no value");
}

Origin readOrigin(const schema::Origin &origin) {
  Origin result;
  result.module = origin.module();
  result.node = origin.node();
  result.op = origin.op();
  result.file = origin.file();
  result.line = origin.line();
  result.index = origin.index();
  return result;
}

int64_t findBadBool(const TensorType &type, const void *data) {
  if (type.dtype != DType::Bool)
    return -1;
  const uint8_t *bytes = static_cast<const uint8_t *>(data);
  for (int64_t i = 0, e = type.numElements(); i < e; ++i)
    if (bytes[i] > 1)
      return i;
  return -1;
}

} // namespace pipec

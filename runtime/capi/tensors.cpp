// Tensors that cross the C interface. Tests: test/unit/capi.
#include "runtime/capi/handles.h"

#include <algorithm>

namespace pipec::capi {
namespace {

constexpr int32_t kMaxRank = 32;

Status fill(const pipec_tensors::Entry &entry, pipec_tensor &tensor) {
  const TensorType &type = entry.tensor.type();
  tensor.name = entry.name.c_str();
  tensor.dtype = static_cast<int32_t>(type.dtype);
  tensor.rank = static_cast<int32_t>(type.rank());
  tensor.shape = type.shape.data();
  tensor.data = const_cast<void *>(entry.tensor.data());
  return {};
}

} // namespace

StatusOr<Tensor> wrapTensor(const pipec_tensor &tensor) {
  if (!tensor.name)
    return invalidArgument("a tensor's name is NULL");
  const std::string name = "tensor '" + std::string(tensor.name) + "'";
  if (tensor.dtype < PIPEC_BOOL || tensor.dtype > PIPEC_F64)
    return invalidArgument(
        name + " has no dtype of pipec's: " + std::to_string(tensor.dtype));
  if (tensor.rank < 0 || tensor.rank > kMaxRank)
    return invalidArgument(name + " has rank " + std::to_string(tensor.rank) +
                           ", expected 0 to " + std::to_string(kMaxRank));
  if (tensor.rank && !tensor.shape)
    return invalidArgument(name + ": its shape is NULL");
  TensorType type;
  type.dtype = static_cast<DType>(tensor.dtype);
  if (tensor.rank)
    type.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  auto bytes = checkedByteSize(type);
  if (!bytes.ok())
    return bytes.status().withPrefix(name);
  if (*bytes && !tensor.data)
    return invalidArgument(name + ": its data is NULL");
  if (reinterpret_cast<uintptr_t>(tensor.data) % byteSize(type.dtype))
    return invalidArgument(name + ": its data is not aligned for " +
                           std::string(dtypeName(type.dtype)));
  return Tensor::wrap(std::move(type), tensor.data, nullptr);
}

StatusOr<TensorMap> wrapTensors(const pipec_tensor *tensors, size_t count) {
  if (count && !tensors)
    return invalidArgument("the tensors are NULL");
  TensorMap map;
  for (size_t i = 0; i < count; ++i) {
    PIPEC_ASSIGN_OR_RETURN(Tensor tensor, wrapTensor(tensors[i]));
    if (!map.emplace(tensors[i].name, std::move(tensor)).second)
      return invalidArgument("tensor '" + std::string(tensors[i].name) +
                             "' is given twice");
  }
  return map;
}

pipec_tensors *makeTensors(const TensorMap &tensors, const AliasMap &aliases,
                           Keeper keeper) {
  auto list = std::make_unique<pipec_tensors>();
  list->keeper = std::move(keeper);
  for (const auto &[name, tensor] : tensors) {
    const size_t index = list->entries.size();
    list->index[name] = index;
    if (auto others = aliases.find(name); others != aliases.end())
      for (const std::string &alias : others->second)
        list->index.emplace(alias, index);
    list->entries.push_back({name, tensor});
  }
  return list.release();
}

} // namespace pipec::capi

using namespace pipec;
using namespace pipec::capi;

size_t pipec_tensors_count(const pipec_tensors *tensors) {
  return isHandle(tensors) ? tensors->entries.size() : 0;
}

pipec_status pipec_tensors_get(const pipec_tensors *tensors, size_t index,
                               pipec_tensor *tensor, pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(tensors, "the list of tensors"));
    PIPEC_RETURN_IF_ERROR(checkPointer(tensor, "the place for a tensor"));
    if (index >= tensors->entries.size())
      return invalidArgument("there is no tensor " + std::to_string(index) +
                             " in a list of " +
                             std::to_string(tensors->entries.size()));
    return fill(tensors->entries[index], *tensor);
  });
}

pipec_status pipec_tensors_find(const pipec_tensors *tensors, const char *name,
                                pipec_tensor *tensor, pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(tensors, "the list of tensors"));
    PIPEC_RETURN_IF_ERROR(checkPointer(name, "the tensor's name"));
    PIPEC_RETURN_IF_ERROR(checkPointer(tensor, "the place for a tensor"));
    auto found = tensors->index.find(name);
    if (found == tensors->index.end())
      return invalidArgument("there is no tensor '" + std::string(name) + "'");
    return fill(tensors->entries[found->second], *tensor);
  });
}

void pipec_tensors_free(pipec_tensors *tensors) { freeHandle(tensors); }

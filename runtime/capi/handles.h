// The objects behind pipec.h, and how its functions fail.
#ifndef PIPEC_RUNTIME_CAPI_HANDLES_H
#define PIPEC_RUNTIME_CAPI_HANDLES_H

#include "pipec/pipec.h"
#include "pipec/session.h"
#include "pipec/trainer.h"
#include "runtime/base/one_at_a_time.h"

#include <cstring>
#include <new>

namespace pipec::capi {

enum class HandleKind : uint32_t {
  Tensors = 0x70697001, // values that other memory seldom has
  Package,
  Session,
  Trainer,
};

/// First in each object, so that one of another kind is met with an error and
/// not with a crash.
template <HandleKind expected> struct Handle {
  HandleKind kind = expected;
  static constexpr HandleKind kKind = expected;
};

template <typename T> bool isHandle(const T *object) {
  return object && object->kind == T::kKind;
}

/// Fills *error, where there is one, and returns the status for C.
pipec_status report(const Status &status, pipec_error **error);

/// Runs `body`, which returns a Status; nothing that it throws gets out.
template <typename Body>
pipec_status guarded(pipec_error **error, const Body &body) {
  try {
    return report(body(), error);
  } catch (const std::bad_alloc &) {
    return report({StatusCode::ResourceExhausted, {}}, error);
  } catch (...) {
    return report({StatusCode::Internal, {}}, error);
  }
}

/// An error unless `object` is one of its type; `what` names the argument.
template <typename T> Status checkHandle(const T *object, const char *what) {
  if (!object)
    return invalidArgument(std::string(what) + " is NULL");
  if (!isHandle(object))
    return invalidArgument(std::string(what) +
                           " is an object of another kind, or was freed");
  return {};
}

inline Status checkPointer(const void *pointer, const char *what) {
  return pointer ? Status() : invalidArgument(std::string(what) + " is NULL");
}

/// A field that says yes or no: 1 or 0. Errors name it as `what`.
inline StatusOr<bool> readFlag(int32_t value, const char *what) {
  if (value == 0 || value == 1)
    return value == 1;
  return invalidArgument(std::string(what) + " is " + std::to_string(value) +
                         ", expected 0 or 1");
}

/// The caller's structure, of his version, over our defaults. Fields that only
/// his version has must be zero.
template <typename Options>
Status readOptions(const Options *given, Options &options) {
  if (!given)
    return {};
  const size_t size = given->size;
  if (size < sizeof(size_t))
    return invalidArgument("the options' size is not set; call their _init "
                           "function first");
  const auto *bytes = reinterpret_cast<const unsigned char *>(given);
  for (size_t i = sizeof options; i < size; ++i)
    if (bytes[i])
      return unsupported("options are set that this version of the library "
                         "does not have");
  std::memcpy(static_cast<void *>(&options), given,
              std::min(size, sizeof options));
  return {};
}

/// The first `size` bytes of the defaults, which `options` has room for.
template <typename Options>
void writeDefaults(Options defaults, Options *options, size_t size) {
  if (!options || size < sizeof(size_t))
    return;
  defaults.size = size;
  std::memset(static_cast<void *>(options), 0, size);
  std::memcpy(static_cast<void *>(options), &defaults,
              std::min(size, sizeof defaults));
}

/// A result structure of the caller's version: `value` as far as he has room.
template <typename Result> Status writeResult(Result value, Result *result) {
  const size_t size = result->size;
  if (size < sizeof(size_t))
    return invalidArgument("the result's size is not set");
  value.size = size;
  std::memcpy(static_cast<void *>(result), &value,
              std::min(size, sizeof value));
  return {};
}

/// The caller's tensor as ours; aliases its bytes. Errors name the tensor.
StatusOr<Tensor> wrapTensor(const pipec_tensor &tensor);
/// `count` of them, by name.
StatusOr<TensorMap> wrapTensors(const pipec_tensor *tensors, size_t count);

using AliasMap = std::map<std::string, std::vector<std::string>>;
/// Whatever keeps the tensors' bytes alive beside the tensors themselves.
using Keeper = std::shared_ptr<const void>;
pipec_tensors *makeTensors(const TensorMap &tensors, const AliasMap &aliases,
                           Keeper keeper);

} // namespace pipec::capi

struct pipec_error {
  pipec_status status;
  std::string message;
};

struct pipec_tensors : pipec::capi::Handle<pipec::capi::HandleKind::Tensors> {
  struct Entry {
    std::string name;
    pipec::Tensor tensor;
  };
  std::vector<Entry> entries;
  std::map<std::string, size_t> index; // by any name
  pipec::capi::Keeper keeper;
};

struct pipec_package : pipec::capi::Handle<pipec::capi::HandleKind::Package> {
  explicit pipec_package(pipec::Package package)
      : package(std::move(package)) {}
  pipec::Package package;
};

struct pipec_session : pipec::capi::Handle<pipec::capi::HandleKind::Session> {
  std::unique_ptr<pipec::Session> session;
};

struct pipec_trainer : pipec::capi::Handle<pipec::capi::HandleKind::Trainer> {
  std::shared_ptr<pipec::Trainer> trainer; // lists of tensors keep it too
  pipec::OneAtATime uses;
};

namespace pipec::capi {

/// Deletes an object, and marks its memory, so that a second free is likely
/// to be noticed. Objects of another kind are left alone.
template <typename T> void freeHandle(T *object) {
  if (!isHandle(object))
    return;
  object->kind = HandleKind{};
  delete object;
}

} // namespace pipec::capi

#endif // PIPEC_RUNTIME_CAPI_HANDLES_H

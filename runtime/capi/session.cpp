// Packages and sessions for C. Tests: test/unit/capi.
#include "runtime/capi/handles.h"

#include <algorithm>

using namespace pipec;
using namespace pipec::capi;

pipec_status pipec_package_open(const char *path, pipec_package **package,
                                pipec_error **error) {
  return pipec_package_open_with(path, nullptr, package, error);
}

void pipec_package_options_init(pipec_package_options *options, size_t size) {
  writeDefaults(pipec_package_options{}, options, size);
}

pipec_status pipec_package_open_with(const char *path,
                                     const pipec_package_options *options,
                                     pipec_package **package,
                                     pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkPointer(path, "the package's path"));
    PIPEC_RETURN_IF_ERROR(checkPointer(package, "the place for a package"));
    pipec_package_options given = {};
    PIPEC_RETURN_IF_ERROR(readOptions(options, given));
    PackageOptions own;
    for (size_t i = 0; i < given.allow_external_count; ++i) {
      PIPEC_RETURN_IF_ERROR(
          checkPointer(given.allow_external, "the list of folders"));
      PIPEC_RETURN_IF_ERROR(
          checkPointer(given.allow_external[i], "a folder's path"));
      own.allowExternal.emplace_back(given.allow_external[i]);
    }
    PIPEC_ASSIGN_OR_RETURN(Package opened, Package::open(path, own));
    *package = new pipec_package(std::move(opened));
    return {};
  });
}

void pipec_package_free(pipec_package *package) { freeHandle(package); }

int32_t pipec_package_is_trainable(const pipec_package *package) {
  return isHandle(package) && package->package.isTrainable();
}

size_t pipec_package_stage_count(const pipec_package *package) {
  return isHandle(package) ? package->package.stages().size() : 0;
}

size_t pipec_package_variant_count(const pipec_package *package) {
  return isHandle(package) ? package->package.microbatchRows().size() : 0;
}

size_t pipec_package_input_count(const pipec_package *package) {
  return isHandle(package) ? package->package.inputs().size() : 0;
}

static int32_t roleOf(InputRole role) {
  switch (role) {
  case InputRole::Data:
    return PIPEC_DATA;
  case InputRole::Labels:
    return PIPEC_LABELS;
  case InputRole::LossScale:
    return PIPEC_LOSS_SCALE;
  case InputRole::RandomKey:
    return PIPEC_RANDOM_KEY;
  case InputRole::LossTotal:
    return PIPEC_LOSS_TOTAL;
  }
  return PIPEC_DATA;
}

pipec_status pipec_package_input(const pipec_package *package, size_t index,
                                 size_t variant, pipec_input *input,
                                 pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(package, "the package"));
    PIPEC_RETURN_IF_ERROR(checkPointer(input, "the place for an input"));
    const auto &inputs = package->package.inputs();
    if (index >= inputs.size() || variant >= inputs[index].types.size())
      return invalidArgument("the package has no input " +
                             std::to_string(index) + " in microbatch size " +
                             std::to_string(variant));
    const TensorType &type = inputs[index].types[variant];
    pipec_input value = {};
    value.name = inputs[index].name.c_str();
    value.shape = type.shape.data();
    value.rank = static_cast<int32_t>(type.rank());
    value.dtype = static_cast<int32_t>(type.dtype);
    value.role = roleOf(inputs[index].role);
    value.whole = inputs[index].whole;
    return writeResult(value, input);
  });
}

static pipec_session_options sessionDefaults() {
  const SessionOptions defaults;
  pipec_session_options options = {};
  options.size = sizeof options;
  options.memory_limit = defaults.memoryLimit;
  options.queue_capacity = defaults.queueCapacity;
  options.reference_kernels = defaults.referenceKernels;
  options.check_numerics = defaults.checkNumerics;
  return options;
}

void pipec_session_options_init(pipec_session_options *options, size_t size) {
  writeDefaults(sessionDefaults(), options, size);
}

pipec_status pipec_session_create(const pipec_package *package,
                                  const pipec_session_options *options,
                                  pipec_session **session,
                                  pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(package, "the package"));
    PIPEC_RETURN_IF_ERROR(checkPointer(session, "the place for a session"));
    pipec_session_options given = sessionDefaults();
    PIPEC_RETURN_IF_ERROR(readOptions(options, given));
    if (given.reserved != 0)
      return invalidArgument("the options' reserved field is " +
                             std::to_string(given.reserved) + ", expected 0");
    SessionOptions own;
    own.memoryLimit = given.memory_limit;
    own.queueCapacity = given.queue_capacity;
    PIPEC_ASSIGN_OR_RETURN(
        own.referenceKernels,
        readFlag(given.reference_kernels, "reference_kernels"));
    PIPEC_ASSIGN_OR_RETURN(own.checkNumerics,
                           readFlag(given.check_numerics, "check_numerics"));
    auto made = std::make_unique<pipec_session>();
    PIPEC_ASSIGN_OR_RETURN(made->session,
                           Session::create(package->package, own));
    *session = made.release();
    return {};
  });
}

void pipec_session_free(pipec_session *session) { freeHandle(session); }

pipec_status pipec_session_run(pipec_session *session,
                               const pipec_tensor *inputs, size_t input_count,
                               int64_t microbatches, pipec_tensors **outputs,
                               pipec_error **error) {
  return guarded(error, [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkHandle(session, "the session"));
    PIPEC_RETURN_IF_ERROR(checkPointer(outputs, "the place for outputs"));
    PIPEC_ASSIGN_OR_RETURN(TensorMap batch, wrapTensors(inputs, input_count));
    RunOptions options;
    options.microbatches = microbatches;
    PIPEC_ASSIGN_OR_RETURN(TensorMap made,
                           session->session->run(batch, options));
    *outputs = makeTensors(made, {}, nullptr);
    return {};
  });
}

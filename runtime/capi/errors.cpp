// Version and errors of the C interface. Tests: test/unit/capi.
#include "runtime/capi/handles.h"

namespace pipec::capi {

static_assert(
    static_cast<int>(StatusCode::InvalidArgument) == PIPEC_INVALID_ARGUMENT &&
        static_cast<int>(StatusCode::Io) == PIPEC_IO &&
        static_cast<int>(StatusCode::DataLoss) == PIPEC_DATA_LOSS &&
        static_cast<int>(StatusCode::Unsupported) == PIPEC_UNSUPPORTED &&
        static_cast<int>(StatusCode::ResourceExhausted) ==
            PIPEC_RESOURCE_EXHAUSTED &&
        static_cast<int>(StatusCode::NumericError) == PIPEC_NUMERIC_ERROR &&
        static_cast<int>(StatusCode::Cancelled) == PIPEC_CANCELLED &&
        static_cast<int>(StatusCode::Internal) == PIPEC_INTERNAL,
    "pipec.h numbers the codes as status.h does");

namespace {

/// Messages of the runtime name options as the command line does; programs know
/// them by their fields.
std::string withFieldNames(const std::string &text) {
  static const std::map<std::string, std::string> fields = {
      {"accumulate", "accumulate"},
      {"betas", "beta1 and beta2"},
      {"check-numerics", "check_numerics"},
      {"clip-norm", "clip_norm"},
      {"dampening", "dampening"},
      {"eps", "eps"},
      {"lr", "lr"},
      {"lr-schedule", "lr_schedule"},
      {"memory", "memory_limit"},
      {"momentum", "momentum"},
      {"nesterov", "nesterov"},
      {"optimizer", "optimizer"},
      {"reference-kernels", "reference_kernels"},
      {"seed", "seed"},
      {"steps", "total_steps"},
      {"warmup-steps", "warmup_steps"},
      {"weight-decay", "weight_decay"}};
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const bool isOption =
        text.compare(at, 2, "--") == 0 &&
        (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(');
    size_t end = at + (isOption ? 2 : 1);
    while (isOption && end < text.size() &&
           (text[end] == '-' || (text[end] >= 'a' && text[end] <= 'z')))
      ++end;
    const std::string piece = text.substr(at, end - at);
    const auto field = isOption ? fields.find(piece.substr(2)) : fields.end();
    result += field == fields.end() ? piece : field->second;
    at = end;
  }
  return result;
}

} // namespace

pipec_status report(const Status &status, pipec_error **error) {
  const auto code = static_cast<pipec_status>(status.getCode());
  if (!error)
    return code;
  *error = nullptr;
  if (status.ok())
    return code;
  try { // an error without a message is what an exception left
    *error = new pipec_error{code, withFieldNames(status.message())};
    if (status.message().empty())
      (*error)->message = code == PIPEC_RESOURCE_EXHAUSTED
                              ? "out of memory"
                              : "a fault of pipec: an unexpected exception";
  } catch (...) {
    delete *error;
    *error = nullptr; // the code alone has to do
  }
  return code;
}

} // namespace pipec::capi

uint32_t pipec_abi_version(void) { return PIPEC_ABI_VERSION; }

const char *pipec_error_message(const pipec_error *error) {
  return error ? error->message.c_str() : "no error object was made";
}

pipec_status pipec_error_status(const pipec_error *error) {
  return error ? error->status : static_cast<pipec_status>(PIPEC_INTERNAL);
}

void pipec_error_free(pipec_error *error) { delete error; }

// Errors of the runtime: a code that says what the caller can do, and one
// message that names the file, stage, microbatch or op it is about.
//
// Nothing in the public API throws or aborts. Thread rule: values, copy freely.
#ifndef PIPEC_STATUS_H
#define PIPEC_STATUS_H

#include <optional>
#include <string>
#include <utility>

namespace pipec {

enum class StatusCode {
  Ok = 0,
  /// The caller passed something wrong (a missing input, a wrong shape): fix it
  /// and call again.
  InvalidArgument,
  /// A file could not be opened, read or written: check the path and the disk.
  Io,
  /// A file is corrupt, truncated or inconsistent: make it again.
  DataLoss,
  /// The request is well formed but this build cannot serve it.
  Unsupported,
  /// Memory or another resource ran out: use a smaller batch or more stages.
  ResourceExhausted,
  /// A NaN or an infinity was met while the numeric check was on.
  NumericError,
  /// Another stage failed first, or the session was stopped.
  Cancelled,
  /// A fault of pipec itself: please report it.
  Internal,
};

/// Success, or a code with a message. Must be looked at.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : code(code), text(std::move(message)) {}

  bool ok() const { return code == StatusCode::Ok; }
  StatusCode getCode() const { return code; }
  const std::string &message() const { return text; }

  /// The same code, with `prefix` and ": " before the message.
  Status withPrefix(const std::string &prefix) const {
    return ok() ? *this : Status(code, prefix + ": " + text);
  }

private:
  StatusCode code = StatusCode::Ok;
  std::string text;
};

inline Status invalidArgument(std::string m) {
  return {StatusCode::InvalidArgument, std::move(m)};
}
inline Status ioError(std::string m) { return {StatusCode::Io, std::move(m)}; }
inline Status dataLoss(std::string m) {
  return {StatusCode::DataLoss, std::move(m)};
}
inline Status unsupported(std::string m) {
  return {StatusCode::Unsupported, std::move(m)};
}
inline Status resourceExhausted(std::string m) {
  return {StatusCode::ResourceExhausted, std::move(m)};
}
inline Status numericError(std::string m) {
  return {StatusCode::NumericError, std::move(m)};
}
inline Status cancelled(std::string m) {
  return {StatusCode::Cancelled, std::move(m)};
}
inline Status internalError(std::string m) {
  return {StatusCode::Internal, std::move(m)};
}

/// A value or the Status that says why there is none.
template <typename T> class [[nodiscard]] StatusOr {
public:
  StatusOr(T value) : held(std::move(value)) {}
  StatusOr(Status status) : error(std::move(status)) {
    if (error.ok())
      error = internalError("StatusOr made from an ok Status");
  }

  bool ok() const { return held.has_value(); }
  const Status &status() const { return error; }

  /// Requires ok().
  T &operator*() { return *held; }
  const T &operator*() const { return *held; }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }

private:
  std::optional<T> held;
  Status error;
};

} // namespace pipec

#define PIPEC_RETURN_IF_ERROR(expr)                                            \
  do {                                                                         \
    if (::pipec::Status pipecStatus = (expr); !pipecStatus.ok())               \
      return pipecStatus;                                                      \
  } while (false)

#define PIPEC_CONCAT_IMPL(a, b) a##b
#define PIPEC_CONCAT(a, b) PIPEC_CONCAT_IMPL(a, b)
#define PIPEC_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr)                            \
  auto tmp = (expr);                                                           \
  if (!tmp.ok())                                                               \
    return tmp.status();                                                       \
  lhs = std::move(*tmp)
/// PIPEC_ASSIGN_OR_RETURN(auto x, f()): x is f()'s value, or f()'s error is
/// returned.
#define PIPEC_ASSIGN_OR_RETURN(lhs, expr)                                      \
  PIPEC_ASSIGN_OR_RETURN_IMPL(PIPEC_CONCAT(pipecOr, __LINE__), lhs, expr)

#endif // PIPEC_STATUS_H

// The public Session: a pipeline on the CPU with in-process transfers.
// In: a package and options; out: outputs of whole batches.
// Tests: test/unit/runtime/ExecutorTest.cpp.
#include "pipec/session.h"

#include "runtime/base/one_at_a_time.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/executor/pipeline.h"
#include "runtime/transport/local/local_transport.h"

#include <new>

namespace pipec {

struct Session::Impl {
  CpuDevice device;
  LocalTransport transport{device};
  std::unique_ptr<Pipeline> pipeline;
  OneAtATime uses;
};

Session::Session() : impl(std::make_unique<Impl>()) {}
Session::~Session() = default;

StatusOr<std::unique_ptr<Session>>
Session::create(const Package &package, const SessionOptions &options) {
  try {
    std::unique_ptr<Session> session(new Session());
    PIPEC_ASSIGN_OR_RETURN(session->impl->pipeline,
                           Pipeline::create(package, options,
                                            session->impl->device,
                                            session->impl->transport));
    return session;
  } catch (const std::bad_alloc &) {
    return resourceExhausted(package.path() +
                             ": out of memory while loading; " + kLessMemory);
  } catch (const std::exception &error) {
    return internalError(package.path() + ": " + error.what());
  }
}

StatusOr<TensorMap> Session::run(const TensorMap &inputs,
                                 const RunOptions &options) {
  PIPEC_ASSIGN_OR_RETURN(const auto use, impl->uses.enter("the session"));
  return impl->pipeline->run(inputs, options);
}

} // namespace pipec

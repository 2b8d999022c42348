// oneDNN as this library uses it: one CPU engine, one thread a call, scratch
// memory from the caller, exceptions turned into Status. Private to the oneDNN
// kernels.
//
// One thread a call makes bits independent of the thread count (the library
// splits some sums over threads); it is set in the calling thread alone, when
// primitives are made and when they run, and put back afterwards.
#ifndef PIPEC_RUNTIME_KERNELS_ONEDNN_LIBRARY_H
#define PIPEC_RUNTIME_KERNELS_ONEDNN_LIBRARY_H

#include "runtime/kernels/kernel.h"

#include <dnnl.hpp>
#include <unordered_map>

namespace pipec::onednn {

using Dims = dnnl::memory::dims;
using MemoryDesc = dnnl::memory::desc;

/// The calling thread's OpenMP team is one thread while this lives.
class OneThread {
public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread &) = delete;
  OneThread &operator=(const OneThread &) = delete;

private:
  int before;
};

/// May throw dnnl::error, as everything below that makes or runs primitives.
dnnl::engine &engine();
/// User scratchpad, strict f32 (whatever the environment asks for).
dnnl::primitive_attr attributes();

/// A primitive and its arguments; bytes are bound at each run.
class Step {
public:
  Step() = default;
  explicit Step(const dnnl::primitive &primitive) : primitive(primitive) {}
  void argument(int index, const MemoryDesc &desc);
  void bind(int index, const void *data);
  void run(dnnl::stream &stream) { primitive.execute(stream, arguments); }

private:
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> arguments;
};

/// Whether the library would use its plain, slow code: then the reference
/// kernel is the better one.
bool isSlow(const char *implementation);

/// make() with one thread; what the library cannot do is Unsupported.
template <typename F> StatusOr<std::unique_ptr<Kernel>> guardedMake(F &&make) {
  OneThread oneThread;
  try {
    return make();
  } catch (const dnnl::error &e) {
    return unsupported(std::string("oneDNN does not take the op: ") + e.what());
  }
}

/// run() with one thread; a failure of the library names `op`.
template <typename F> Status guardedRun(const std::string &op, F &&run) {
  OneThread oneThread;
  try {
    run();
    return Status();
  } catch (const std::exception &e) {
    return internalError(op + ": oneDNN failed: " + e.what());
  }
}

/// The sets that the library serves.
void registerDot(KernelRegistry &registry);
void registerConvolution(KernelRegistry &registry);
void registerAttention(KernelRegistry &registry);

} // namespace pipec::onednn

#endif

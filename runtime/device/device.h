// The device seam: the table of entries through which the executor gets
// memory, copies bytes and launches kernels. A new kind of device is a new
// implementation of this table and nothing else.
//
// Everything that touches memory is asynchronous and ordered by streams: an
// entry that takes a Stream returns as soon as the work is queued; work of one
// stream runs in order; streams are ordered against each other by events only.
// Tests: test/unit/runtime/DeviceTest.cpp.
#ifndef PIPEC_RUNTIME_DEVICE_DEVICE_H
#define PIPEC_RUNTIME_DEVICE_DEVICE_H

#include "runtime/kernels/kernel.h"

namespace pipec {

/// An in-order queue of work of one device. Made, owned and understood by the
/// device. Thread rule: externally synchronised.
class Stream {
public:
  virtual ~Stream() = default;
};

/// A point in a stream's work that others can wait for. Starts as reached; may
/// be recorded again and again. Thread rule: safe.
class Event {
public:
  virtual ~Event() = default;
};

struct DeviceProperties {
  std::string name;
  /// Device memory is host memory: the host may read and write it, and kernels
  /// may read host memory, with no copy between.
  bool sharesHostMemory = true;
  /// Alignment of what allocate() returns, in bytes.
  size_t alignment = 64;
};

/// What a float tensor holds besides finite numbers.
struct NumericClass {
  bool nan = false;
  bool infinity = false;
  bool finite() const { return !nan && !infinity; }
};

/// All entries but discard() are required and may be called from any thread. An
/// error of asynchronous work is returned by the next synchronize() of its
/// stream.
class Device {
public:
  virtual ~Device() = default;

  /// What the device is and can do. Never changes.
  virtual const DeviceProperties &query() const = 0;

  /// `bytes` (> 0) of uninitialised device memory. ResourceExhausted when there
  /// is not enough. Never called while a step runs.
  virtual StatusOr<void *> allocate(size_t bytes) = 0;
  /// Gives back what allocate() returned; null is ignored. No queued work may
  /// use it any more.
  virtual void free(void *memory) = 0;

  virtual StatusOr<std::unique_ptr<Stream>> createStream() = 0;
  virtual StatusOr<std::unique_ptr<Event>> createEvent() = 0;

  /// Queues a copy of `bytes` between any two places that the host or the
  /// device can address. They do not overlap and stay valid until it ran.
  virtual Status copy(Stream &stream, void *to, const void *from,
                      size_t bytes) = 0;
  /// Queues that the `bytes` at `memory` mean nothing until they are written
  /// again. A device may do nothing.
  virtual Status discard(Stream &, void * /*memory*/, size_t /*bytes*/) {
    return {};
  }
  /// Queues one run of `kernel`. Views and scratch are device memory; the
  /// vectors live until the stream has been synchronised. An exception of the
  /// kernel comes back as a Status.
  virtual Status launch(Stream &stream, Kernel &kernel,
                        const std::vector<TensorView> &inputs,
                        const std::vector<TensorView> &outputs,
                        void *scratch) = 0;

  /// Makes `event` unreached until the work queued so far has run.
  virtual Status record(Stream &stream, Event &event) = 0;
  /// Later work of `stream` starts only after `event` is reached. Does not
  /// block the caller where the device can wait by itself.
  virtual Status wait(Stream &stream, Event &event) = 0;
  /// Whether `event` is reached. Does not block.
  virtual bool reached(Event &event) = 0;
  /// Blocks the caller until all work queued so far has run; returns the first
  /// error of it.
  virtual Status synchronize(Stream &stream) = 0;

  /// Blocks until the work queued so far has run and says what the float
  /// tensor `view` (device memory) holds. Other dtypes are finite.
  virtual StatusOr<NumericClass> classify(Stream &stream,
                                          const TensorView &view) = 0;
};

/// Device memory that frees itself. Thread rule: a value, movable.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  /// At least `bytes`; none for 0.
  static StatusOr<DeviceBuffer> allocate(Device &device, size_t bytes) {
    DeviceBuffer buffer;
    if (bytes == 0)
      return buffer;
    PIPEC_ASSIGN_OR_RETURN(buffer.memory, device.allocate(bytes));
    buffer.device = &device;
    return buffer;
  }
  DeviceBuffer(DeviceBuffer &&other) noexcept
      : device(other.device), memory(std::exchange(other.memory, nullptr)) {}
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    std::swap(device, other.device);
    std::swap(memory, other.memory);
    return *this;
  }
  ~DeviceBuffer() {
    if (memory)
      device->free(memory);
  }
  void *get() const { return memory; }
  uint8_t *bytes() const { return static_cast<uint8_t *>(memory); }

private:
  Device *device = nullptr;
  void *memory = nullptr;
};

} // namespace pipec

#endif

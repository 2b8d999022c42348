// The CPU as a device: a stream runs what is queued at once, in the calling
// thread, so a worker's stream is its own thread of work.
#ifndef PIPEC_RUNTIME_DEVICE_CPU_CPU_DEVICE_H
#define PIPEC_RUNTIME_DEVICE_CPU_CPU_DEVICE_H

#include "runtime/device/device.h"

namespace pipec {

class CpuDevice : public Device {
public:
  CpuDevice();
  const DeviceProperties &query() const override { return properties; }
  StatusOr<void *> allocate(size_t bytes) override;
  void free(void *memory) override;
  StatusOr<std::unique_ptr<Stream>> createStream() override;
  StatusOr<std::unique_ptr<Event>> createEvent() override;
  Status copy(Stream &stream, void *to, const void *from,
              size_t bytes) override;
  Status launch(Stream &stream, Kernel &kernel,
                const std::vector<TensorView> &inputs,
                const std::vector<TensorView> &outputs, void *scratch) override;
  Status record(Stream &stream, Event &event) override;
  Status wait(Stream &stream, Event &event) override;
  bool reached(Event &event) override;
  Status synchronize(Stream &stream) override;
  StatusOr<NumericClass> classify(Stream &stream,
                                  const TensorView &view) override;

protected:
  DeviceProperties properties;
};

/// Of host memory; none of a type that has no NaN.
NumericClass classifyOnHost(const TensorView &view);

} // namespace pipec

#endif

// CPU device: in comes work in stream order, out comes the work done before
// the entry returns. Events are still real, with a lock and a condition: a
// stream is waited for by workers of other stages, which are other threads.
// Tests: test/unit/runtime/DeviceTest.cpp.
#include "runtime/device/cpu/cpu_device.h"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>

namespace pipec {
namespace {

class CpuStream : public Stream {};

class CpuEvent : public Event {
public:
  void set(bool value) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      done = value;
    }
    if (value)
      changed.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return done; });
  }
  bool get() {
    std::lock_guard<std::mutex> lock(mutex);
    return done;
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool done = true;
};

/// Scans bit patterns: `exponent` masks all exponent bits, the rest below the
/// sign is the mantissa.
template <typename Bits>
NumericClass scan(const void *data, int64_t count, Bits exponent) {
  constexpr Bits sign = Bits(1) << (sizeof(Bits) * 8 - 1);
  const Bits magnitude = static_cast<Bits>(~sign);
  const uint8_t *bytes = static_cast<const uint8_t *>(data);
  NumericClass found;
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, bytes + i * sizeof(Bits), sizeof(Bits));
    bits &= magnitude;
    found.nan |= bits > exponent;
    found.infinity |= bits == exponent;
  }
  return found;
}

} // namespace

CpuDevice::CpuDevice() { properties.name = "cpu"; }

StatusOr<void *> CpuDevice::allocate(size_t bytes) {
  void *memory = ::operator new(bytes, std::align_val_t(properties.alignment),
                                std::nothrow);
  if (!memory)
    return resourceExhausted("out of memory: could not allocate " +
                             std::to_string(bytes) + " bytes");
  return memory;
}

void CpuDevice::free(void *memory) {
  ::operator delete(memory, std::align_val_t(properties.alignment));
}

StatusOr<std::unique_ptr<Stream>> CpuDevice::createStream() {
  return std::unique_ptr<Stream>(std::make_unique<CpuStream>());
}

StatusOr<std::unique_ptr<Event>> CpuDevice::createEvent() {
  return std::unique_ptr<Event>(std::make_unique<CpuEvent>());
}

Status CpuDevice::copy(Stream &, void *to, const void *from, size_t bytes) {
  if (bytes != 0)
    std::memcpy(to, from, bytes);
  return {};
}

Status CpuDevice::launch(Stream &, Kernel &kernel,
                         const std::vector<TensorView> &inputs,
                         const std::vector<TensorView> &outputs,
                         void *scratch) {
  // Libraries behind kernels may throw; nothing may leave this library.
  try {
    return kernel.run(inputs, outputs, scratch);
  } catch (const std::bad_alloc &) {
    return resourceExhausted("out of memory");
  } catch (const std::exception &error) {
    return internalError(error.what());
  }
}

Status CpuDevice::record(Stream &, Event &event) {
  static_cast<CpuEvent &>(event).set(true);
  return {};
}

Status CpuDevice::wait(Stream &, Event &event) {
  static_cast<CpuEvent &>(event).wait();
  return {};
}

bool CpuDevice::reached(Event &event) {
  return static_cast<CpuEvent &>(event).get();
}

Status CpuDevice::synchronize(Stream &) { return {}; }

StatusOr<NumericClass> CpuDevice::classify(Stream &, const TensorView &view) {
  return classifyOnHost(view);
}

NumericClass classifyOnHost(const TensorView &view) {
  const int64_t count = view.type.numElements();
  switch (view.type.dtype) {
  case DType::F16:
    return scan<uint16_t>(view.data, count, 0x7c00);
  case DType::BF16:
    return scan<uint16_t>(view.data, count, 0x7f80);
  case DType::F32:
    return scan<uint32_t>(view.data, count, 0x7f800000u);
  case DType::F64:
    return scan<uint64_t>(view.data, count, 0x7ff0000000000000ull);
  default:
    return NumericClass{};
  }
}

} // namespace pipec

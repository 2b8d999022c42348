// In-process channels: a ring of preallocated slots, each with an event for
// "filled" and one for "free again", so that a device that runs behind its
// host is ordered as well.
// Invariants: head counts receives, tail counts sends, tail - head <= capacity;
// the slot of head stays the consumer's from receive() to release().
// Tests: test/unit/runtime/TransportTest.cpp.
#include "runtime/transport/local/local_transport.h"

#include <condition_variable>
#include <mutex>

namespace pipec {
namespace {

struct Slot {
  uint8_t *data = nullptr;
  int64_t microbatch = -1;
  size_t bytes = 0;
  std::unique_ptr<Event> filled, freed;
};

class LocalChannel : public Channel {
public:
  LocalChannel(Device &device, ChannelSpec spec)
      : device(device), spec(std::move(spec)) {}

  Status init(size_t stride) {
    PIPEC_ASSIGN_OR_RETURN(
        memory, DeviceBuffer::allocate(device, stride * spec.capacity));
    slots.resize(spec.capacity);
    for (size_t i = 0; i < slots.size(); ++i) {
      slots[i].data = memory.bytes() + i * stride;
      PIPEC_ASSIGN_OR_RETURN(slots[i].filled, device.createEvent());
      PIPEC_ASSIGN_OR_RETURN(slots[i].freed, device.createEvent());
    }
    return {};
  }

  Status send(Stream &stream, int64_t microbatch, const void *data,
              size_t bytes) override {
    if (bytes > spec.slotBytes)
      return internalError(describe() + ": " + std::to_string(bytes) +
                           " bytes do not fit a slot of " +
                           std::to_string(spec.slotBytes));
    Slot *slot = nullptr;
    {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock,
                   [&] { return stopped || tail - head < spec.capacity; });
      if (stopped)
        return cancelled(describe() + ": cancelled");
      slot = &slots[tail % spec.capacity];
    }
    PIPEC_RETURN_IF_ERROR(device.wait(stream, *slot->freed));
    PIPEC_RETURN_IF_ERROR(device.copy(stream, slot->data, data, bytes));
    PIPEC_RETURN_IF_ERROR(device.record(stream, *slot->filled));
    {
      std::lock_guard<std::mutex> lock(mutex);
      slot->microbatch = microbatch;
      slot->bytes = bytes;
      ++tail;
    }
    changed.notify_all();
    return {};
  }

  StatusOr<void *> receive(Stream &stream, int64_t microbatch,
                           size_t bytes) override {
    Slot *slot = nullptr;
    {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return stopped || tail != head; });
      if (stopped)
        return cancelled(describe() + ": cancelled");
      slot = &slots[head % spec.capacity];
      if (slot->microbatch != microbatch || slot->bytes != bytes)
        return internalError(describe() + ": expected microbatch " +
                             std::to_string(microbatch) + " of " +
                             std::to_string(bytes) + " bytes, got microbatch " +
                             std::to_string(slot->microbatch) + " of " +
                             std::to_string(slot->bytes));
    }
    PIPEC_RETURN_IF_ERROR(device.wait(stream, *slot->filled));
    return static_cast<void *>(slot->data);
  }

  Status release(Stream &stream) override {
    PIPEC_RETURN_IF_ERROR(
        device.record(stream, *slots[head % spec.capacity].freed));
    {
      std::lock_guard<std::mutex> lock(mutex);
      ++head;
    }
    changed.notify_all();
    return {};
  }

  void cancel() override {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stopped = true;
    }
    changed.notify_all();
  }

  void reset() override {
    std::lock_guard<std::mutex> lock(mutex);
    head = tail = 0;
    stopped = false;
  }

private:
  std::string describe() const {
    return "transfer of '" + spec.value + "' from stage " +
           std::to_string(spec.from) + " to stage " + std::to_string(spec.to);
  }

  Device &device;
  ChannelSpec spec;
  DeviceBuffer memory;
  std::vector<Slot> slots;
  std::mutex mutex;
  std::condition_variable changed;
  // Written under the mutex; head only by the consumer, tail by the producer.
  uint64_t head = 0, tail = 0;
  bool stopped = false;
};

/// Slots start on cache lines, so that neighbours do not share one.
StatusOr<size_t> slotStride(const Device &device, const ChannelSpec &spec) {
  const size_t alignment = device.query().alignment;
  size_t stride = 0, total = 0;
  if (spec.capacity == 0)
    return invalidArgument("a transfer needs at least one slot");
  if (__builtin_add_overflow(spec.slotBytes, alignment - 1, &stride) ||
      __builtin_mul_overflow(stride, spec.capacity, &total))
    return resourceExhausted("slots of the transfer of '" + spec.value +
                             "' overflow the address space");
  return stride / alignment * alignment;
}

} // namespace

StatusOr<uint64_t> LocalTransport::memoryNeed(const ChannelSpec &spec) const {
  PIPEC_ASSIGN_OR_RETURN(size_t stride, slotStride(device, spec));
  return static_cast<uint64_t>(stride) * spec.capacity;
}

StatusOr<std::unique_ptr<Channel>>
LocalTransport::createChannel(const ChannelSpec &spec) {
  PIPEC_ASSIGN_OR_RETURN(size_t stride, slotStride(device, spec));
  auto channel = std::make_unique<LocalChannel>(device, spec);
  PIPEC_RETURN_IF_ERROR(channel->init(stride));
  return std::unique_ptr<Channel>(std::move(channel));
}

} // namespace pipec

// The transport seam: how a value gets from the stage that makes it to one
// stage that reads it. One channel a transfer, so a skip connection goes
// straight there. Nothing is allocated once channels exist.
//
// Protocol of a channel, in ascending microbatch order:
//   producer: send(view)            waits for a free slot, copies into it
//   consumer: receive() .. release()  waits for a full slot, reads it in place
// Tests: test/unit/runtime/TransportTest.cpp.
#ifndef PIPEC_RUNTIME_TRANSPORT_TRANSPORT_H
#define PIPEC_RUNTIME_TRANSPORT_TRANSPORT_H

#include "runtime/device/device.h"

namespace pipec {

struct ChannelSpec {
  int64_t from = 0, to = 0;
  std::string value;    // for messages
  size_t slotBytes = 0; // of the largest variant
  size_t capacity = 1;  // slots
};

/// One transfer. Thread rule: one producer and one consumer thread at a time;
/// cancel() from any.
class Channel {
public:
  virtual ~Channel() = default;
  /// Queues `bytes` bytes of device memory `data` on the producer's stream.
  /// Blocks while all slots are full. Cancelled after cancel().
  virtual Status send(Stream &stream, int64_t microbatch, const void *data,
                      size_t bytes) = 0;
  /// The oldest value sent, readable by work of `stream` until release().
  /// Blocks while there is none. Internal when it is not `microbatch`'s or not
  /// `bytes` long.
  virtual StatusOr<void *> receive(Stream &stream, int64_t microbatch,
                                   size_t bytes) = 0;
  /// Gives the slot received last back, after the work queued on `stream`.
  virtual Status release(Stream &stream) = 0;
  /// Wakes both sides, which get Cancelled from then on.
  virtual void cancel() = 0;
  /// Empties the channel for the next run; no one may be using it.
  virtual void reset() = 0;
};

/// Makes channels. Thread rule: externally synchronised.
class Transport {
public:
  virtual ~Transport() = default;
  /// Bytes of device memory that a channel of `spec` takes; an error on
  /// overflow.
  virtual StatusOr<uint64_t> memoryNeed(const ChannelSpec &spec) const = 0;
  virtual StatusOr<std::unique_ptr<Channel>>
  createChannel(const ChannelSpec &spec) = 0;
};

} // namespace pipec

#endif

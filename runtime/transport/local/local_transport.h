// Transport between the workers of one process: bounded rings of slots.
#ifndef PIPEC_RUNTIME_TRANSPORT_LOCAL_LOCAL_TRANSPORT_H
#define PIPEC_RUNTIME_TRANSPORT_LOCAL_LOCAL_TRANSPORT_H

#include "runtime/transport/transport.h"

namespace pipec {

/// All workers share `device`, which outlives the transport and its channels.
class LocalTransport : public Transport {
public:
  explicit LocalTransport(Device &device) : device(device) {}
  StatusOr<uint64_t> memoryNeed(const ChannelSpec &spec) const override;
  StatusOr<std::unique_ptr<Channel>>
  createChannel(const ChannelSpec &spec) override;

private:
  Device &device;
};

} // namespace pipec

#endif

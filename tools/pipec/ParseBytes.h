// Sizes as people write them.
#ifndef PIPEC_TOOLS_PIPEC_PARSEBYTES_H
#define PIPEC_TOOLS_PIPEC_PARSEBYTES_H

#include "pipec/status.h"

#include <cstdint>
#include <string>

namespace pipec::tool {

/// Bytes of a --memory text such as 16GiB, 500MB or 1024.
StatusOr<uint64_t> parseBytes(const std::string &text);

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_PARSEBYTES_H

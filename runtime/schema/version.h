// The package format's version; see package.proto for when it rises.
#ifndef PIPEC_RUNTIME_SCHEMA_VERSION_H
#define PIPEC_RUNTIME_SCHEMA_VERSION_H

#include <cstdint>

namespace pipec {
/// What this build writes, and the only version it reads.
constexpr uint32_t kPackageFormatVersion = 3;
} // namespace pipec

#endif

// What a data file holds, in a few bytes: to notice at resume that it is
// another one.
#ifndef PIPEC_RUNTIME_DATA_FINGERPRINT_H
#define PIPEC_RUNTIME_DATA_FINGERPRINT_H

#include "pipec/status.h"

namespace pipec {

/// "SIZE bytes, digest HEX" of the file at `path`: of its size and of 16 blocks
/// of 64 KiB at even distances from the first to the last, or of all bytes
/// where there are fewer. Reads no more than that. Io.
StatusOr<std::string> fingerprintOf(const std::string &path);

} // namespace pipec

#endif

// What a file holds, in a few bytes: to notice that it is another one, and to
// know that someone has seen it.
#ifndef PIPEC_RUNTIME_BASE_FINGERPRINT_H
#define PIPEC_RUNTIME_BASE_FINGERPRINT_H

#include "runtime/base/mapped_file.h"

namespace pipec {

/// "SIZE bytes, digest HEX" of the file at `path`: of its size and of 16 blocks
/// of 64 KiB at even distances from the first to the last, or of all bytes
/// where there are fewer. Reads no more than that. Io.
StatusOr<std::string> fingerprintOf(const std::string &path);
std::string fingerprintOf(const MappedFile &file);

} // namespace pipec

#endif

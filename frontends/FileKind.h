// What a file is that no frontend reads, for the error.
#ifndef PIPEC_FRONTENDS_FILEKIND_H
#define PIPEC_FRONTENDS_FILEKIND_H

#include <cstdint>
#include <string>

namespace pipec::frontend {

/// A clause that says what the file of these bytes is, by what is in it, and
/// what to do with it; empty where it is nothing that is known.
std::string describeOtherFile(const uint8_t *data, uint64_t size);

} // namespace pipec::frontend

#endif // PIPEC_FRONTENDS_FILEKIND_H

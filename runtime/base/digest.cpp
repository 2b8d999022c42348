// See digest.h. Tests: test/unit/base/DigestTest.cpp.
#include "runtime/base/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cinttypes>
#include <cstdio>

namespace pipec {

struct Digest::State {
  XXH3_state_t xxh3;
};

Digest::Digest() : state(std::make_unique<State>()) {
  XXH3_64bits_reset(&state->xxh3);
}
Digest::~Digest() = default;

void Digest::add(const void *data, size_t size) {
  if (size)
    XXH3_64bits_update(&state->xxh3, data, size);
}

std::string Digest::hex() const {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64,
                static_cast<uint64_t>(XXH3_64bits_digest(&state->xxh3)));
  return text;
}

std::string digestOf(const void *data, size_t size) {
  Digest digest;
  digest.add(data, size);
  return digest.hex();
}

} // namespace pipec

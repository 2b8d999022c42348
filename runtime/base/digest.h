// A checksum of bytes that files carry against damage: XXH3, 64 bits. It is no
// defence against anyone who means harm.
#ifndef PIPEC_RUNTIME_BASE_DIGEST_H
#define PIPEC_RUNTIME_BASE_DIGEST_H

#include <cstddef>
#include <memory>
#include <string>

namespace pipec {

/// Bytes come in pieces of any size. Thread rule: one thread at a time.
class Digest {
public:
  Digest();
  ~Digest();
  void add(const void *data, size_t size);
  /// Of all bytes so far: 16 hexadecimal digits.
  std::string hex() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

std::string digestOf(const void *data, size_t size);

} // namespace pipec

#endif

// The one file here that knows where the source tree lies: what is compiled
// from the others is the same in every checkout, which compiler caches like.
#include "test/unit/compiler/Models.h"

namespace pipec::test {

std::string modelPath(const std::string &name, const std::string &file) {
  return std::string(PIPEC_TEST_MODELS) + "/" + name + "/" + file;
}

} // namespace pipec::test

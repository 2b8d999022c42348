// libpipec.so is made of the static libraries (cmake/PipecShared.cmake); a
// library needs a source of its own, and this one checks its version.
// Tests: test/install.
#include "pipec/pipec.h"

// The number stands in the library's name, too.
static_assert(PIPEC_ABI_VERSION == 1, "change SOVERSION in PipecShared.cmake");

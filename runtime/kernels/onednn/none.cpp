// The oneDNN kernel set of a build without oneDNN: empty. In: a registry. Out:
// the same registry; every op runs its reference kernel.
// Tests: test/unit/kernels/RegistryTest.cpp.
#include "runtime/kernels/kernel.h"

namespace pipec {

void registerOneDnnKernels(KernelRegistry &) {}

} // namespace pipec

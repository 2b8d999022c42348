// The oneDNN kernel set. In: a registry. Out: the ops where the library gains
// much and keeps the bit rule of kernel.h.
//
// Left to the reference kernels: max_pool (the library's lets NaN lose),
// softmax and the norms (the library approximates e^x and sums in f32; ours are
// bound by memory anyway), avg_pool (no gain left). Tests:
// test/unit/kernels/OneDnnTest.cpp.
#include "runtime/kernels/onednn/library.h"

namespace pipec {

void registerOneDnnKernels(KernelRegistry &registry) {
  onednn::registerDot(registry);
  onednn::registerConvolution(registry);
  onednn::registerAttention(registry);
}

} // namespace pipec

// Registers every reference kernel. In: a registry. Out: one kernel for each
// tensor op of the dialect. Tests: test/unit/kernels/RegistryTest.cpp.
#include "runtime/kernels/reference/families.h"

namespace pipec {

void registerReferenceKernels(KernelRegistry &registry) {
  using namespace reference;
  for (auto *family :
       {registerUnary,        registerConvert, registerArithmetic,
        registerBinaryMath,   registerBits,    registerCompare,
        registerSelect,       registerReduce,  registerScan,
        registerMove,         registerPad,     registerGather,
        registerScatter,      registerResize,  registerDot,
        registerConvolution,  registerPooling, registerPoolGrad,
        registerSoftmax,      registerNorm,    registerAttention,
        registerCrossEntropy, registerDropout})
    family(registry);
}

} // namespace pipec

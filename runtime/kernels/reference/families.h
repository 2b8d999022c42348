// The families of reference kernels, each in files of its own.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_FAMILIES_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_FAMILIES_H

#include "runtime/kernels/kernel.h"

namespace pipec::reference {

void registerUnary(KernelRegistry &registry);
void registerConvert(KernelRegistry &registry);
void registerArithmetic(KernelRegistry &registry);
void registerBinaryMath(KernelRegistry &registry);
void registerBits(KernelRegistry &registry);
void registerCompare(KernelRegistry &registry);
void registerSelect(KernelRegistry &registry);
void registerReduce(KernelRegistry &registry);
void registerScan(KernelRegistry &registry);
void registerMove(KernelRegistry &registry);
void registerPad(KernelRegistry &registry);
void registerGather(KernelRegistry &registry);
void registerScatter(KernelRegistry &registry);
void registerResize(KernelRegistry &registry);
void registerDot(KernelRegistry &registry);
void registerConvolution(KernelRegistry &registry);
void registerPooling(KernelRegistry &registry);
void registerPoolGrad(KernelRegistry &registry);
void registerCrossEntropy(KernelRegistry &registry);
void registerDropout(KernelRegistry &registry);
void registerSoftmax(KernelRegistry &registry);
void registerNorm(KernelRegistry &registry);
void registerAttention(KernelRegistry &registry);

} // namespace pipec::reference

#endif

// Norms of gradients, and the factor that clips them.
#ifndef PIPEC_RUNTIME_OPTIMIZER_GRAD_NORM_H
#define PIPEC_RUNTIME_OPTIMIZER_GRAD_NORM_H

#include <cstdint>

namespace pipec {

/// The sum of the squares of `n` floats, in f64. The order of the additions
/// follows from `n` alone: neither the address, nor the thread, nor the
/// processor's vector width changes a bit. The global norm is the root of these
/// sums, one a parameter (a shared weight once), added in parameter order.
/// Thread rule: reads only.
double squaredNorm(const float *values, int64_t n);

/// min(1, clip / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_. `norm` is
/// the root of the summed squares. A norm that is NaN gives NaN, an infinite
/// one 0: the gradients then show it, as in PyTorch.
double clipFactor(double norm, double clip);

} // namespace pipec

#endif

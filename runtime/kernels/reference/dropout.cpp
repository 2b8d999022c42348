// dropout with a key: element i is kept or not by a counter-based generator of
// (seed, step, microbatch), the op's stream and i, so the mask is the same in
// forward, backward and recomputation. In: a float tensor, a key of three
// integers. Out: the operand's type. Tests: test/unit/kernels/DropoutTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/indexing.h"
#include "runtime/kernels/reference/philox.h"
#include "runtime/kernels/reference/support.h"

namespace pipec::reference {
namespace {

constexpr int64_t kWords = 4; // a counter gives that many elements
constexpr int64_t kMostElements = kWords << 32;

template <typename T>
KernelOr makeTyped(int64_t count, double ratio, uint32_t stream) {
  using C = Compute<T>;
  // A word's upper 24 bits are a float of [0, 1) without rounding.
  constexpr int kDropped = 8;
  constexpr double kUnit = 1.0 / (1 << 24);
  const C scale = ratio < 1 ? static_cast<C>(1 / (1 - ratio)) : C(0);
  return makeKernel([=](const Run &run) {
    const Indices key(run.inputs[1]);
    const auto seed = static_cast<uint64_t>(key[0]);
    const auto step = static_cast<uint32_t>(key[1]),
               microbatch = static_cast<uint32_t>(key[2]);
    const T *in = run.in<T>(0);
    T *out = run.out<T>();
    for (int64_t block = 0; block * kWords < count; ++block) {
      const Philox4 words = philox(
          {static_cast<uint32_t>(block), microbatch, stream, step}, seed);
      const int64_t first = block * kWords;
      for (int64_t i = 0; i < kWords && first + i < count; ++i) {
        const bool kept = (words[i] >> kDropped) * kUnit >= ratio;
        out[first + i] =
            kept ? store<T>(load(in[first + i]) * scale) : store<T>(C(0));
      }
    }
  });
}

KernelOr makeDropout(const OpDesc &op) {
  if (op.inputs.size() == 1)
    return unsupported("dropout without a key is for inference to remove");
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  PIPEC_RETURN_IF_ERROR(checkIndexType(op, 1));
  PIPEC_RETURN_IF_ERROR(checkShape(op, 1, {3}));
  PIPEC_RETURN_IF_ERROR(checkResult(op, op.inputs[0]));
  PIPEC_ASSIGN_OR_RETURN(const double ratio, op.get<double>("ratio"));
  PIPEC_ASSIGN_OR_RETURN(const int64_t stream,
                         attrOr<int64_t>(op, "stream", 0));
  const int64_t count = op.inputs[0].numElements();
  if (!(ratio >= 0 && ratio <= 1))
    return invalidArgument("ratio must be from 0 to 1");
  if (stream < 0 || stream > UINT32_MAX || count > kMostElements)
    return unsupported("dropout of more than 2^34 elements, or a stream that "
                       "is no 32-bit number");
  return dispatch<kFloat>(op.inputs[0].dtype, [&](auto tag) {
    return makeTyped<typename decltype(tag)::type>(
        count, ratio, static_cast<uint32_t>(stream));
  });
}

} // namespace

void registerDropout(KernelRegistry &registry) {
  registry.add("dropout", KernelSet::Reference, makeDropout);
}

} // namespace pipec::reference

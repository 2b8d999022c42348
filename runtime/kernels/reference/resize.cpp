// resize: interpolated sampling to another size, as ONNX Resize without
// antialiasing. In: a float tensor. Out: another shape.
//
// Separable: one pass per dimension that changes, in ascending order, through
// f32 (f64) buffers; a pass weighs 1, 2 or 4 neighbours, lowest first.
// Positions and weights are computed in f64, once, when the kernel is made.
// resize_grad runs the same passes transposed, the last first: each result's
// gradient goes to its neighbours, in ascending order of results. Tests:
// test/unit/kernels/ResizeTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/support.h"

#include <algorithm>
#include <cmath>

namespace pipec::reference {
namespace {

enum Mode : size_t { Nearest, Linear, Cubic };
enum Coordinates : size_t {
  HalfPixel,
  Asymmetric,
  AlignCorners,
  PytorchHalfPixel,
  HalfPixelSymmetric
};
enum Rounding : size_t { PreferFloor, PreferCeil, Floor, Ceil };

struct Sampling {
  size_t mode, coordinates, rounding;
  double cubicCoeff;
  bool excludeOutside;
};

struct Pass {
  int64_t outer, in, out, inner; // sizes before, of, and after the dimension
  int64_t taps;
  std::vector<int64_t> sources; // out x taps, in range
  std::vector<double> weights;
};

double sourcePosition(size_t coordinates, int64_t i, int64_t in, int64_t out,
                      double scale) {
  const double x = static_cast<double>(i), nIn = static_cast<double>(in),
               nOut = static_cast<double>(out);
  switch (coordinates) {
  case Asymmetric: // in f32, as PyTorch and ONNX Runtime do
    return static_cast<double>(static_cast<float>(x) /
                               static_cast<float>(scale));
  case AlignCorners:
    return out == 1 ? 0 : x * (nIn - 1) / (nOut - 1);
  case PytorchHalfPixel:
    return out == 1 ? 0 : (x + 0.5) / scale - 0.5;
  case HalfPixelSymmetric:
    return nIn / 2 * (1 - nOut / (scale * nIn)) + (x + 0.5) / scale - 0.5;
  default:
    return (x + 0.5) / scale - 0.5;
  }
}

double roundPosition(size_t rounding, double x) {
  switch (rounding) {
  case PreferFloor:
    return std::ceil(x - 0.5);
  case PreferCeil:
    return std::floor(x + 0.5);
  case Floor:
    return std::floor(x);
  default:
    return std::ceil(x);
  }
}

// Keys' cubic convolution at distance d, with coefficient a.
double cubicWeight(double d, double a) {
  d = std::abs(d);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

void addTaps(Pass &pass, double x, const Sampling &how) {
  const double last = static_cast<double>(pass.in - 1);
  // Also for a NaN, which absurd scales can make.
  const auto inside = [&](double at) {
    return at >= 0 ? static_cast<int64_t>(std::min(at, last)) : 0;
  };
  if (how.mode == Nearest) {
    pass.sources.push_back(inside(roundPosition(how.rounding, x)));
    pass.weights.push_back(1);
    return;
  }
  const double base = std::floor(x);
  const double first = how.mode == Linear ? base : base - 1;
  double sum = 0;
  for (int64_t t = 0; t < pass.taps; ++t) {
    const double at = first + static_cast<double>(t);
    double weight = how.mode == Linear ? 1 - std::abs(x - at)
                                       : cubicWeight(x - at, how.cubicCoeff);
    if (how.excludeOutside && (at < 0 || at > last))
      weight = 0;
    sum += weight;
    pass.sources.push_back(inside(at));
    pass.weights.push_back(weight);
  }
  if (how.excludeOutside && sum != 0)
    for (auto weight = pass.weights.end() - pass.taps;
         weight != pass.weights.end(); ++weight)
      *weight /= sum;
}

// The last dimension: neighbours lie side by side.
template <typename C> void runLastPass(const Pass &pass, const C *in, C *out) {
  for (int64_t o = 0; o < pass.outer; ++o, in += pass.in, out += pass.out)
    for (int64_t i = 0; i < pass.out; ++i) {
      const int64_t *sources = pass.sources.data() + i * pass.taps;
      const double *weights = pass.weights.data() + i * pass.taps;
      C sum = static_cast<C>(weights[0]) * in[sources[0]];
      for (int64_t t = 1; t < pass.taps; ++t)
        sum += static_cast<C>(weights[t]) * in[sources[t]];
      out[i] = sum;
    }
}

template <typename C> void runPass(const Pass &pass, const C *in, C *out) {
  if (pass.inner == 1)
    return runLastPass(pass, in, out);
  for (int64_t o = 0; o < pass.outer; ++o, in += pass.in * pass.inner)
    for (int64_t i = 0; i < pass.out; ++i, out += pass.inner)
      for (int64_t t = 0; t < pass.taps; ++t) {
        const C *from = in + pass.sources[i * pass.taps + t] * pass.inner;
        const C weight = static_cast<C>(pass.weights[i * pass.taps + t]);
        if (pass.taps == 1)
          std::copy_n(from, pass.inner, out);
        else
          for (int64_t k = 0; k < pass.inner; ++k)
            out[k] = t == 0 ? weight * from[k] : out[k] + weight * from[k];
      }
}

// `grad` has the pass's results' shape, `out` its operand's.
template <typename C>
void runTransposedPass(const Pass &pass, const C *grad, C *out) {
  const int64_t plane = pass.in * pass.inner;
  std::fill_n(out, pass.outer * plane, C(0));
  for (int64_t o = 0; o < pass.outer; ++o, out += plane)
    for (int64_t i = 0; i < pass.out; ++i, grad += pass.inner)
      for (int64_t t = 0; t < pass.taps; ++t) {
        C *to = out + pass.sources[i * pass.taps + t] * pass.inner;
        const C weight = static_cast<C>(pass.weights[i * pass.taps + t]);
        for (int64_t k = 0; k < pass.inner; ++k)
          to[k] += weight * grad[k];
      }
}

template <typename T, bool Transposed>
KernelOr makeTyped(const OpDesc &op, const std::vector<Pass> &passes) {
  using C = Compute<T>;
  int64_t largest =
      std::max(op.inputs[0].numElements(), op.outputs[0].numElements());
  for (const Pass &pass : passes)
    largest = std::max({largest, pass.outer * pass.out * pass.inner,
                        pass.outer * pass.in * pass.inner});
  const int64_t inputs = op.inputs[0].numElements(),
                outputs = op.outputs[0].numElements();
  ScratchPlan scratch;
  const size_t places[2] = {scratch.add<C>(largest), scratch.add<C>(largest)};
  return makeKernel(
      [=](const Run &run) {
        C *current = run.scratch<C>(places[0]),
          *next = run.scratch<C>(places[1]);
        for (int64_t i = 0; i < inputs; ++i)
          current[i] = load(run.in<T>(0)[i]);
        for (size_t p = 0; p < passes.size(); ++p) {
          if constexpr (Transposed)
            runTransposedPass(passes[passes.size() - 1 - p], current, next);
          else
            runPass(passes[p], current, next);
          std::swap(current, next);
        }
        for (int64_t i = 0; i < outputs; ++i)
          run.out<T>()[i] = store<T>(current[i]);
      },
      scratch);
}

StatusOr<Sampling> readSampling(const OpDesc &op) {
  Sampling how;
  PIPEC_ASSIGN_OR_RETURN(
      how.mode, keywordAttr(op, "mode", {"nearest", "linear", "cubic"}));
  PIPEC_ASSIGN_OR_RETURN(
      how.coordinates,
      keywordAttr(op, "coordinates",
                  {"half_pixel", "asymmetric", "align_corners",
                   "pytorch_half_pixel", "half_pixel_symmetric"},
                  "half_pixel"));
  PIPEC_ASSIGN_OR_RETURN(
      how.rounding,
      keywordAttr(op, "rounding",
                  {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"},
                  "round_prefer_floor"));
  PIPEC_ASSIGN_OR_RETURN(how.cubicCoeff, attrOr(op, "cubic_coeff", -0.75));
  PIPEC_ASSIGN_OR_RETURN(how.excludeOutside,
                         attrOr(op, "exclude_outside", false));
  how.excludeOutside &= how.mode == Cubic;
  return how;
}

// The passes that resize `from` to `to`.
StatusOr<std::vector<Pass>> makePasses(const OpDesc &op, const Shape &from,
                                       const Shape &to) {
  PIPEC_ASSIGN_OR_RETURN(const Sampling how, readSampling(op));
  PIPEC_ASSIGN_OR_RETURN(const std::vector<double> scales,
                         op.get<std::vector<double>>("scales"));
  if (to.size() != from.size() || scales.size() != to.size())
    return invalidArgument("shape and scales need one entry for each of " +
                           std::to_string(from.size()) + " dimensions");
  std::vector<Pass> passes;
  Shape current = from;
  for (size_t d = 0; d < to.size(); ++d) {
    if (!(scales[d] > 0) || std::isinf(scales[d]) ||
        (from[d] == 0 && to[d] != 0))
      return invalidArgument("dim " + std::to_string(d) + " of size " +
                             std::to_string(from[d]) +
                             " cannot be resized to " + std::to_string(to[d]) +
                             " with scale " + std::to_string(scales[d]));
    if (scales[d] == 1 && to[d] == from[d])
      continue;
    Pass pass{numElements(current, 0, d),
              from[d],
              to[d],
              numElements(current, d + 1, current.size()),
              how.mode == Nearest  ? 1
              : how.mode == Linear ? 2
                                   : 4,
              {},
              {}};
    current[d] = to[d];
    if (StatusOr<size_t> bytes = checkedByteSize({DType::F64, current});
        !bytes.ok())
      return bytes.status();
    for (int64_t i = 0; i < pass.out; ++i)
      addTaps(pass,
              sourcePosition(how.coordinates, i, pass.in, pass.out, scales[d]),
              how);
    passes.push_back(std::move(pass));
  }
  return passes;
}

// For resize `shape` is the result's; for resize_grad the operand's, which is
// its result's too.
template <bool Transposed> KernelOr makeResize(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const Shape shape, op.get<Shape>("shape"));
  for (int64_t size : shape)
    if (size < 0)
      return invalidArgument("shape has a negative entry");
  PIPEC_RETURN_IF_ERROR(checkResult(op, {type.dtype, shape}));
  PIPEC_ASSIGN_OR_RETURN(const std::vector<Pass> passes,
                         Transposed ? makePasses(op, shape, type.shape)
                                    : makePasses(op, type.shape, shape));
  return dispatch<kFloat>(type.dtype, [&](auto tag) {
    return makeTyped<typename decltype(tag)::type, Transposed>(op, passes);
  });
}

} // namespace

void registerResize(KernelRegistry &registry) {
  registry.add("resize", KernelSet::Reference, makeResize<false>);
  registry.add("resize_grad", KernelSet::Reference, makeResize<true>);
}

} // namespace pipec::reference

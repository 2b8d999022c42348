// layer_norm, rms_norm, group_norm, batch_norm. In: a float tensor and its
// parameters, of any float type. Out: the same shape, each element rounded
// once.
//
// Means and variances are two passes in Accumulator (f64 for f32) in the lane
// order of sums.h; then ((x - mean) * (1 / sqrt(var + eps))) * scale + bias in
// f32 (f64 for f64). Tests: test/unit/kernels/NormTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/sums.h"
#include "runtime/kernels/reference/support.h"

#include <cmath>

namespace pipec::reference {
namespace {

// A parameter vector as Compute values: copied into scratch, or a constant
// where the operand is absent.
template <typename C> class Parameter {
public:
  Parameter(int input, int64_t count, ScratchPlan &scratch)
      : input(input), count(count), at(scratch.add<C>(count)) {}

  const C *get(const Run &run, C absent) const {
    C *to = run.scratch<C>(at);
    if (input < 0) {
      std::fill_n(to, count, absent);
      return to;
    }
    const void *from = run.inputs[input].data;
    switch (run.inputs[input].type.dtype) {
    case DType::F16:
      return copy<Half>(from, to);
    case DType::BF16:
      return copy<BFloat16>(from, to);
    case DType::F32:
      return copy<float>(from, to);
    default:
      return copy<double>(from, to);
    }
  }

private:
  template <typename T> const C *copy(const void *from, C *to) const {
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<C>(load(static_cast<const T *>(from)[i]));
    return to;
  }

  int input;
  int64_t count;
  size_t at;
};

// What a row is shifted and scaled by.
template <typename C> struct Statistics { C mean, factor; };

template <typename T>
Statistics<Compute<T>> normStatistics(const T *row, int64_t n, double epsilon,
                                      bool rms) {
  using C = Compute<T>;
  using A = Accumulator<T>;
  const A count = static_cast<A>(n);
  const A mean = rms ? A(0) : sumRow<A>(n, [row](int64_t i) {
                                return static_cast<A>(load(row[i]));
                              }) / count;
  const A variance = sumRow<A>(n,
                               [row, mean](int64_t i) {
                                 const A d =
                                     static_cast<A>(load(row[i])) - mean;
                                 return d * d;
                               }) /
                     count;
  return {static_cast<C>(mean),
          static_cast<C>(A(1) / std::sqrt(variance + static_cast<A>(epsilon)))};
}

// layer_norm, rms_norm: each of `n` elements of a row has its own parameters.
template <typename T>
KernelOr makeRows(int64_t rows, int64_t n, int scaleInput, int biasInput,
                  double epsilon, bool rms) {
  using C = Compute<T>;
  ScratchPlan scratch;
  const Parameter<C> scales(scaleInput, n, scratch);
  const Parameter<C> biases(biasInput, n, scratch);
  return makeKernel(
      [=](const Run &run) {
        const C *scale = scales.get(run, C(1)), *bias = biases.get(run, C(0));
        const T *in = run.in<T>(0);
        T *__restrict out = run.out<T>();
        const bool scaled = scaleInput >= 0, shifted = biasInput >= 0;
        for (int64_t row = 0; row < rows; ++row, in += n, out += n) {
          const Statistics<C> s = normStatistics(in, n, epsilon, rms);
          for (int64_t i = 0; i < n; ++i) {
            C y = (load(in[i]) - s.mean) * s.factor;
            y = scaled ? y * scale[i] : y;
            out[i] = store<T>(shifted ? y + bias[i] : y);
          }
        }
      },
      scratch);
}

struct GroupLayout {
  int64_t batch, groups, channelsPerGroup, spatial;
};

// group_norm: each channel has its own parameters.
template <typename T>
KernelOr makeGroups(const GroupLayout &l, int scaleInput, int biasInput,
                    double epsilon) {
  using C = Compute<T>;
  ScratchPlan scratch;
  const int64_t channels = l.groups * l.channelsPerGroup,
                n = l.channelsPerGroup * l.spatial;
  const Parameter<C> scales(scaleInput, channels, scratch);
  const Parameter<C> biases(biasInput, channels, scratch);
  return makeKernel(
      [=](const Run &run) {
        const C *scale = scales.get(run, C(1)), *bias = biases.get(run, C(0));
        const T *in = run.in<T>(0);
        T *__restrict out = run.out<T>();
        for (int64_t row = 0; row < l.batch * l.groups; ++row) {
          const Statistics<C> s = normStatistics(in, n, epsilon, false);
          const int64_t first = row % l.groups * l.channelsPerGroup;
          for (int64_t c = first; c < first + l.channelsPerGroup; ++c) {
            const C a = scale[c], b = bias[c];
            for (int64_t i = 0; i < l.spatial; ++i)
              out[i] = store<T>((load(in[i]) - s.mean) * s.factor * a + b);
            in += l.spatial;
            out += l.spatial;
          }
        }
      },
      scratch);
}

Status checkFloatParameter(const OpDesc &op, int input, const Shape &shape) {
  if (input < 0)
    return Status();
  if (!isFloat(op.inputs[input].dtype))
    return invalidArgument("operand " + std::to_string(input) + " is " +
                           op.inputs[input].str() + ", expected a float type");
  return checkShape(op, static_cast<size_t>(input), shape);
}

KernelOr makeLayerOrRmsNorm(const OpDesc &op, bool rms) {
  using Names = std::initializer_list<std::string_view>;
  PIPEC_ASSIGN_OR_RETURN(
      std::vector<int> at,
      operandPositions(op,
                       rms ? Names{"operand", "scale"}
                           : Names{"operand", "scale", "bias"},
                       1));
  at.resize(3, -1);
  PIPEC_RETURN_IF_ERROR(checkArity(op, op.inputs.size()));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const int64_t axis, dimAttr(op, "axis", type.rank()));
  PIPEC_ASSIGN_OR_RETURN(const double epsilon, op.get<double>("epsilon"));
  PIPEC_RETURN_IF_ERROR(checkResult(op, type));
  const Shape normalised(type.shape.begin() + axis, type.shape.end());
  for (int input : {at[1], at[2]})
    PIPEC_RETURN_IF_ERROR(checkFloatParameter(op, input, normalised));
  const int64_t rows = numElements(type.shape, 0, axis),
                n = numElements(normalised, 0, normalised.size());
  return dispatch<kFloat>(type.dtype, [&](auto tag) {
    return makeRows<typename decltype(tag)::type>(rows, n, at[1], at[2],
                                                  epsilon, rms);
  });
}

KernelOr makeLayerNorm(const OpDesc &op) {
  return makeLayerOrRmsNorm(op, false);
}
KernelOr makeRmsNorm(const OpDesc &op) { return makeLayerOrRmsNorm(op, true); }

KernelOr makeGroupNorm(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const std::vector<int> at,
                         operandPositions(op, {"operand", "scale", "bias"}, 1));
  PIPEC_RETURN_IF_ERROR(checkArity(op, op.inputs.size()));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const int64_t groups, op.get<int64_t>("groups"));
  PIPEC_ASSIGN_OR_RETURN(const double epsilon, op.get<double>("epsilon"));
  PIPEC_RETURN_IF_ERROR(checkResult(op, type));
  if (type.rank() < 2 || groups < 1 || type.shape[1] % groups != 0)
    return invalidArgument(type.str() + " cannot be normalised in " +
                           std::to_string(groups) + " groups of channels");
  const int64_t channels = type.shape[1];
  for (int input : {at[1], at[2]})
    PIPEC_RETURN_IF_ERROR(checkFloatParameter(op, input, {channels}));
  const GroupLayout layout{type.shape[0], groups, channels / groups,
                           numElements(type.shape, 2, type.shape.size())};
  return dispatch<kFloat>(type.dtype, [&](auto tag) {
    return makeGroups<typename decltype(tag)::type>(layout, at[1], at[2],
                                                    epsilon);
  });
}

template <typename T>
KernelOr makeBatchNormTyped(const TensorType &type, double epsilon) {
  using C = Compute<T>;
  const int64_t channels = type.shape[1],
                spatial = numElements(type.shape, 2, type.shape.size());
  const int64_t planes = type.shape[0] * channels;
  ScratchPlan scratch;
  const Parameter<C> scales(1, channels, scratch), biases(2, channels, scratch);
  const Parameter<C> means(3, channels, scratch),
      variances(4, channels, scratch);
  const size_t factorsAt = scratch.add<C>(channels);
  return makeKernel(
      [=](const Run &run) {
        const C *scale = scales.get(run, 1), *bias = biases.get(run, 0);
        const C *mean = means.get(run, 0), *variance = variances.get(run, 1);
        C *factor = run.scratch<C>(factorsAt);
        for (int64_t c = 0; c < channels; ++c)
          factor[c] = C(1) / std::sqrt(variance[c] + static_cast<C>(epsilon));
        const T *in = run.in<T>(0);
        T *__restrict out = run.out<T>();
        for (int64_t plane = 0; plane < planes;
             ++plane, in += spatial, out += spatial) {
          const int64_t c = plane % channels;
          const C m = mean[c], f = factor[c], a = scale[c], b = bias[c];
          for (int64_t i = 0; i < spatial; ++i)
            out[i] = store<T>((load(in[i]) - m) * f * a + b);
        }
      },
      scratch);
}

KernelOr makeBatchNorm(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 5));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const double epsilon, op.get<double>("epsilon"));
  PIPEC_RETURN_IF_ERROR(checkResult(op, type));
  if (type.rank() < 2)
    return invalidArgument("operand 0 is " + type.str() + ", expected N C *");
  for (int input : {1, 2, 3, 4})
    PIPEC_RETURN_IF_ERROR(checkFloatParameter(op, input, {type.shape[1]}));
  return dispatch<kFloat>(type.dtype, [&](auto tag) {
    return makeBatchNormTyped<typename decltype(tag)::type>(type, epsilon);
  });
}

} // namespace

void registerNorm(KernelRegistry &registry) {
  registry.add("layer_norm", KernelSet::Reference, makeLayerNorm);
  registry.add("rms_norm", KernelSet::Reference, makeRmsNorm);
  registry.add("group_norm", KernelSet::Reference, makeGroupNorm);
  registry.add("batch_norm", KernelSet::Reference, makeBatchNorm);
}

} // namespace pipec::reference

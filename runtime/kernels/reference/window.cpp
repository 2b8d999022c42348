// Reads the geometry of convolutions and pooling from untrusted descriptions.
// In: an OpDesc. Out: checked sizes, all arithmetic in range of int64_t.
// Tests: test/unit/kernels/ConvolutionTest.cpp, PoolingTest.cpp.
#include "runtime/kernels/reference/window.h"

#include <algorithm>

namespace pipec::reference {
namespace {

constexpr int64_t kMost = int64_t(1) << 31; // of any spatial size and attribute

Status readSpatial(const OpDesc &op, const TensorType &in, Window &w) {
  if (in.rank() < 3 || in.rank() > 5)
    return invalidArgument(
        "operand 0 is " + in.str() +
        ", expected N C and one to three spatial dimensions");
  w.spatialDims = static_cast<size_t>(in.rank() - 2);
  for (size_t d = 2; d < in.shape.size(); ++d)
    if (in.shape[d] > kMost)
      return invalidArgument("operand 0 is " + in.str() +
                             ": a spatial dimension exceeds 2^31");
  w.batch = in.shape[0];
  w.channels = in.shape[1];
  return Status();
}

// Copies the op's spatial entries list[from..] behind the leading filled-up
// ones.
void place(const Window &w, const Shape &list, size_t from, Size3 &to) {
  std::copy_n(list.begin() + from, w.spatialDims,
              to.begin() + (3 - w.spatialDims));
}

Status readWindowAttrs(const OpDesc &op, Window &w, int64_t leastPadding) {
  const size_t n = w.spatialDims;
  PIPEC_ASSIGN_OR_RETURN(const Shape strides, listAttr(op, "strides", n, 1));
  PIPEC_ASSIGN_OR_RETURN(const Shape dilations,
                         listAttr(op, "dilations", n, 1));
  PIPEC_ASSIGN_OR_RETURN(const Shape padding,
                         listAttr(op, "padding", 2 * n, leastPadding));
  place(w, strides, 0, w.strides);
  place(w, dilations, 0, w.dilations);
  place(w, padding, 0, w.low);
  place(w, padding, n, w.high);
  return Status();
}

Status readKernelSizes(const OpDesc &op, const Shape &sizes, size_t from,
                       Window &w) {
  for (size_t d = from; d < sizes.size(); ++d)
    if (sizes[d] < 1 || sizes[d] > kMost)
      return invalidArgument("a window of size " + std::to_string(sizes[d]) +
                             " is out of range");
  place(w, sizes, from, w.kernel);
  if (__int128(w.kernel[0]) * w.kernel[1] * w.kernel[2] > kMost)
    return invalidArgument("the window has more than 2^31 elements");
  return Status();
}

// Extent of the window with its dilation.
int64_t reach(const Window &w, size_t d) {
  return w.dilations[d] * (w.kernel[d] - 1) + 1;
}

// Results along d: how often the window fits into the padded input.
StatusOr<int64_t> fits(const Window &w, size_t d, bool ceilMode) {
  const int64_t span = w.in[d] + w.low[d] + w.high[d] - reach(w, d);
  if (span < 0 && !(ceilMode && span + w.strides[d] - 1 >= 0))
    return invalidArgument("the window (" + std::to_string(reach(w, d)) +
                           " with its dilation) exceeds the padded input (" +
                           std::to_string(span + reach(w, d)) + ")");
  int64_t size = (span + (ceilMode ? w.strides[d] - 1 : 0)) / w.strides[d] + 1;
  if (ceilMode && (size - 1) * w.strides[d] >= w.in[d] + w.low[d])
    --size; // the last window would start in the high padding
  return size;
}

TensorType resultType(const OpDesc &op, const Window &w, int64_t channels) {
  TensorType type{op.inputs[0].dtype, {w.batch, channels}};
  type.shape.insert(type.shape.end(), w.out.begin() + (3 - w.spatialDims),
                    w.out.end());
  return type;
}

Status checkConvOperands(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  PIPEC_RETURN_IF_ERROR(checkSameDType(op, 0, 1));
  if (op.inputs[1].rank() != op.inputs[0].rank())
    return invalidArgument("input " + op.inputs[0].str() + " and weight " +
                           op.inputs[1].str() + " differ in rank");
  return Status();
}

StatusOr<int64_t> readGroups(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const int64_t groups,
                         attrOr<int64_t>(op, "groups", 1));
  if (groups < 1)
    return invalidArgument("groups " + std::to_string(groups) +
                           " must be at least 1");
  return groups;
}

} // namespace

StatusOr<Window> readConvolution(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkConvOperands(op));
  const TensorType &in = op.inputs[0], &weight = op.inputs[1];
  Window w;
  PIPEC_RETURN_IF_ERROR(readSpatial(op, in, w));
  PIPEC_RETURN_IF_ERROR(readWindowAttrs(op, w, -kMost));
  PIPEC_RETURN_IF_ERROR(readKernelSizes(op, weight.shape, 2, w));
  PIPEC_ASSIGN_OR_RETURN(w.groups, readGroups(op));
  w.outChannels = weight.shape[0];
  if (w.channels % w.groups || w.outChannels % w.groups ||
      weight.shape[1] != w.channels / w.groups)
    return invalidArgument("weight " + weight.str() + " does not fit " +
                           in.str() + " in " + std::to_string(w.groups) +
                           " groups");
  place(w, in.shape, 2, w.in);
  for (size_t d = 3 - w.spatialDims; d < 3; ++d) {
    PIPEC_ASSIGN_OR_RETURN(w.out[d], fits(w, d, false));
  }
  PIPEC_RETURN_IF_ERROR(checkResult(op, resultType(op, w, w.outChannels)));
  return w;
}

StatusOr<Window> readConvTranspose(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkConvOperands(op));
  const TensorType &in = op.inputs[0], &weight = op.inputs[1];
  Window w;
  PIPEC_RETURN_IF_ERROR(readSpatial(op, in, w));
  PIPEC_RETURN_IF_ERROR(readWindowAttrs(op, w, -kMost));
  PIPEC_RETURN_IF_ERROR(readKernelSizes(op, weight.shape, 2, w));
  PIPEC_ASSIGN_OR_RETURN(w.groups, readGroups(op));
  PIPEC_ASSIGN_OR_RETURN(const Shape extra,
                         listAttr(op, "output_padding", w.spatialDims, 0));
  place(w, extra, 0, w.outputPadding);
  if (w.channels % w.groups || weight.shape[0] != w.channels ||
      weight.shape[1] > kMost || w.groups > kMost)
    return invalidArgument("weight " + weight.str() + " does not fit " +
                           in.str() + " in " + std::to_string(w.groups) +
                           " groups");
  w.outChannels = weight.shape[1] * w.groups;
  place(w, in.shape, 2, w.in);
  for (size_t d = 3 - w.spatialDims; d < 3; ++d) {
    const __int128 size = __int128(w.in[d] - 1) * w.strides[d] - w.low[d] -
                          w.high[d] + reach(w, d) + w.outputPadding[d];
    if (w.in[d] < 1 || size < 0 || size > (__int128(1) << 62))
      return invalidArgument("the result's spatial dimension " +
                             std::to_string(d + w.spatialDims - 3) +
                             " is out of range");
    w.out[d] = static_cast<int64_t>(size);
  }
  PIPEC_RETURN_IF_ERROR(checkResult(op, resultType(op, w, w.outChannels)));
  return w;
}

static StatusOr<Window> readPool(const OpDesc &op, const TensorType &in) {
  Window w;
  PIPEC_RETURN_IF_ERROR(readSpatial(op, in, w));
  PIPEC_RETURN_IF_ERROR(readWindowAttrs(op, w, 0));
  PIPEC_ASSIGN_OR_RETURN(const Shape window,
                         listAttr(op, "window", w.spatialDims, 1));
  PIPEC_RETURN_IF_ERROR(readKernelSizes(op, window, 0, w));
  PIPEC_ASSIGN_OR_RETURN(const bool ceilMode, attrOr(op, "ceil_mode", false));
  w.outChannels = w.channels;
  place(w, in.shape, 2, w.in);
  for (size_t d = 3 - w.spatialDims; d < 3; ++d) {
    PIPEC_ASSIGN_OR_RETURN(w.out[d], fits(w, d, ceilMode));
  }
  return w;
}

StatusOr<Window> readPooling(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  PIPEC_ASSIGN_OR_RETURN(const Window w, readPool(op, op.inputs[0]));
  PIPEC_RETURN_IF_ERROR(checkResult(op, resultType(op, w, w.channels)));
  return w;
}

StatusOr<Window> readPoolingGrad(const OpDesc &op, const TensorType &input,
                                 const TensorType &grad) {
  PIPEC_ASSIGN_OR_RETURN(const Window w, readPool(op, input));
  TensorType expected = resultType(op, w, w.channels);
  expected.dtype = input.dtype;
  if (grad != expected)
    return invalidArgument("the gradient is " + grad.str() + ", expected " +
                           expected.str());
  PIPEC_RETURN_IF_ERROR(checkResult(op, input));
  return w;
}

Span spanInside(int64_t size, int64_t stride, int64_t offset, int64_t limit) {
  const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t last = offset >= limit ? 0 : (limit - 1 - offset) / stride + 1;
  return {std::min(first, size),
          std::max(std::min(first, size), std::min(last, size))};
}

} // namespace pipec::reference

// convolution and conv_transpose against naive f64 loops over a sweep of
// strides, padding, dilation and groups, in one to three dimensions.
#include "test/unit/kernels/KernelTest.h"

using namespace pipec;
using namespace pipec::test;

namespace {

struct Case {
  Shape input, weight, strides, padding, dilations, outputPadding;
  int64_t groups;
};

// Shapes filled up to three spatial dimensions at the front.
struct Filled {
  int64_t n, c, o, g;
  int64_t in[3], kernel[3], stride[3], dilation[3], low[3], high[3], extra[3],
      out[3];
};

Filled fill(const Case &c, bool transposed) {
  const size_t dims = c.strides.size();
  Filled f{
      c.input[0], c.input[1], transposed ? c.weight[1] * c.groups : c.weight[0],
      c.groups,   {},         {},
      {},         {},         {},
      {},         {},         {}};
  for (size_t d = 0; d < 3; ++d) {
    const bool real = d >= 3 - dims;
    const size_t i = real ? d - (3 - dims) : 0;
    f.in[d] = real ? c.input[2 + i] : 1;
    f.kernel[d] = real ? c.weight[2 + i] : 1;
    f.stride[d] = real ? c.strides[i] : 1;
    f.dilation[d] = real ? c.dilations[i] : 1;
    f.low[d] = real ? c.padding[i] : 0;
    f.high[d] = real ? c.padding[dims + i] : 0;
    f.extra[d] = real && transposed ? c.outputPadding[i] : 0;
    const int64_t reach = f.dilation[d] * (f.kernel[d] - 1) + 1;
    f.out[d] = transposed
                   ? (f.in[d] - 1) * f.stride[d] - f.low[d] - f.high[d] +
                         reach + f.extra[d]
                   : (f.in[d] + f.low[d] + f.high[d] - reach) / f.stride[d] + 1;
  }
  return f;
}

// Visits every product: add(result index, input index, weight index).
template <typename F> void products(const Filled &f, bool transposed, F add) {
  const int64_t cg = f.c / f.g, og = f.o / f.g;
  const auto *from = transposed ? f.in : f.out;
  for (int64_t n = 0; n < f.n; ++n)
    for (int64_t o = 0; o < f.o; ++o)
      for (int64_t c = 0; c < cg; ++c)
        for (int64_t k = 0; k < f.kernel[0] * f.kernel[1] * f.kernel[2]; ++k)
          for (int64_t p = 0; p < from[0] * from[1] * from[2]; ++p) {
            const int64_t kp[3] = {k / (f.kernel[1] * f.kernel[2]),
                                   k / f.kernel[2] % f.kernel[1],
                                   k % f.kernel[2]};
            const int64_t at[3] = {p / (from[1] * from[2]),
                                   p / from[2] % from[1], p % from[2]};
            const auto *limits = transposed ? f.out : f.in;
            int64_t other = 0;
            bool inside = true;
            for (int d = 0; d < 3; ++d) {
              const int64_t x =
                  at[d] * f.stride[d] + kp[d] * f.dilation[d] - f.low[d];
              inside &= x >= 0 && x < limits[d];
              other = other * limits[d] + x;
            }
            if (!inside)
              continue;
            const int64_t group = o / og, channel = group * cg + c;
            const int64_t filter =
                transposed ? channel * og + o % og : o * cg + c;
            const int64_t outSize = f.out[0] * f.out[1] * f.out[2],
                          inSize = f.in[0] * f.in[1] * f.in[2];
            add((n * f.o + o) * outSize + (transposed ? other : p),
                (n * f.c + channel) * inSize + (transposed ? p : other),
                filter * f.kernel[0] * f.kernel[1] * f.kernel[2] + k);
          }
}

void check(const Case &c, DType dtype, bool transposed) {
  const Filled f = fill(c, transposed);
  Shape result = {f.n, f.o};
  for (size_t d = 3 - c.strides.size(); d < 3; ++d)
    result.push_back(f.out[d]);
  const Tensor input = random(dtype, c.input, 1, 3),
               weight = random(dtype, c.weight, 2, 3);
  SCOPED_TRACE(input.type().str() + weight.type().str());
  const Values x = values(input), w = values(weight);
  Values expected(TensorType{dtype, result}.numElements(), 0.0);
  products(f, transposed, [&](int64_t out, int64_t in, int64_t filter) {
    expected[out] += x[in] * w[filter];
  });
  Op op = Op(transposed ? "conv_transpose" : "convolution")
              .attr("strides", c.strides)
              .attr("padding", c.padding)
              .attr("dilations", c.dilations)
              .attr("groups", c.groups);
  if (transposed)
    op.attr("output_padding", c.outputPadding);
  expectValues(op.run({input, weight}, {dtype, result}), expected);
}

const Case kForward[] = {
    {{1, 1, 5}, {1, 1, 3}, {1}, {0, 0}, {1}, {}, 1},
    {{2, 3, 9}, {4, 3, 3}, {2}, {1, 2}, {2}, {}, 1},
    {{1, 2, 5, 6}, {3, 2, 3, 2}, {1, 1}, {1, 0, 1, 1}, {1, 1}, {}, 1},
    {{2, 4, 7, 5}, {6, 2, 3, 3}, {2, 1}, {1, 1, 1, 1}, {1, 2}, {}, 2},
    {{1, 4, 6, 6}, {4, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, {}, 4},
    {{1, 2, 6, 6}, {2, 2, 1, 1}, {2, 2}, {0, 0, 0, 0}, {1, 1}, {}, 1},
    {{1, 1, 6, 6}, {1, 1, 2, 2}, {1, 1}, {-1, -2, 0, -1}, {1, 1}, {}, 1},
    {{1, 2, 4, 5, 6},
     {3, 2, 2, 3, 2},
     {1, 2, 1},
     {1, 0, 1, 0, 1, 1},
     {1, 1, 2},
     {},
     1},
    {{0, 2, 5}, {3, 2, 3}, {1}, {0, 0}, {1}, {}, 1},
    {{1, 1, 1}, {1, 1, 3}, {1}, {5, 5}, {1}, {}, 1},
};

const Case kTransposed[] = {
    {{1, 1, 5}, {1, 1, 3}, {1}, {0, 0}, {1}, {0}, 1},
    {{2, 3, 4}, {3, 2, 3}, {2}, {1, 1}, {2}, {1}, 1},
    {{1, 4, 3, 4}, {4, 3, 2, 3}, {2, 3}, {0, 1, 1, 0}, {1, 2}, {1, 2}, 2},
    {{1, 4, 3, 3}, {4, 1, 3, 3}, {1, 2}, {1, 1, 1, 1}, {1, 1}, {0, 1}, 4},
    {{1, 2, 2, 3, 2},
     {2, 3, 2, 2, 3},
     {2, 1, 2},
     {0, 0, 1, 0, 1, 0},
     {1, 1, 1},
     {0, 0, 1},
     1},
    {{1, 1, 3}, {1, 1, 2}, {2}, {-1, 0}, {1}, {0}, 1},
};

TEST(ConvolutionTest, AgainstNaiveSums) {
  for (DType dtype : kFloats) {
    for (const Case &c : kForward)
      check(c, dtype, false);
    for (const Case &c : kTransposed)
      check(c, dtype, true);
  }
}

TEST(ConvolutionTest, GroupsDefaultToOne) {
  const Tensor in = make(DType::F32, {1, 1, 3}, {1, 2, 3}),
               weight = make(DType::F32, {1, 1, 2}, {10, 1});
  Op op = Op("convolution")
              .attr("strides", Shape{1})
              .attr("padding", Shape{0, 0})
              .attr("dilations", Shape{1});
  expectValues(op.run({in, weight}, {DType::F32, {1, 1, 2}}), {12, 23});
  Op back = Op("conv_transpose")
                .attr("strides", Shape{1})
                .attr("padding", Shape{0, 0})
                .attr("dilations", Shape{1})
                .attr("output_padding", Shape{0});
  expectValues(back.run({in, weight}, {DType::F32, {1, 1, 4}}),
               {10, 21, 32, 3});
}

} // namespace

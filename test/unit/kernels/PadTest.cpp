// pad in its four modes, with crops, and over more than one dimension.
#include "test/unit/kernels/KernelTest.h"

using namespace pipec;
using namespace pipec::test;

namespace {

Tensor pad(const char *mode, const Tensor &in, const Shape &low,
           const Shape &high, double value = 9) {
  Shape result = in.shape();
  for (size_t d = 0; d < result.size(); ++d)
    result[d] += low[d] + high[d];
  return Op("pad")
      .attr("mode", std::string(mode))
      .attr("low", low)
      .attr("high", high)
      .run({in, make(in.dtype(), {}, {value})}, {in.dtype(), result});
}

TEST(PadTest, ConstantPadsAndCrops) {
  for (DType dtype : kNums) {
    const Tensor in = make(dtype, {2, 3}, {1, 2, 3, 4, 5, 6});
    expectValues(pad("constant", in, {1, 0}, {0, 2}),
                 {9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 4, 5, 6, 9, 9});
    expectValues(pad("constant", in, {0, -1}, {0, 1}), {2, 3, 9, 5, 6, 9});
    expectValues(pad("constant", in, {-1, 1}, {0, -2}), {9, 4});
    expectValues(pad("constant", in, {0, -5}, {0, 4}), {9, 9, 9, 9});
    expectValues(pad("constant", in, {0, 4}, {0, -5}), {9, 9, 9, 9});
    expectValues(pad("constant", in, {-2, 0}, {0, 0}), {});
  }
  expectValues(pad("constant", make(DType::Bool, {1}, {0}), {1}, {1}, 1),
               {1, 0, 1});
  expectValues(pad("constant", make(DType::F32, {0}, {}), {1}, {1}), {9, 9});
  expectValues(pad("constant", make(DType::F32, {}, {4}), {}, {}), {4});
}

TEST(PadTest, FromTheOperand) {
  const Tensor row = make(DType::I32, {3}, {1, 2, 3});
  expectValues(pad("reflect", row, {2}, {2}), {3, 2, 1, 2, 3, 2, 1});
  expectValues(pad("edge", row, {2}, {3}), {1, 1, 1, 2, 3, 3, 3, 3});
  expectValues(pad("wrap", row, {2}, {4}), {2, 3, 1, 2, 3, 1, 2, 3, 1});
  expectValues(pad("reflect", row, {5}, {5}),
               {2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2});
  expectValues(pad("reflect", make(DType::I32, {1}, {7}), {2}, {1}),
               {7, 7, 7, 7});
  for (DType dtype : {DType::U8, DType::F16, DType::F32, DType::F64}) {
    const Tensor in = make(dtype, {2, 2}, {1, 2, 3, 4});
    expectValues(pad("reflect", in, {1, 0}, {0, 1}),
                 {3, 4, 3, 1, 2, 1, 3, 4, 3});
    expectValues(pad("edge", in, {1, 1}, {0, 0}), {1, 1, 2, 1, 1, 2, 3, 3, 4});
    expectValues(pad("wrap", in, {0, 1}, {1, 0}), {2, 1, 2, 4, 3, 4, 2, 1, 2});
  }
  for (const char *mode : {"reflect", "edge", "wrap"}) {
    expectValues(pad(mode, make(DType::F32, {}, {4}), {}, {}), {4});
    expectValues(pad(mode, make(DType::F32, {0, 2}, {}), {0, 1}, {0, 1}), {});
  }
}

} // namespace

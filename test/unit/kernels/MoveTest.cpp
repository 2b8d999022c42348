// iota, reshape, transpose, broadcast, slice, reverse, concat: every element
// type by width, against index arithmetic element by element.
#include "test/unit/kernels/KernelTest.h"

#include <algorithm>
#include <functional>

using namespace pipec;
using namespace pipec::test;

namespace {

// expected[i] is the operand's element at source(position of i in `shape`).
Values pickValues(const Tensor &in, const Shape &shape,
                  const std::function<Shape(const Shape &)> &source) {
  const Values x = values(in);
  Values out;
  for (int64_t i = 0; i < (TensorType{DType::U8, shape}.numElements()); ++i) {
    Shape at(shape.size());
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      at[d] = rest % shape[d];
    const Shape from = source(at);
    int64_t offset = 0;
    for (size_t d = 0; d < from.size(); ++d)
      offset = offset * in.shape()[d] + from[d];
    out.push_back(x[offset]);
  }
  return out;
}

TEST(MoveTest, Iota) {
  for (DType dtype : kNums) {
    expectValues(Op("iota").attr("dim", int64_t(1)).run({}, {dtype, {2, 3}}),
                 {0, 1, 2, 0, 1, 2});
    expectValues(Op("iota").attr("dim", int64_t(0)).run({}, {dtype, {2, 3}}),
                 {0, 0, 0, 1, 1, 1});
    expectValues(Op("iota").attr("dim", int64_t(0)).run({}, {dtype, {0}}), {});
  }
  EXPECT_EQ(
      values(Op("iota").attr("dim", int64_t(0)).run({}, {DType::U8, {258}}))
          .back(),
      1);
}

TEST(MoveTest, Reshape) {
  for (DType dtype : kAll) {
    const Tensor in = random(dtype, {2, 6}, 1, 9);
    const Tensor out = Op("reshape")
                           .attr("shape", Shape{3, 1, 4})
                           .run({in}, {dtype, {3, 1, 4}});
    EXPECT_EQ(bytes(in), bytes(out));
  }
  expectValues(Op("reshape")
                   .attr("shape", Shape{})
                   .run({make(DType::F32, {1, 1}, {3})}, {DType::F32, {}}),
               {3});
  expectValues(Op("reshape")
                   .attr("shape", Shape{0, 5})
                   .run({make(DType::F32, {0}, {})}, {DType::F32, {0, 5}}),
               {});
}

TEST(MoveTest, StopGradient) {
  for (DType dtype : kFloats) {
    const Tensor in = random(dtype, {2, 6}, 1, 9);
    EXPECT_EQ(bytes(in), bytes(Op("stop_gradient").run({in}, in.type())));
  }
  expectRefused(Op("stop_gradient"), {{DType::F32, {2}}},
                {{DType::F32, {2, 1}}}, "");
}

TEST(MoveTest, TransposeByEveryPermutation) {
  for (DType dtype : {DType::Bool, DType::F16, DType::F32, DType::I64})
    for (const Shape &shape : {Shape{2, 3, 5, 4}, Shape{20, 1, 33, 2},
                               Shape{1, 17, 1, 19}, Shape{3, 0, 2, 2}}) {
      Shape permutation = {0, 1, 2, 3};
      do {
        const Tensor in = random(dtype, shape, 1, 100);
        Shape result;
        for (int64_t d : permutation)
          result.push_back(shape[d]);
        const Values expected = pickValues(in, result, [&](const Shape &at) {
          Shape from(4);
          for (size_t d = 0; d < 4; ++d)
            from[permutation[d]] = at[d];
          return from;
        });
        EXPECT_EQ(values(Op("transpose")
                             .attr("permutation", permutation)
                             .run({in}, {dtype, result})),
                  expected);
      } while (std::next_permutation(permutation.begin(), permutation.end()));
    }
  expectValues(Op("transpose")
                   .attr("permutation", Shape{})
                   .run({make(DType::F32, {}, {3})}, {DType::F32, {}}),
               {3});
}

TEST(MoveTest, Broadcast) {
  const std::pair<Shape, Shape> cases[] = {
      {{}, {2, 3}},           {{1}, {4}},          {{3}, {2, 3}},
      {{2, 1}, {2, 3}},       {{1, 3}, {4, 2, 3}}, {{2, 1, 3}, {2, 4, 3}},
      {{2, 1, 1}, {2, 3, 4}}, {{1}, {0}},          {{2, 3}, {2, 3}}};
  for (DType dtype : {DType::Bool, DType::I16, DType::F32, DType::F64})
    for (const auto &[from, to] : cases) {
      const Tensor in = random(dtype, from, 3, 9);
      const Values expected =
          pickValues(in, to, [&, &from = from, &to = to](const Shape &at) {
            Shape source(from.size());
            for (size_t d = 0; d < from.size(); ++d)
              source[d] = from[d] == 1 ? 0 : at[at.size() - from.size() + d];
            return source;
          });
      EXPECT_EQ(
          values(Op("broadcast").attr("shape", to).run({in}, {dtype, to})),
          expected);
    }
}

Op slice(const Shape &starts, const Shape &limits, const Shape &strides) {
  return Op("slice")
      .attr("starts", starts)
      .attr("limits", limits)
      .attr("strides", strides);
}

TEST(MoveTest, Slice) {
  for (DType dtype : {DType::Bool, DType::BF16, DType::I32, DType::F64}) {
    const Tensor in = random(dtype, {5, 6, 7}, 2, 100);
    for (const auto &[starts, limits, strides] :
         {std::array<Shape, 3>{{{0, 0, 0}, {5, 6, 7}, {1, 1, 1}}},
          {{{1, 0, 0}, {4, 6, 7}, {1, 1, 1}}},
          {{{0, 2, 3}, {5, 3, 7}, {2, 1, 1}}},
          {{{4, 5, 6}, {5, 6, 7}, {9, 9, 9}}},
          {{{0, 0, 1}, {5, 6, 7}, {3, 4, 2}}},
          {{{5, 0, 0}, {5, 6, 7}, {1, 1, 1}}}}) {
      Shape result;
      for (size_t d = 0; d < 3; ++d)
        result.push_back((limits[d] - starts[d] + strides[d] - 1) / strides[d]);
      const Values expected =
          pickValues(in, result, [&, s = starts, t = strides](const Shape &at) {
            return Shape{s[0] + at[0] * t[0], s[1] + at[1] * t[1],
                         s[2] + at[2] * t[2]};
          });
      EXPECT_EQ(
          values(slice(starts, limits, strides).run({in}, {dtype, result})),
          expected);
    }
  }
  expectValues(slice({1}, {2}, {int64_t(1) << 62})
                   .run({make(DType::I8, {3}, {4, 5, 6})}, {DType::I8, {1}}),
               {5});
  expectValues(
      slice({}, {}, {}).run({make(DType::I8, {}, {4})}, {DType::I8, {}}), {4});
}

TEST(MoveTest, Reverse) {
  for (DType dtype : {DType::Bool, DType::F16, DType::F32, DType::I64})
    for (const Shape &dims : {Shape{}, Shape{0}, Shape{1}, Shape{2},
                              Shape{0, 2}, Shape{1, 2}, Shape{0, 1, 2}}) {
      const Shape shape = {2, 3, 4};
      const Tensor in = random(dtype, shape, 4, 100);
      const Values expected = pickValues(in, shape, [&](Shape at) {
        for (int64_t d : dims)
          at[d] = shape[d] - 1 - at[d];
        return at;
      });
      EXPECT_EQ(
          values(Op("reverse").attr("dims", dims).run({in}, {dtype, shape})),
          expected);
    }
  expectValues(Op("reverse")
                   .attr("dims", Shape{0})
                   .run({make(DType::F32, {0}, {})}, {DType::F32, {0}}),
               {});
}

TEST(MoveTest, Concat) {
  for (DType dtype : kAll) {
    const Tensor a = make(dtype, {2, 1}, {1, 0}),
                 b = make(dtype, {2, 2}, {0, 1, 1, 1}),
                 none = make(dtype, {2, 0}, {});
    expectValues(
        Op("concat").attr("dim", int64_t(1)).run({a, none, b}, {dtype, {2, 3}}),
        {1, 0, 1, 0, 1, 1});
    expectValues(
        Op("concat").attr("dim", int64_t(0)).run({b, b}, {dtype, {4, 2}}),
        {0, 1, 1, 1, 0, 1, 1, 1});
    expectValues(Op("concat").attr("dim", int64_t(0)).run({a}, {dtype, {2, 1}}),
                 {1, 0});
  }
}

} // namespace

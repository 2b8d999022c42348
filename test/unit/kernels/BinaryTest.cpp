// Binary ops, compare and select: values over all element types, broadcasting
// against an index-by-index evaluation, division by zero, NaN, shifts.
#include "test/unit/kernels/KernelTest.h"

#include <cmath>
#include <functional>
#include <limits>

using namespace pipec;
using namespace pipec::test;

namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor binary(const char *op, const Tensor &a, const Tensor &b) {
  return Op(op).run({a, b}, a.type());
}

TEST(BinaryTest, ArithmeticOfEveryType) {
  for (DType dtype : kNums) {
    SCOPED_TRACE(dtypeName(dtype));
    const Tensor a = make(dtype, {4}, {12, 7, 9, 2}),
                 b = make(dtype, {4}, {5, 7, 2, 3});
    expectValues(binary("add", a, b), {17, 14, 11, 5});
    expectValues(binary("mul", a, b), {60, 49, 18, 6});
    expectValues(binary("maximum", a, b), {12, 7, 9, 3});
    expectValues(binary("minimum", a, b), {5, 7, 2, 2});
    const double wrap =
        isUnsignedInt(dtype)
            ? std::ldexp(1.0, static_cast<int>(8 * byteSize(dtype)))
            : 0;
    expectValues(binary("sub", a, b), {7, 0, 7, wrap - 1});
    if (isFloat(dtype))
      expectValues(binary("div", a, b), {2.4, 1, 4.5, 2.0 / 3});
    else
      expectValues(binary("div", a, b), {2, 1, 4, 0});
    expectValues(
        binary("pow", make(dtype, {3}, {3, 2, 1}), make(dtype, {3}, {4, 0, 9})),
        {81, 1, 1});
  }
}

TEST(BinaryTest, AGradientOfZeroIsNoFactor) {
  for (DType dtype : kFloats) {
    SCOPED_TRACE(dtypeName(dtype));
    const Tensor g = make(dtype, {6}, {0, -0.0, 0, 2, 2, kNan}),
                 slope = make(dtype, {6}, {kInf, kNan, 0, 4, kInf, 0});
    auto chain = [&](const char *kind) {
      return Op("chain")
          .attr("kind", std::string(kind))
          .run({g, slope}, g.type());
    };
    expectValues(chain("mul"), {0, 0, 0, 8, kInf, kNan});
    expectValues(chain("div"), {0, 0, 0, 0.5, 0, kNan});
  }
  expectRefused(Op("chain").attr("kind", std::string("add")),
                {{DType::F32, {2}}, {DType::F32, {2}}}, {{DType::F32, {2}}},
                "kind");
}

TEST(BinaryTest, IntegerEdges) {
  for (DType dtype : {DType::I8, DType::I16, DType::I32, DType::I64}) {
    SCOPED_TRACE(dtypeName(dtype));
    const double least =
        -std::ldexp(1.0, static_cast<int>(8 * byteSize(dtype)) - 1);
    const Tensor a = make(dtype, {5}, {least, 7, -7, -7, 7}),
                 b = make(dtype, {5}, {-1, 0, 2, -2, -2});
    expectValues(binary("div", a, b), {least, 0, -3, 3, -3});
    expectValues(Op("remainder")
                     .attr("kind", std::string("trunc"))
                     .run({a, b}, a.type()),
                 {0, 0, -1, -1, 1});
    expectValues(Op("remainder")
                     .attr("kind", std::string("floor"))
                     .run({a, b}, a.type()),
                 {0, 0, 1, -1, -1});
    expectValues(binary("mul", a, make(dtype, {5}, {-1, 1, 1, 1, 1})),
                 {least, 7, -7, -7, 7});
    expectValues(binary("add", a, a), {0, 14, -14, -14, 14});
    const Tensor base = make(dtype, {6}, {2, 1, -1, -1, 0, -2}),
                 exponent = make(dtype, {6}, {-1, -5, -3, -4, -1, 3});
    expectValues(binary("pow", base, exponent), {0, 1, -1, 1, 0, -8});
  }
  for (DType dtype : {DType::U8, DType::U64}) {
    const Tensor a = make(dtype, {3}, {7, 255, 200}),
                 b = make(dtype, {3}, {0, 255, 7});
    expectValues(binary("div", a, b), {0, 1, 28});
    expectValues(Op("remainder")
                     .attr("kind", std::string("floor"))
                     .run({a, b}, a.type()),
                 {0, 0, 4});
  }
  // 16-bit products exceed int before they are cut off.
  const Tensor big = make(DType::U16, {1}, {65535});
  expectValues(binary("mul", big, big), {1});
}

TEST(BinaryTest, FloatRemainders) {
  for (DType dtype : kFloats) {
    const Tensor a = make(dtype, {6}, {7.5, -7.5, 7.5, -7.5, 6, -1}),
                 b = make(dtype, {6}, {2, 2, -2, -2, -2, kInf});
    expectValues(Op("remainder")
                     .attr("kind", std::string("trunc"))
                     .run({a, b}, a.type()),
                 {1.5, -1.5, 1.5, -1.5, 0, -1});
    expectValues(Op("remainder")
                     .attr("kind", std::string("floor"))
                     .run({a, b}, a.type()),
                 {1.5, 0.5, -0.5, -1.5, 0, kInf});
    const Tensor zero = make(dtype, {1}, {0});
    expectValues(Op("remainder")
                     .attr("kind", std::string("floor"))
                     .run({make(dtype, {1}, {3}), zero}, {dtype, {1}}),
                 {kNan});
  }
}

TEST(BinaryTest, NaNAndInfinity) {
  for (DType dtype : kFloats) {
    const Tensor a = make(dtype, {4}, {kNan, 1, kInf, 1}),
                 b = make(dtype, {4}, {1, kNan, 2, 0});
    expectValues(binary("maximum", a, b), {kNan, kNan, kInf, 1});
    expectValues(binary("minimum", a, b), {kNan, kNan, 2, 0});
    expectValues(binary("div", a, b), {kNan, kNan, kInf, kInf});
    expectValues(binary("atan2", make(dtype, {3}, {1, -1, 0}),
                        make(dtype, {3}, {1, 0, -1})),
                 {M_PI / 4, -M_PI / 2, M_PI});
  }
}

TEST(BinaryTest, LogicAndBits) {
  const Tensor a = make(DType::Bool, {4}, {0, 0, 1, 1});
  Tensor b = make(DType::Bool, {4}, {0, 1, 0, 1});
  b.as<uint8_t>()[3] = 6; // true, however it is stored
  expectValues(binary("and", a, b), {0, 0, 0, 1});
  expectValues(binary("or", a, b), {0, 1, 1, 1});
  expectValues(binary("xor", a, b), {0, 1, 1, 0});
  for (DType dtype : kInts) {
    SCOPED_TRACE(dtypeName(dtype));
    const double width = static_cast<double>(8 * byteSize(dtype)),
                 wrap = std::ldexp(1.0, static_cast<int>(width));
    const bool isSigned = isSignedInt(dtype);
    const Tensor x = make(dtype, {2}, {12, 10}), y = make(dtype, {2}, {10, 6});
    expectValues(binary("bitwise_and", x, y), {8, 2});
    expectValues(binary("bitwise_or", x, y), {14, 14});
    expectValues(binary("bitwise_xor", x, y), {6, 12});
    const Tensor value = make(dtype, {5}, {3, 3, 3, -4, -4}),
                 amount = make(dtype, {5}, {2, width, -1, 1, width});
    expectValues(binary("shift_left", value, amount),
                 {12, 0, 0, isSigned ? -8.0 : wrap - 8, 0});
    expectValues(
        binary("shift_right", value, amount),
        {0, 0, 0, isSigned ? -2.0 : wrap / 2 - 2, isSigned ? -1.0 : 0.0});
  }
}

TEST(BinaryTest, Comparisons) {
  const std::pair<const char *, Values> kinds[] = {
      {"eq", {0, 1, 0}}, {"ne", {1, 0, 1}}, {"lt", {1, 0, 0}},
      {"le", {1, 1, 0}}, {"gt", {0, 0, 1}}, {"ge", {0, 1, 1}}};
  for (const auto &[kind, expected] : kinds) {
    for (DType dtype : kAll) {
      SCOPED_TRACE(std::string(kind) + " " + std::string(dtypeName(dtype)));
      Op op = Op("compare").attr("kind", std::string(kind));
      expectValues(
          op.run({make(dtype, {3}, {0, 1, 1}), make(dtype, {3}, {1, 1, 0})},
                 {DType::Bool, {3}}),
          expected);
    }
    for (DType dtype : kFloats) {
      Op op = Op("compare").attr("kind", std::string(kind));
      const double holds = std::string(kind) == "ne";
      expectValues(
          op.run({make(dtype, {2}, {kNan, 1}), make(dtype, {2}, {kNan, kNan})},
                 {DType::Bool, {2}}),
          {holds, holds});
    }
  }
}

int64_t position(const Shape &from, const Shape &to, int64_t index) {
  int64_t at = 0, stride = 1;
  for (size_t d = to.size(), e = from.size(); d-- > 0; index /= to[d]) {
    if (e == 0)
      continue;
    --e;
    at += from[e] == 1 ? 0 : index % to[d] * stride;
    stride *= from[e];
  }
  return at;
}

const std::pair<std::array<Shape, 2>, Shape> kBroadcasts[] = {
    {{{{}, {}}}, {}},
    {{{{2, 3}, {}}}, {2, 3}},
    {{{{}, {2, 3}}}, {2, 3}},
    {{{{2, 3}, {3}}}, {2, 3}},
    {{{{2, 1}, {2, 3}}}, {2, 3}},
    {{{{2, 1}, {1, 3}}}, {2, 3}},
    {{{{4, 1, 5}, {2, 1}}}, {4, 2, 5}},
    {{{{2, 3, 4}, {3, 1}}}, {2, 3, 4}},
    {{{{1, 1, 1}, {1}}}, {1, 1, 1}},
    {{{{2, 1, 3, 1}, {2, 1, 5}}}, {2, 2, 3, 5}},
    {{{{0, 3}, {3}}}, {0, 3}},
    {{{{2, 0}, {2, 1}}}, {2, 0}},
    {{{{1}, {0}}}, {0}},
};

TEST(BinaryTest, Broadcasting) {
  for (DType dtype : {DType::F32, DType::I16, DType::F16, DType::F64}) {
    for (const auto &[shapes, result] : kBroadcasts) {
      const Tensor a = random(dtype, shapes[0], 1, 9),
                   b = random(dtype, shapes[1], 2, 9);
      const Values x = values(a), y = values(b);
      Values expected;
      for (int64_t i = 0; i < (TensorType{dtype, result}.numElements()); ++i)
        expected.push_back(x[position(shapes[0], result, i)] -
                           y[position(shapes[1], result, i)]);
      expectValues(Op("sub").run({a, b}, {dtype, result}), expected);
    }
  }
}

TEST(BinaryTest, SelectBroadcastsAllThree) {
  const Shape parts[] = {{},        {5},       {3, 1},   {2, 1, 1},
                         {2, 3, 5}, {1, 3, 5}, {2, 3, 1}};
  const Shape result = {2, 3, 5};
  for (DType dtype : kAll)
    for (const Shape &c : parts)
      for (const Shape &x : parts) {
        const Tensor condition = random(DType::Bool, c, 3),
                     a = random(dtype, x, 4, 9),
                     b = random(dtype, result, 5, 9);
        const Values cv = values(condition), av = values(a), bv = values(b);
        Values first, second;
        for (int64_t i = 0; i < 30; ++i) {
          const bool holds = cv[position(c, result, i)] != 0;
          first.push_back(holds ? av[position(x, result, i)] : bv[i]);
          second.push_back(holds ? bv[i] : av[position(x, result, i)]);
        }
        expectValues(Op("select").run({condition, a, b}, {dtype, result}),
                     first);
        expectValues(Op("select").run({condition, b, a}, {dtype, result}),
                     second);
      }
  expectValues(
      Op("select").run({make(DType::Bool, {}, {1}), make(DType::I8, {}, {4}),
                        make(DType::I8, {}, {5})},
                       {DType::I8, {}}),
      {4});
}

} // namespace

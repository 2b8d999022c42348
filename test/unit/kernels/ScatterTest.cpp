// scatter_elements, scatter_nd: each kind over all element types, order,
// errors.
#include "test/unit/kernels/KernelTest.h"

#include <limits>

using namespace pipec;
using namespace pipec::test;

namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

Op scatter(const char *name, const char *kind) {
  return Op(name).attr("kind", std::string(kind));
}

TEST(ScatterTest, ElementsOfEveryKind) {
  const std::pair<const char *, Values> kinds[] = {{"set", {5, 2, 9, 4}},
                                                   {"add", {15, 2, 12, 4}},
                                                   {"mul", {45, 2, 27, 4}},
                                                   {"max", {9, 2, 9, 4}},
                                                   {"min", {1, 2, 3, 4}}};
  for (DType dtype : kNums)
    for (const auto &[kind, expected] : kinds) {
      SCOPED_TRACE(std::string(kind) + std::string(dtypeName(dtype)));
      const Tensor in = make(dtype, {4}, {1, 2, 3, 4}),
                   updates = make(dtype, {3}, {9, 5, 9});
      Op op = scatter("scatter_elements", kind).attr("dim", int64_t(0));
      expectValues(
          op.run({in, make(DType::I64, {3}, {0, 0, -2}), updates}, in.type()),
          expected);
      Op nd = scatter("scatter_nd", kind);
      expectValues(nd.run({in, make(DType::I32, {3, 1}, {0, 0, -2}), updates},
                          in.type()),
                   expected);
    }
}

TEST(ScatterTest, ElementsAlongEachDimension) {
  const Tensor in = make(DType::F32, {2, 3}, Values(6, 0)),
               updates = make(DType::F32, {1, 2}, {7, 8});
  const Tensor indices = make(DType::I64, {1, 2}, {1, 0});
  expectValues(scatter("scatter_elements", "set")
                   .attr("dim", int64_t(0))
                   .run({in, indices, updates}, in.type()),
               {0, 8, 0, 7, 0, 0});
  expectValues(scatter("scatter_elements", "set")
                   .attr("dim", int64_t(1))
                   .run({in, indices, updates}, in.type()),
               {8, 7, 0, 0, 0, 0});
}

TEST(ScatterTest, NdSlices) {
  const Tensor in = make(DType::I16, {3, 2}, {1, 2, 3, 4, 5, 6}),
               updates = make(DType::I16, {2, 2}, {10, 20, 30, 40});
  expectValues(
      scatter("scatter_nd", "add")
          .run({in, make(DType::I64, {2, 1}, {2, 2}), updates}, in.type()),
      {1, 2, 3, 4, 45, 66});
  expectValues(
      scatter("scatter_nd", "set")
          .run({in, make(DType::I64, {2, 1}, {2, 2}), updates}, in.type()),
      {1, 2, 3, 4, 30, 40});
  expectValues(
      scatter("scatter_nd", "set")
          .run({in, make(DType::I64, {0, 1}, {}), make(DType::I16, {0, 2}, {})},
               in.type()),
      {1, 2, 3, 4, 5, 6});
}

TEST(ScatterTest, Bool) {
  const Tensor in = make(DType::Bool, {4}, {0, 0, 1, 1}),
               updates = make(DType::Bool, {4}, {0, 1, 0, 1});
  const Tensor indices = make(DType::I64, {4}, {0, 1, 2, 3});
  for (const auto &[kind, expected] :
       {std::pair<const char *, Values>{"set", {0, 1, 0, 1}},
        {"add", {0, 1, 1, 1}},
        {"mul", {0, 0, 0, 1}},
        {"max", {0, 1, 1, 1}},
        {"min", {0, 0, 0, 1}}})
    expectValues(scatter("scatter_elements", kind)
                     .attr("dim", int64_t(0))
                     .run({in, indices, updates}, in.type()),
                 expected);
}

TEST(ScatterTest, NaNWinsInMaxAndMin) {
  const Tensor in = make(DType::F32, {2}, {kNan, 1}),
               updates = make(DType::F32, {2}, {1, kNan});
  for (const char *kind : {"max", "min"})
    expectValues(
        scatter("scatter_elements", kind)
            .attr("dim", int64_t(0))
            .run({in, make(DType::I64, {2}, {0, 1}), updates}, in.type()),
        {kNan, kNan});
}

TEST(ScatterTest, OutOfRangeNamesTheOp) {
  const Tensor in = make(DType::F32, {3}, {0, 0, 0}),
               updates = make(DType::F32, {1}, {1});
  Op elements =
      scatter("scatter_elements", "set").attr("dim", int64_t(0)).from("n1");
  Status status =
      elements.tryRun({in, make(DType::I64, {1}, {3}), updates}, {in.type()})
          .status();
  EXPECT_NE(status.message().find("'scatter_elements' of n1: index 3"),
            std::string::npos)
      << status.message();
  Op nd = scatter("scatter_nd", "set").from("n2");
  status = nd.tryRun({in, make(DType::I64, {1, 1}, {-4}), updates}, {in.type()})
               .status();
  EXPECT_NE(status.message().find("'scatter_nd' of n2: index -4"),
            std::string::npos)
      << status.message();
}

} // namespace

// gather, gather_elements, gather_nd: values, negative indices, indices out of
// range.
#include "test/unit/kernels/KernelTest.h"

using namespace pipec;
using namespace pipec::test;

namespace {

TEST(GatherTest, Slices) {
  for (DType dtype : kAll)
    for (DType index : {DType::I32, DType::I64}) {
      const Tensor in = make(dtype, {3, 2}, {0, 1, 1, 1, 1, 0});
      const Tensor indices = make(index, {2, 2}, {2, 0, -1, -3});
      expectValues(Op("gather")
                       .attr("dim", int64_t(0))
                       .run({in, indices}, {dtype, {2, 2, 2}}),
                   {1, 0, 0, 1, 1, 0, 0, 1});
      expectValues(Op("gather")
                       .attr("dim", int64_t(1))
                       .run({in, make(index, {}, {-1})}, {dtype, {3}}),
                   {1, 1, 0});
    }
  expectValues(
      Op("gather")
          .attr("dim", int64_t(0))
          .run({make(DType::F32, {0, 2}, {}), make(DType::I64, {0}, {})},
               {DType::F32, {0, 2}}),
      {});
}

TEST(GatherTest, Elements) {
  for (DType dtype : kNums) {
    const Tensor in = make(dtype, {2, 3}, {1, 2, 3, 4, 5, 6});
    expectValues(Op("gather_elements")
                     .attr("dim", int64_t(1))
                     .run({in, make(DType::I64, {2, 2}, {2, 0, -1, 1})},
                          {dtype, {2, 2}}),
                 {3, 1, 6, 5});
    expectValues(
        Op("gather_elements")
            .attr("dim", int64_t(0))
            .run({in, make(DType::I32, {1, 2}, {1, -2})}, {dtype, {1, 2}}),
        {4, 2});
    expectValues(
        Op("gather_elements")
            .attr("dim", int64_t(0))
            .run({in, make(DType::I32, {3, 3}, {0, 1, 0, 1, 0, 1, 0, 0, 0})},
                 {dtype, {3, 3}}),
        {1, 5, 3, 4, 2, 6, 1, 2, 3});
  }
}

TEST(GatherTest, Nd) {
  for (DType dtype : kNums) {
    const Tensor in = make(dtype, {2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
    expectValues(Op("gather_nd")
                     .run({in, make(DType::I64, {2, 2}, {0, 1, -1, 0})},
                          {dtype, {2, 2}}),
                 {2, 3, 4, 5});
    expectValues(
        Op("gather_nd")
            .run({in, make(DType::I64, {1, 3}, {1, 1, 1})}, {dtype, {1}}),
        {7});
    expectValues(
        Op("gather_nd")
            .attr("batch_dims", int64_t(1))
            .run({in, make(DType::I64, {2, 1}, {1, 0})}, {dtype, {2, 2}}),
        {2, 3, 4, 5});
    expectValues(Op("gather_nd")
                     .attr("batch_dims", int64_t(1))
                     .run({in, make(DType::I32, {2, 1, 2}, {0, 1, 1, 0})},
                          {dtype, {2, 1}}),
                 {1, 6});
    expectValues(
        Op("gather_nd")
            .run({in, make(DType::I64, {1, 0}, {})}, {dtype, {1, 2, 2, 2}}),
        {0, 1, 2, 3, 4, 5, 6, 7});
  }
}

TEST(GatherTest, OutOfRangeNamesTheOp) {
  const Tensor in = make(DType::F32, {3, 3}, Values(9, 0));
  struct Case {
    Op op;
    Tensor indices;
    TensorType result;
  };
  for (double bad : {3.0, -4.0}) {
    Case cases[] = {
        {Op("gather").attr("dim", int64_t(0)),
         make(DType::I64, {2}, {0, bad}),
         {DType::F32, {2, 3}}},
        {Op("gather_elements").attr("dim", int64_t(1)),
         make(DType::I64, {1, 2}, {0, bad}),
         {DType::F32, {1, 2}}},
        {Op("gather_nd"),
         make(DType::I64, {1, 2}, {0, bad}),
         {DType::F32, {1}}},
    };
    for (Case &c : cases) {
      const Status status =
          c.op.from("node_7").tryRun({in, c.indices}, {c.result}).status();
      EXPECT_EQ(status.getCode(), StatusCode::InvalidArgument);
      const std::string expected =
          "'" + c.op.desc.name + "' of node_7: index " +
          std::to_string(static_cast<int>(bad)) +
          " at position 1 of the indices is out of range for a dimension of 3";
      EXPECT_EQ(status.message(), expected);
    }
  }
}

} // namespace

// dot_general against naive f64 sums: every element type, orientation, batch
// and contraction; sizes around the block limits.
#include "test/unit/kernels/KernelTest.h"

#include <cmath>

using namespace pipec;
using namespace pipec::test;

namespace {

struct Case {
  Shape lhs, rhs, lhsBatch, rhsBatch, lhsContract, rhsContract, result;
};

Op dot(const Case &c) {
  Op op = Op("dot_general")
              .attr("lhs_contract", c.lhsContract)
              .attr("rhs_contract", c.rhsContract);
  if (!c.lhsBatch.empty())
    op.attr("lhs_batch", c.lhsBatch).attr("rhs_batch", c.rhsBatch);
  return op;
}

// Positions of one operand's element for given batch, free and contracted
// positions.
int64_t offset(const Shape &shape, const Shape &batch, const Shape &contract,
               const Shape &b, const Shape &f, const Shape &k) {
  int64_t at = 0;
  size_t free = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t index = -1;
    for (size_t i = 0; i < batch.size(); ++i)
      index = batch[i] == static_cast<int64_t>(d) ? b[i] : index;
    for (size_t i = 0; i < contract.size(); ++i)
      index = contract[i] == static_cast<int64_t>(d) ? k[i] : index;
    at = at * shape[d] + (index < 0 ? f[free++] : index);
  }
  return at;
}

Shape unravel(int64_t index, const Shape &shape) {
  Shape at(shape.size());
  for (size_t d = shape.size(); d-- > 0; index /= shape[d])
    at[d] = index % shape[d];
  return at;
}

Values naive(const Case &c, const Values &x, const Values &y) {
  Values out;
  Shape depth;
  for (int64_t d : c.lhsContract)
    depth.push_back(c.lhs[d]);
  const int64_t k = TensorType{DType::U8, depth}.numElements();
  const size_t batch = c.lhsBatch.size(),
               free = c.lhs.size() - batch - depth.size();
  for (int64_t i = 0; i < (TensorType{DType::U8, c.result}.numElements());
       ++i) {
    const Shape at = unravel(i, c.result);
    const Shape b(at.begin(), at.begin() + batch),
        m(at.begin() + batch, at.begin() + batch + free),
        n(at.begin() + batch + free, at.end());
    double sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      const Shape p = unravel(j, depth);
      sum += x[offset(c.lhs, c.lhsBatch, c.lhsContract, b, m, p)] *
             y[offset(c.rhs, c.rhsBatch, c.rhsContract, b, n, p)];
    }
    out.push_back(sum);
  }
  return out;
}

const Case kCases[] = {
    {{2, 3}, {3, 4}, {}, {}, {1}, {0}, {2, 4}},
    {{2, 3}, {4, 3}, {}, {}, {1}, {1}, {2, 4}},
    {{3, 2}, {3, 4}, {}, {}, {0}, {0}, {2, 4}},
    {{3, 2}, {4, 3}, {}, {}, {0}, {1}, {2, 4}},
    {{5}, {5}, {}, {}, {0}, {0}, {}},
    {{5}, {5, 2}, {}, {}, {0}, {0}, {2}},
    {{2, 3}, {4}, {}, {}, {}, {}, {2, 3, 4}},
    {{2, 3, 4}, {2, 4, 5}, {0}, {0}, {2}, {1}, {2, 3, 5}},
    {{2, 3, 4}, {5, 4, 2}, {0}, {2}, {2}, {1}, {2, 3, 5}},
    {{2, 3, 2, 4}, {2, 3, 5, 4}, {0, 1}, {0, 1}, {3}, {3}, {2, 3, 2, 5}},
    {{2, 6, 3, 4}, {2, 5, 3, 4}, {0, 2}, {0, 2}, {3}, {3}, {2, 3, 6, 5}},
    {{2, 3, 4}, {3, 4, 5}, {}, {}, {1, 2}, {0, 1}, {2, 5}},
    {{2, 3, 4}, {4, 3, 5}, {}, {}, {1, 2}, {1, 0}, {2, 5}},
    {{9, 7}, {7, 300}, {}, {}, {1}, {0}, {9, 300}},
    {{2, 0}, {0, 3}, {}, {}, {1}, {0}, {2, 3}},
    {{0, 2}, {2, 3}, {}, {}, {1}, {0}, {0, 3}},
    {{1, 1, 4}, {4, 1}, {}, {}, {2}, {0}, {1, 1, 1}},
};

TEST(DotTest, AgainstNaiveSums) {
  for (DType dtype : kNums)
    for (const Case &c : kCases) {
      SCOPED_TRACE((TensorType{dtype, c.lhs}.str() + " " +
                    TensorType{dtype, c.rhs}.str()));
      const Tensor x = random(dtype, c.lhs, 1, 3),
                   y = random(dtype, c.rhs, 2, 3);
      Values expected = naive(c, values(x), values(y));
      if (dtype == DType::I8 || dtype == DType::U8)
        for (double &value : expected)
          value = dtype == DType::I8
                      ? static_cast<int8_t>(static_cast<int>(value))
                      : static_cast<uint8_t>(static_cast<int>(value));
      expectValues(dot(c).run({x, y}, {dtype, c.result}), expected);
    }
}

TEST(DotTest, IntegersWrap) {
  const Case c{{1, 2}, {2, 1}, {}, {}, {1}, {0}, {1, 1}};
  expectValues(dot(c).run({make(DType::I8, {1, 2}, {100, 100}),
                           make(DType::I8, {2, 1}, {2, 1})},
                          {DType::I8, {1, 1}}),
               {44});
  Tensor x = make(DType::I64, {1, 2}, {0, 0});
  x.as<int64_t>()[0] = x.as<int64_t>()[1] = int64_t(1) << 62;
  expectValues(
      dot(c).run({x, make(DType::I64, {2, 1}, {2, 2})}, {DType::I64, {1, 1}}),
      {0});
}

// f16 and bf16 add up in f32 and round once.
TEST(DotTest, HalvesAccumulateInFloat) {
  const int64_t k = 4096;
  for (DType dtype : {DType::F16, DType::BF16}) {
    const Tensor x = make(dtype, {1, k}, Values(k, 1)),
                 y = make(dtype, {k, 1}, Values(k, 1));
    expectValues(dot({{1, k}, {k, 1}, {}, {}, {1}, {0}, {1, 1}})
                     .run({x, y}, {dtype, {1, 1}}),
                 {4096});
  }
}

// The bits of a row do not depend on how many rows or columns stand beside it.
TEST(DotTest, BlocksDoNotChangeBits) {
  const int64_t k = 100, n = 300, m = 11;
  const Tensor x = random(DType::F32, {m, k}, 3),
               y = random(DType::F32, {k, n}, 4);
  const std::string all = bytes(dot({{m, k}, {k, n}, {}, {}, {1}, {0}, {m, n}})
                                    .run({x, y}, {DType::F32, {m, n}}));
  for (int64_t row : {0, 5, 10}) {
    Tensor one = blank({DType::F32, {1, k}});
    std::copy_n(x.as<float>() + row * k, k, one.as<float>());
    const std::string part =
        bytes(dot({{1, k}, {k, n}, {}, {}, {1}, {0}, {1, n}})
                  .run({one, y}, {DType::F32, {1, n}}));
    EXPECT_EQ(part, all.substr(row * n * 4, n * 4));
  }
}

} // namespace

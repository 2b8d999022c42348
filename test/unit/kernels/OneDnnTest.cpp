// The oneDNN kernels: close to the reference ones over sweeps of shapes, and
// the bit rule: the same bits for any OpenMP thread count, run and address.
#include "test/unit/kernels/KernelTest.h"

#include <cmath>
#include <cstring>
#include <omp.h>
#include <typeinfo>

using namespace pipec;
using namespace pipec::test;

namespace {

// The most that two orders of adding k products of numbers in [-1, 1) may
// differ, per element type.
double sumTolerance(DType dtype, int64_t k) {
  const double root = std::sqrt(static_cast<double>(k));
  return dtype == DType::BF16 ? 0x1p-7 * root : 0x1p-21 * root;
}

bool isLibraryKernel(const OpDesc &op) {
  const auto any = KernelRegistry::get().create(op),
             reference = KernelRegistry::get().create(op, true);
  return any.ok() && reference.ok() && typeid(**any) != typeid(**reference);
}

Tensor shifted(const Tensor &tensor, size_t shift) {
  Tensor copy = blank(tensor.type(), shift);
  if (tensor.byteSize())
    std::memcpy(copy.data(), tensor.data(), tensor.byteSize());
  return copy;
}

// Compares library and reference, then the library with itself under everything
// that must not matter.
void check(Op op, const std::vector<Tensor> &inputs, const TensorType &result,
           double allowed) {
  const Tensor expected = op.run(inputs, result),
               actual = op.run(inputs, result, false);
  EXPECT_TRUE(isLibraryKernel(op.desc))
      << op.desc.name << " is left to the reference kernel";
  const Values e = values(expected), a = values(actual);
  for (size_t i = 0; i < e.size(); ++i)
    ASSERT_NEAR(a[i], e[i], allowed * std::max(1.0, std::abs(e[i])))
        << "element " << i << " of " << result.str();
  const std::string bits = bytes(actual);
  for (int threads : {2, 1, 4}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(bytes(op.run(inputs, result, false)), bits)
        << threads << " threads";
    EXPECT_EQ(omp_get_max_threads(), threads)
        << "the caller's setting is put back";
  }
  for (size_t shift : {4, 20, 36}) {
    std::vector<Tensor> moved;
    for (const Tensor &input : inputs)
      moved.push_back(shifted(input, shift));
    EXPECT_EQ(bytes(op.run(moved, result, false)), bits)
        << "operands moved by " << shift;
  }
}

struct Dot {
  Shape lhs, rhs, lhsBatch, rhsBatch, lhsContract, rhsContract, result;
  int64_t k;
};

const Dot kDots[] = {
    {{33, 70}, {70, 50}, {}, {}, {1}, {0}, {33, 50}, 70},
    {{33, 70}, {50, 70}, {}, {}, {1}, {1}, {33, 50}, 70},
    {{70, 33}, {70, 50}, {}, {}, {0}, {0}, {33, 50}, 70},
    {{70, 33}, {50, 70}, {}, {}, {0}, {1}, {33, 50}, 70},
    {{4096, 16},
     {4096, 8},
     {},
     {},
     {0},
     {0},
     {16, 8},
     4096}, // the library would split K over threads
    {{1, 512}, {512, 70}, {}, {}, {1}, {0}, {1, 70}, 512},
    {{1, 512}, {70, 512}, {}, {}, {1}, {1}, {1, 70}, 512},
    {{70, 512}, {512, 1}, {}, {}, {1}, {0}, {70, 1}, 512},
    {{70, 512}, {512}, {}, {}, {1}, {0}, {70}, 512},
    {{5000}, {5000}, {}, {}, {0}, {0}, {}, 5000},
    {{100, 1}, {1, 80}, {}, {}, {1}, {0}, {100, 80}, 1},
    {{100}, {80}, {}, {}, {}, {}, {100, 80}, 1},
    {{2, 9, 40}, {40, 30}, {}, {}, {2}, {0}, {2, 9, 30}, 40},
    {{2, 3, 20, 16},
     {2, 3, 20, 16},
     {0, 1},
     {0, 1},
     {3},
     {3},
     {2, 3, 20, 20},
     16},
    {{2, 20, 3, 16},
     {2, 20, 3, 16},
     {0, 2},
     {0, 2},
     {3},
     {3},
     {2, 3, 20, 20},
     16}, // heads between positions
    {{2, 3, 20, 20},
     {2, 20, 3, 16},
     {0, 1},
     {0, 2},
     {3},
     {1},
     {2, 3, 20, 16},
     20},
    {{6, 20, 16}, {16, 6, 10}, {0}, {1}, {2}, {0}, {6, 20, 10}, 16},
    {{5, 8, 6, 7},
     {6, 8, 12},
     {},
     {},
     {1, 2},
     {1, 0},
     {5, 7, 12},
     48}, // needs packing
    {{9, 6, 10, 5}, {5, 6, 11}, {}, {}, {1, 3}, {1, 0}, {9, 10, 11}, 30},
};

TEST(OneDnnTest, Dot) {
  for (DType dtype : {DType::F32, DType::BF16})
    for (const Dot &d : kDots) {
      const Tensor x = random(dtype, d.lhs, 1), y = random(dtype, d.rhs, 2);
      SCOPED_TRACE(x.type().str() + " " + y.type().str());
      Op op = Op("dot_general")
                  .attr("lhs_contract", d.lhsContract)
                  .attr("rhs_contract", d.rhsContract);
      op.attr("lhs_batch", d.lhsBatch).attr("rhs_batch", d.rhsBatch);
      if (dtype == DType::BF16 && !isLibraryKernel([&] {
            OpDesc probe = op.desc;
            probe.inputs = {x.type(), y.type()};
            probe.outputs = {{dtype, d.result}};
            return probe;
          }()))
        continue; // this processor has no fast bf16
      check(op, {x, y}, {dtype, d.result}, sumTolerance(dtype, d.k));
    }
}

TEST(OneDnnTest, SmallAndEmptyProductsStayWithTheReference) {
  OpDesc op = Op("dot_general")
                  .attr("lhs_contract", Shape{1})
                  .attr("rhs_contract", Shape{0})
                  .desc;
  for (const Shape &sizes : {Shape{3, 4, 5}, Shape{0, 512, 512},
                             Shape{512, 0, 512}, Shape{512, 512, 0}}) {
    op.inputs = {{DType::F32, {sizes[0], sizes[1]}},
                 {DType::F32, {sizes[1], sizes[2]}}};
    op.outputs = {{DType::F32, {sizes[0], sizes[2]}}};
    EXPECT_TRUE(KernelRegistry::get().create(op).ok());
    EXPECT_FALSE(isLibraryKernel(op));
  }
}

struct Conv {
  Shape input, weight, strides, padding, dilations, outputPadding;
  int64_t groups;
  Shape result;
};

const Conv kConvs[] = {
    {{2, 16, 14, 14},
     {24, 16, 3, 3},
     {1, 1},
     {1, 1, 1, 1},
     {1, 1},
     {},
     1,
     {2, 24, 14, 14}},
    {{1, 5, 19, 17},
     {7, 5, 3, 2},
     {2, 1},
     {1, 0, 2, 1},
     {1, 2},
     {},
     1,
     {1, 7, 10, 16}},
    {{1, 3, 32, 32},
     {16, 3, 7, 7},
     {2, 2},
     {3, 3, 3, 3},
     {1, 1},
     {},
     1,
     {1, 16, 16, 16}},
    {{2, 32, 9, 9},
     {32, 1, 3, 3},
     {1, 1},
     {1, 1, 1, 1},
     {1, 1},
     {},
     32,
     {2, 32, 9, 9}},
    {{2, 12, 9, 9},
     {18, 4, 3, 3},
     {1, 1},
     {0, 0, 0, 0},
     {1, 1},
     {},
     3,
     {2, 18, 7, 7}},
    {{2, 32, 7, 7},
     {48, 32, 1, 1},
     {1, 1},
     {0, 0, 0, 0},
     {1, 1},
     {},
     1,
     {2, 48, 7, 7}},
    {{2, 8, 50}, {12, 8, 5}, {2}, {2, 1}, {2}, {}, 1, {2, 12, 23}},
    {{1, 4, 5, 6, 7},
     {8, 4, 2, 3, 3},
     {1, 2, 1},
     {0, 1, 1, 1, 1, 1},
     {1, 1, 1},
     {},
     1,
     {1, 8, 5, 3, 7}},
};
const Conv kDeconvs[] = {
    {{2, 16, 7, 7},
     {16, 12, 2, 2},
     {2, 2},
     {0, 0, 0, 0},
     {1, 1},
     {0, 0},
     1,
     {2, 12, 14, 14}},
    {{1, 6, 9, 8},
     {6, 5, 4, 3},
     {2, 2},
     {1, 1, 1, 1},
     {1, 1},
     {0, 1},
     1,
     {1, 5, 18, 16}},
    {{1, 8, 9, 8},
     {8, 3, 3, 3},
     {1, 2},
     {1, 0, 1, 0},
     {2, 1},
     {0, 1},
     2,
     {1, 6, 11, 18}},
    {{2, 8, 20}, {8, 6, 4}, {3}, {1, 1}, {1}, {2}, 1, {2, 6, 61}},
};

TEST(OneDnnTest, Convolutions) {
  const auto sweep = [](const char *name, const Conv &c) {
    const Tensor x = random(DType::F32, c.input, 1),
                 w = random(DType::F32, c.weight, 2);
    SCOPED_TRACE(std::string(name) + x.type().str() + w.type().str());
    Op op = Op(name)
                .attr("strides", c.strides)
                .attr("padding", c.padding)
                .attr("dilations", c.dilations)
                .attr("groups", c.groups);
    if (!c.outputPadding.empty())
      op.attr("output_padding", c.outputPadding);
    const int64_t products = w.numElements() / c.weight[0] *
                             (c.outputPadding.empty() ? 1 : c.weight[0]);
    check(op, {x, w}, {DType::F32, c.result},
          sumTolerance(DType::F32, products));
  };
  for (const Conv &c : kConvs)
    sweep("convolution", c);
  for (const Conv &c : kDeconvs)
    sweep("conv_transpose", c);
}

TEST(OneDnnTest, NegativePaddingStaysWithTheReference) {
  Op op = Op("convolution")
              .attr("strides", Shape{1, 1})
              .attr("padding", Shape{-1, 0, 0, 0})
              .attr("dilations", Shape{1, 1});
  op.run({random(DType::F32, {2, 16, 14, 14}, 1),
          random(DType::F32, {24, 16, 3, 3}, 2)},
         {DType::F32, {2, 24, 11, 12}}, false);
  EXPECT_FALSE(isLibraryKernel(op.desc));
}

TEST(OneDnnTest, Attention) {
  for (bool causal : {false, true})
    for (int64_t keyHeads : {1, 2, 4})
      for (int maskKind = 0; maskKind < 3; ++maskKind) {
        const Tensor q = random(DType::F32, {2, 4, 19, 16}, 1),
                     k = random(DType::F32, {2, keyHeads, 23, 16}, 2);
        const Tensor v = random(DType::F32, {2, keyHeads, 23, 12}, 3);
        std::vector<Tensor> inputs = {q, k, v};
        if (maskKind)
          inputs.push_back(random(maskKind == 1 ? DType::Bool : DType::F32,
                                  {2, 1, 19, 23}, 4));
        Op op = Op("attention").attr("scale", 0.25).attr("causal", causal);
        check(op, inputs, {DType::F32, {2, 4, 19, 12}}, 0x1p-19);
      }
}

} // namespace

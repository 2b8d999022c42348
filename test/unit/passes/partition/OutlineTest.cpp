// Executes graphs before and after they are cut, at every place, and compares
// bits.
#include "test/unit/passes/partition/GraphText.h"
#include "test/unit/support/GraphInterpreter.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace pipec;
using namespace pipec::pipe;
using test::GraphText;

namespace {

// A skip connection over two stages, a mask from an integer input, a value
// handed through.
const char *kGraph = R"(
pipe.graph @main(%x: tensor<3x4xf32>, %ids: tensor<3x1xi64>) -> (tensor<3x4xf32>, tensor<3x1xi64>) {
  %zero = pipe.constant dense<0> : tensor<i64>
  %scale = pipe.constant dense<[0.5, 1.5, -2.0, 0.25]> : tensor<4xf32>
  %m = pipe.compare gt %ids, %zero : (tensor<3x1xi64>, tensor<i64>) -> tensor<3x1xi1> loc(fused<#pipe.origin<0, "Greater", "m", "a">>["m"])
  %0 = pipe.mul %x, %scale : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32> loc(fused<#pipe.origin<1, "Mul", "n1", "a">>["m"])
  %1 = pipe.tanh %0 : (tensor<3x4xf32>) -> tensor<3x4xf32> loc(fused<#pipe.origin<2, "Tanh", "n2", "b">>["m"])
  %2 = pipe.select %m, %1, %0 : (tensor<3x1xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc(fused<#pipe.origin<3, "Where", "n3", "c">>["m"])
  %3 = pipe.add %2, %0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc(fused<#pipe.origin<4, "Add", "n4", "d">>["m"])
  %4 = pipe.mul %3, %scale : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32> loc(fused<#pipe.origin<5, "Mul", "n5", "e">>["m"])
  pipe.output %4, %ids : tensor<3x4xf32>, tensor<3x1xi64>
})";

std::vector<Tensor> inputs() {
  std::vector<float> x;
  for (int i = 0; i < 12; ++i)
    x.push_back(0.37f * i - 1.9f);
  std::vector<int64_t> ids = {1, -1, 2};
  return {*Tensor::copyOf({DType::F32, {3, 4}}, x.data()),
          *Tensor::copyOf({DType::I64, {3, 1}}, ids.data())};
}

void expectSameBits(const std::vector<Tensor> &a,
                    const std::vector<Tensor> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].type(), b[i].type());
    EXPECT_EQ(std::memcmp(a[i].data(), b[i].data(), a[i].byteSize()), 0)
        << "result " << i;
  }
}

TEST(Outline, CutGraphsGiveTheSameBits) {
  GraphText whole(kGraph);
  ASSERT_TRUE(whole.graph);
  auto expected = pipe::testing::GraphInterpreter().run(whole.graph, inputs());
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  for (unsigned cuts = 0; cuts < 32;
       ++cuts) { // every set of places between the six nodes
    GraphText text(kGraph);
    std::vector<Cut> list;
    for (int64_t i = 0; i < 5; ++i)
      if (cuts >> i & 1)
        list.push_back({i + 1, "test"});
    auto nodes = collectGraphNodes(text.graph);
    PartitionPlan plan = planFromCuts(list, nodes);
    annotateStages(text.graph, plan);
    mlir::PassManager manager(&text.context);
    buildPartitionPipeline(manager);
    mlir::ScopedDiagnosticHandler quiet(
        &text.context, [](mlir::Diagnostic &) { return mlir::success(); });
    if (mlir::failed(manager.run(*text.module))) {
      EXPECT_TRUE(cuts & 1)
          << "only a stage of nothing but the mask may be refused";
      continue;
    }
    auto got = pipe::testing::GraphInterpreter().run(text.graph, inputs());
    ASSERT_TRUE(got.ok()) << got.status().message();
    expectSameBits(*got, *expected);
  }
}

} // namespace

// The import phase leaves every bit of the outputs as it is: graphs run with
// the reference kernels before and after it.
#include "passes/import/Passes.h"
#include "test/unit/ir/ParseGraph.h"
#include "test/unit/support/GraphInterpreter.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pipec;
using namespace pipec::pipe;
using namespace pipec::pipe::testing;

namespace {

struct GraphCase {
  const char *name;
  const char *text;
  int opsLeft; // tensor ops after the phase
};

const GraphCase kGraphs[] = {
    {"mask_and_embedding", R"(
pipe.weight @table parameter : tensor<10x4xf32> from #pipe.source<"m", 0, 160>
pipe.graph @main(%ids: tensor<2x6xi64>) -> tensor<2x6x4xf32> {
  %table = pipe.load_weight @table : tensor<10x4xf32>
  %zero = pipe.constant dense<0> : tensor<i64>
  %ids1 = pipe.maximum %ids, %zero : (tensor<2x6xi64>, tensor<i64>) -> tensor<2x6xi64>
  %e = pipe.gather %table, %ids1 dim 0 : (tensor<10x4xf32>, tensor<2x6xi64>) -> tensor<2x6x4xf32>
  %i = pipe.iota dim 0 : tensor<6xi64>
  %col = pipe.reshape %i to [6, 1] : (tensor<6xi64>) -> tensor<6x1xi64>
  %causal = pipe.compare le %i, %col : (tensor<6xi64>, tensor<6x1xi64>) -> tensor<6x6xi1>
  %t = pipe.transpose %e by [0, 2, 1] : (tensor<2x6x4xf32>) -> tensor<2x4x6xf32>
  %t2 = pipe.transpose %t by [0, 2, 1] : (tensor<2x4x6xf32>) -> tensor<2x6x4xf32>
  %s = pipe.dot_general %e, %t2 batch [0] x [0] contract [2] x [2] : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x6xf32>
  %ninf = pipe.constant dense<0xFF800000> : tensor<f32>
  %m = pipe.select %causal, %s, %ninf : (tensor<6x6xi1>, tensor<2x6x6xf32>, tensor<f32>) -> tensor<2x6x6xf32>
  %p = pipe.softmax %m dim 2 : (tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %d = pipe.dropout %p ratio 0.1 : (tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %o = pipe.dot_general %d, %e batch [0] x [0] contract [2] x [1] : (tensor<2x6x6xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  pipe.output %o : tensor<2x6x4xf32>
})",
     6},
    {"float_constants", R"(
pipe.graph @main(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<20xf32>) {
  %i = pipe.iota dim 0 : tensor<20xf32>
  %k = pipe.constant dense<0.3> : tensor<f32>
  %a = pipe.mul %i, %k : (tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
  %sin = pipe.sin %a : (tensor<20xf32>) -> tensor<20xf32>
  %h = pipe.convert %sin : (tensor<20xf32>) -> tensor<20xf16>
  %w = pipe.convert %h : (tensor<20xf16>) -> tensor<20xf32>
  %n = pipe.reduce mean %w dims [0] : (tensor<20xf32>) -> tensor<f32>
  %zero = pipe.constant dense<0.0> : tensor<f32>
  %y = pipe.add %x, %zero : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  %z = pipe.mul %y, %n : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  pipe.output %z, %w : tensor<3x5xf32>, tensor<20xf32>
})",
     2},
    {"identities", R"(
pipe.graph @main(%x: tensor<3x5xi32>) -> (tensor<15xi32>, tensor<3x5xi32>) {
  %zero = pipe.constant dense<0> : tensor<i32>
  %one = pipe.constant dense<1> : tensor<i32>
  %0 = pipe.add %x, %zero : (tensor<3x5xi32>, tensor<i32>) -> tensor<3x5xi32>
  %1 = pipe.mul %one, %0 : (tensor<i32>, tensor<3x5xi32>) -> tensor<3x5xi32>
  %2 = pipe.reshape %1 to [5, 3] : (tensor<3x5xi32>) -> tensor<5x3xi32>
  %3 = pipe.reshape %2 to [15] : (tensor<5x3xi32>) -> tensor<15xi32>
  %4 = pipe.neg %1 : (tensor<3x5xi32>) -> tensor<3x5xi32>
  %5 = pipe.neg %4 : (tensor<3x5xi32>) -> tensor<3x5xi32>
  %v = pipe.constant dense<7> : tensor<i32>
  %6 = pipe.pad edge %5, %v low [0, 0] high [0, 0] : (tensor<3x5xi32>, tensor<i32>) -> tensor<3x5xi32>
  pipe.output %3, %6 : tensor<15xi32>, tensor<3x5xi32>
})",
     1},
};

class ImportPipeline : public ::testing::TestWithParam<GraphCase> {};

// Values for all arguments and weights of the graph, the same at each call.
std::vector<Tensor> makeInputs(GraphOp graph) {
  std::vector<Tensor> inputs;
  for (Type type : graph.getArgumentTypes())
    inputs.push_back(makeTensor(toTensorType(type), inputs.size() + 1));
  return inputs;
}
TensorMap makeWeights(ModuleOp module) {
  TensorMap weights;
  for (WeightOp weight : module.getOps<WeightOp>())
    weights[weight.getSymName().str()] =
        makeTensor(toTensorType(weight.getType()), 99 + weights.size());
  return weights;
}

TEST_P(ImportPipeline, KeepsEveryBit) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = parseModule(context, GetParam().text);
  ASSERT_TRUE(module);
  auto graph = findOp<GraphOp>(*module);
  GraphInterpreter interpreter(makeWeights(*module));
  std::vector<Tensor> inputs = makeInputs(graph);
  StatusOr<std::vector<Tensor>> before = interpreter.run(graph, inputs);
  ASSERT_TRUE(before.ok()) << before.status().message();

  PassManager pm(&context);
  ImportPipelineOptions options;
  options.requireOrigin = false;
  buildImportPipeline(pm, options);
  ASSERT_TRUE(succeeded(pm.run(*module)));

  int left = 0;
  module->walk([&](CostInterface) { ++left; });
  EXPECT_EQ(left, GetParam().opsLeft);
  StatusOr<std::vector<Tensor>> after = interpreter.run(graph, inputs);
  ASSERT_TRUE(after.ok()) << after.status().message();
  ASSERT_EQ(before->size(), after->size());
  for (size_t i = 0; i < before->size(); ++i)
    EXPECT_TRUE(sameBits((*before)[i], (*after)[i])) << "output " << i;
}

INSTANTIATE_TEST_SUITE_P(Graphs, ImportPipeline, ::testing::ValuesIn(kGraphs),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

TEST(GraphInterpreter, RunsStagesAndTransfers) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = parseModule(context, R"(
pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %r = pipe.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %r : tensor<4xf32>
  }
  %1 = pipe.transfer %0 from 0 to 1 : tensor<4xf32>
  %2 = pipe.stage 1 (%a = %1 : tensor<4xf32>) -> tensor<4xf32> {
    %n = pipe.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %n : tensor<4xf32>
  }
  pipe.output %2 : tensor<4xf32>
})");
  ASSERT_TRUE(module);
  const float x[] = {1, -2, 3, 0.5};
  auto outputs = GraphInterpreter().run(
      findOp<GraphOp>(*module), {*Tensor::copyOf({DType::F32, {4}}, x)});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  const float expected[] = {-1, -0.0f, -3, -0.5};
  EXPECT_TRUE(
      sameBits(outputs->front(), *Tensor::copyOf({DType::F32, {4}}, expected)));
}

} // namespace

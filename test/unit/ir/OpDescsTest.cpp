// From MLIR to the runtime's types and back: element types, origins,
// descriptions of ops, constants.
#include "ir/OpDescs.h"
#include "test/unit/ir/ParseGraph.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace pipec;
using namespace pipec::pipe;
using pipec::pipe::testing::findOp;
using pipec::pipe::testing::parseModule;

namespace {

using pipec::TensorType; // MLIR has one too

const DType kDTypes[] = {DType::Bool, DType::I8,  DType::I16,  DType::I32,
                         DType::I64,  DType::U8,  DType::U16,  DType::U32,
                         DType::U64,  DType::F16, DType::BF16, DType::F32,
                         DType::F64};

TEST(OpDescs, ElementTypesGoBothWays) {
  MLIRContext context;
  for (DType dtype : kDTypes)
    EXPECT_EQ(toDType(fromDType(&context, dtype)), dtype);
  EXPECT_EQ(toDType(IntegerType::get(&context, 4)), std::nullopt);
  EXPECT_EQ(toDType(IntegerType::get(&context, 32, IntegerType::Signed)),
            std::nullopt);
  EXPECT_EQ(toDType(IndexType::get(&context)), std::nullopt);
}

TEST(OpDescs, TensorTypesGoBothWays) {
  MLIRContext context;
  TensorType type{DType::U16, {2, 0, 3}};
  EXPECT_EQ(toTensorType(fromTensorType(&context, type)), type);
}

TEST(OpDescs, OriginsGoBothWays) {
  MLIRContext context;
  context.loadDialect<PipeDialect>();
  Origin origin{"layer0.lin", "node \"a\"", "MatMul", "model.py", 12, 7};
  Origin back = originOf(makeOriginLocation(&context, origin));
  EXPECT_EQ(back.module, origin.module);
  EXPECT_EQ(back.node, origin.node);
  EXPECT_EQ(back.op, origin.op);
  EXPECT_EQ(back.file, origin.file);
  EXPECT_EQ(back.line, origin.line);
  EXPECT_EQ(back.index, origin.index);
  // Without a line, and of a location that is not ours.
  origin.file.clear();
  EXPECT_EQ(originOf(makeOriginLocation(&context, origin)).file, "");
  EXPECT_EQ(originOf(UnknownLoc::get(&context)).index, -1);
}

TEST(OpDescs, DescribesAttributesOfEveryKind) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = parseModule(context, R"(
    pipe.graph @g(%x: tensor<2x3xf32>) {
      %0 = pipe.reduce sum %x dims [1] keep : (tensor<2x3xf32>) -> tensor<2x1xf32>
      %1 = pipe.resize nearest %x to [2, 6] scales [1.0, 2.0] : (tensor<2x3xf32>) -> tensor<2x6xf32>
      %2 = pipe.arg_reduce argmax %x dim 1 : (tensor<2x3xf32>) -> tensor<2xi64>
      pipe.output
    })");
  ASSERT_TRUE(module);
  OpDesc reduce = describe(findOp<ReduceOp>(*module));
  EXPECT_EQ(reduce.name, "reduce");
  EXPECT_EQ(*reduce.get<std::string>("kind"), "sum");
  EXPECT_EQ(*reduce.get<std::vector<int64_t>>("dims"), std::vector<int64_t>{1});
  EXPECT_EQ(*reduce.get<bool>("keep_dims"), true);
  EXPECT_EQ(reduce.inputs, (std::vector<TensorType>{{DType::F32, {2, 3}}}));
  EXPECT_EQ(reduce.outputs, (std::vector<TensorType>{{DType::F32, {2, 1}}}));

  OpDesc resize = describe(findOp<ResizeOp>(*module));
  EXPECT_EQ(*resize.get<std::vector<double>>("scales"),
            (std::vector<double>{1.0, 2.0}));
  // Defaults are written out.
  EXPECT_EQ(*resize.get<std::string>("coordinates"), "half_pixel");
  EXPECT_EQ(*resize.get<double>("cubic_coeff"), -0.75);
  EXPECT_EQ(*resize.get<bool>("exclude_outside"), false);

  OpDesc argReduce = describe(findOp<ArgReduceOp>(*module));
  EXPECT_EQ(*argReduce.get<int64_t>("dim"), 1);
  EXPECT_FALSE(argReduce.has("keep_dims"));
}

TEST(OpDescs, NamesOptionalOperands) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = parseModule(context, R"(
    pipe.graph @g(%x: tensor<2x3xf32>, %c: tensor<3xf32>) {
      %0 = pipe.layer_norm %x bias %c axis 1 epsilon 1.0e-5 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %1 = pipe.rms_norm %x axis 1 epsilon 1.0e-5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
      pipe.output
    })");
  ASSERT_TRUE(module);
  OpDesc layer = describe(findOp<LayerNormOp>(*module));
  EXPECT_EQ(*layer.get<std::string>("operands"), "operand,bias");
  EXPECT_FALSE(layer.has("operandSegmentSizes"));
  OpDesc rms = describe(findOp<RmsNormOp>(*module));
  EXPECT_EQ(*rms.get<std::string>("operands"), "operand");
}

// A graph with a builder that stands in it.
struct GraphFixture {
  GraphFixture()
      : module(parseModule(context, "pipe.graph @g() {\n pipe.output\n}")),
        builder(&context) {
    builder.setInsertionPoint(findOp<GraphOp>(*module).getOutput());
  }
  Value make(const Tensor &tensor) {
    return materializeConstant(builder, builder.getUnknownLoc(), tensor);
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  OpBuilder builder;
};

TEST(OpDescs, ConstantsOfEveryTypeGoBothWays) {
  GraphFixture graph;
  for (DType dtype : kDTypes)
    for (int64_t size : {0, 1, 3, 16, 17, 40})
      for (bool splat : {false, true}) {
        StatusOr<Tensor> tensor = Tensor::allocate({dtype, {size}});
        ASSERT_TRUE(tensor.ok());
        size_t width = byteSize(dtype);
        for (size_t i = 0; i < tensor->byteSize(); ++i)
          tensor->as<uint8_t>()[i] = dtype == DType::Bool
                                         ? (splat || i % 3 == 0)
                                         : (splat ? i % width : i) + 1;
        Value value = graph.make(*tensor);
        bool literal = splat || size <= 16;
        EXPECT_EQ(isa<ConstantOp>(value.getDefiningOp()), literal)
            << tensor->type().str();
        std::optional<Tensor> back = constantTensor(value.getDefiningOp());
        ASSERT_TRUE(back) << tensor->type().str();
        EXPECT_EQ(back->type(), tensor->type());
        EXPECT_EQ(std::string(back->as<char>(), back->byteSize()),
                  std::string(tensor->as<char>(), tensor->byteSize()))
            << tensor->type().str();
      }
  EXPECT_TRUE(succeeded(graph.module->verify()));
}

TEST(OpDescs, KeepsNanPayloadsAndNegativeZero) {
  GraphFixture graph;
  const uint32_t bits[] = {0x7FC00123, 0xFFC00001, 0x80000000};
  Tensor tensor = *Tensor::copyOf({DType::F32, {3}}, bits);
  std::optional<Tensor> back =
      constantTensor(graph.make(tensor).getDefiningOp());
  ASSERT_TRUE(back);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(back->as<uint32_t>()[i], bits[i]);
}

TEST(OpDescs, PoolDeclarationsAvoidTakenNames) {
  GraphFixture graph;
  std::vector<int64_t> values(20);
  for (int i = 0; i < 20; ++i)
    values[i] = i;
  auto load = graph.make(*Tensor::copyOf({DType::I64, {20}}, values.data()))
                  .getDefiningOp<LoadWeightOp>();
  auto other = graph.make(*Tensor::copyOf({DType::I64, {4, 5}}, values.data()))
                   .getDefiningOp<LoadWeightOp>();
  auto again = graph.make(*Tensor::copyOf({DType::I64, {20}}, values.data()))
                   .getDefiningOp<LoadWeightOp>();
  EXPECT_NE(load.getWeight(), other.getWeight());
  EXPECT_EQ(load.getWeight(), again.getWeight());
  EXPECT_TRUE(succeeded(graph.module->verify()));
}

TEST(OpDescs, EvaluatesOpsOnConstants) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = parseModule(context, R"(
    pipe.graph @g(%x: tensor<2xi32>) {
      %0 = pipe.constant dense<[1, -2]> : tensor<2xi32>
      %1 = pipe.neg %0 : (tensor<2xi32>) -> tensor<2xi32>
      %2 = pipe.add %x, %0 : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
      pipe.output
    })");
  ASSERT_TRUE(module);
  auto neg = findOp<NegOp>(*module);
  auto results = evaluateConstantOp(neg, 8);
  ASSERT_TRUE(results);
  EXPECT_EQ(results->front().as<int32_t>()[0], -1);
  EXPECT_EQ(results->front().as<int32_t>()[1], 2);
  EXPECT_FALSE(evaluateConstantOp(neg, 7));
  EXPECT_FALSE(evaluateConstantOp(findOp<AddOp>(*module), 8));
  EXPECT_FALSE(evaluateConstantOp(findOp<ConstantOp>(*module), 8));
}

} // namespace

// The registry: every tensor op of the dialect has a reference kernel, choice
// among sets, messages, evaluate().
#include "test/unit/kernels/KernelTest.h"

#include <algorithm>

using namespace pipec;
using namespace pipec::test;

namespace {

TEST(RegistryTest, EveryTensorOpHasAReferenceKernel) {
  const char *ops[] = {"abs",
                       "neg",
                       "sign",
                       "relu",
                       "floor",
                       "ceil",
                       "round",
                       "sqrt",
                       "reciprocal",
                       "rsqrt",
                       "not",
                       "bitwise_not",
                       "exp",
                       "expm1",
                       "log",
                       "log1p",
                       "sin",
                       "cos",
                       "tan",
                       "asin",
                       "acos",
                       "atan",
                       "sinh",
                       "cosh",
                       "tanh",
                       "asinh",
                       "acosh",
                       "atanh",
                       "erf",
                       "sigmoid",
                       "silu",
                       "softplus",
                       "gelu",
                       "is_nan",
                       "is_inf",
                       "convert",
                       "add",
                       "sub",
                       "mul",
                       "div",
                       "maximum",
                       "minimum",
                       "pow",
                       "atan2",
                       "and",
                       "or",
                       "xor",
                       "bitwise_and",
                       "bitwise_or",
                       "bitwise_xor",
                       "shift_left",
                       "shift_right",
                       "remainder",
                       "compare",
                       "select",
                       "reduce",
                       "arg_reduce",
                       "cumulative",
                       "top_k",
                       "iota",
                       "reshape",
                       "transpose",
                       "broadcast",
                       "slice",
                       "reverse",
                       "pad",
                       "concat",
                       "gather",
                       "gather_elements",
                       "gather_nd",
                       "scatter_elements",
                       "scatter_nd",
                       "resize",
                       "dot_general",
                       "convolution",
                       "conv_transpose",
                       "max_pool",
                       "avg_pool",
                       "softmax",
                       "log_softmax",
                       "layer_norm",
                       "rms_norm",
                       "group_norm",
                       "batch_norm",
                       "attention",
                       "dropout",
                       "cross_entropy",
                       "cross_entropy_grad",
                       "chain",
                       "stop_gradient",
                       "max_pool_grad",
                       "avg_pool_grad",
                       "resize_grad"};
  const KernelRegistry &registry = KernelRegistry::get();
  for (const char *op : ops)
    EXPECT_TRUE(registry.hasReference(op)) << op;
  EXPECT_EQ(registry.ops().size(), std::size(ops));
  const std::vector<std::string> names = registry.ops();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const char *op : {"constant", "load_weight", "graph", "transfer"})
    EXPECT_FALSE(registry.hasReference(op)) << op;
}

class Nothing : public Kernel {
  Status run(const std::vector<TensorView> &, const std::vector<TensorView> &,
             void *) override {
    return Status();
  }
};

KernelFactory refusing(Status status) {
  return [status](const OpDesc &) -> StatusOr<std::unique_ptr<Kernel>> {
    return status;
  };
}
KernelFactory giving(int &count) {
  return [&count](const OpDesc &) -> StatusOr<std::unique_ptr<Kernel>> {
    ++count;
    return std::unique_ptr<Kernel>(new Nothing);
  };
}

TEST(RegistryTest, ChoosesAmongSets) {
  int library = 0, reference = 0;
  KernelRegistry registry;
  registry.add("a", KernelSet::Reference, giving(reference));
  registry.add("a", KernelSet::OneDnn, giving(library),
               [](const OpDesc &op) { return op.has("fits"); });
  OpDesc op;
  op.name = "a";
  EXPECT_TRUE(registry.create(op).ok());
  EXPECT_EQ(reference, 1);
  op.attrs["fits"] = true;
  EXPECT_TRUE(registry.create(op).ok());
  EXPECT_EQ(library, 1);
  EXPECT_TRUE(registry.create(op, true).ok());
  EXPECT_EQ(reference, 2);

  registry.add("b", KernelSet::OneDnn, refusing(unsupported("not here")));
  registry.add("b", KernelSet::Reference, giving(reference));
  op.name = "b";
  EXPECT_TRUE(registry.create(op).ok());
  EXPECT_EQ(reference, 3);
  registry.add("c", KernelSet::OneDnn, refusing(invalidArgument("bad shapes")));
  registry.add("c", KernelSet::Reference, giving(reference));
  op.name = "c";
  EXPECT_EQ(registry.create(op).status().message(), "c() ->: bad shapes");
  EXPECT_FALSE(registry.hasReference("d"));
}

TEST(RegistryTest, FactoriesThatThrowAreErrors) {
  KernelRegistry registry;
  registry.add("a", KernelSet::Reference,
               [](const OpDesc &) -> StatusOr<std::unique_ptr<Kernel>> {
                 throw std::bad_alloc();
               });
  OpDesc op;
  op.name = "a";
  EXPECT_EQ(registry.create(op).status().getCode(),
            StatusCode::ResourceExhausted);
}

TEST(RegistryTest, ErrorsNameOpTypesAndOrigin) {
  OpDesc op;
  op.name = "add";
  op.inputs = {{DType::F32, {2, 3}}, {DType::F32, {4}}};
  op.outputs = {{DType::F32, {2, 3}}};
  op.origin = {"fc", "node_1", "Add", "model.py", 3, 7};
  EXPECT_EQ(KernelRegistry::get().create(op).status().message(),
            "add(f32[2x3], f32[4]) -> f32[2x3], of Add node_1 (fc, "
            "model.py:3): shapes [2, 3] and [4] do not broadcast");
  op.name = "frobnicate";
  EXPECT_EQ(KernelRegistry::get().create(op).status().getCode(),
            StatusCode::Unsupported);
  op.name = "add";
  op.inputs[0].shape = {int64_t(1) << 62, 8};
  EXPECT_NE(KernelRegistry::get().create(op).status().message().find("2^62"),
            std::string::npos);
}

// Nothing is done for an empty result, however large its other dimensions.
TEST(RegistryTest, HugeEmptyTensorsCostNothing) {
  const int64_t huge = int64_t(1) << 58;
  const TensorType type{DType::F32, {huge, 0}};
  const Tensor empty = make(DType::F32, {huge, 0}, {});
  Op("iota").attr("dim", int64_t(1)).run({}, type);
  Op("exp").run({empty}, type);
  Op("add").run({empty, make(DType::F32, {}, {1})}, type);
  Op("softmax").attr("dim", int64_t(1)).run({empty}, type);
  Op("cumulative")
      .attr("kind", std::string("cumsum"))
      .attr("dim", int64_t(1))
      .run({empty}, type);
  Op("layer_norm")
      .attr("axis", int64_t(1))
      .attr("epsilon", 0.0)
      .run({empty}, type);
  Op("concat").attr("dim", int64_t(1)).run({empty, empty}, type);
  Op("gather_nd")
      .run({make(DType::F32, {0}, {}), make(DType::I64, {huge, 0}, {})},
           {DType::F32, {huge, 0}});
  Op("transpose")
      .attr("permutation", Shape{1, 0})
      .run({empty}, {DType::F32, {0, huge}});
}

TEST(RegistryTest, Evaluate) {
  OpDesc op;
  op.name = "add";
  op.inputs = {{DType::I64, {2}}, {DType::I64, {}}};
  op.outputs = {{DType::I64, {2}}};
  const Tensor a = make(DType::I64, {2}, {3, 4}),
               b = make(DType::I64, {}, {10});
  auto results = evaluate(op, {a, b});
  ASSERT_TRUE(results.ok()) << results.status().message();
  expectValues((*results)[0], {13, 14});
  EXPECT_FALSE(evaluate(op, {a}).ok());
  EXPECT_FALSE(evaluate(op, {b, a}).ok());
}

} // namespace

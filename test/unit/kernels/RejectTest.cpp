// Every factory refuses descriptions that do not hold together: for each op one
// valid description is taken apart in every way that is the same for all ops,
// then in the ways that are its own. Nothing may crash or be made.
#include "test/unit/kernels/KernelTest.h"

#include <limits>

using namespace pipec;
using namespace pipec::test;

namespace {

using Types = std::vector<TensorType>;

struct Valid {
  Op op;
  Types inputs, outputs;
};

TensorType f(Shape shape) { return {DType::F32, std::move(shape)}; }
TensorType i(Shape shape) { return {DType::I64, std::move(shape)}; }
TensorType b(Shape shape) { return {DType::Bool, std::move(shape)}; }
AttrValue word(const char *text) { return std::string(text); }

Op window(const char *name) {
  return Op(name)
      .attr("strides", Shape{1, 1})
      .attr("padding", Shape{0, 0, 0, 0})
      .attr("dilations", Shape{1, 1});
}

Op loss(const char *name) {
  return Op(name).attr("ignore_index", int64_t(9)).attr("label_smoothing", 0.);
}

std::vector<Valid> validOps() {
  const double eps = 1e-5;
  return {
      {Op("exp"), {f({2, 3})}, {f({2, 3})}},
      {Op("gelu").attr("tanh_approximation", false), {f({2, 3})}, {f({2, 3})}},
      {Op("is_inf").attr("detect_positive", true), {f({2, 3})}, {b({2, 3})}},
      {Op("is_nan"), {f({2, 3})}, {b({2, 3})}},
      {Op("add"), {f({2, 3}), f({3})}, {f({2, 3})}},
      {Op("bitwise_and"), {i({2, 3}), i({3})}, {i({2, 3})}},
      {Op("and"), {b({2, 3}), b({3})}, {b({2, 3})}},
      {Op("pow"), {f({2, 3}), f({3})}, {f({2, 3})}},
      {Op("remainder").attr("kind", word("trunc")),
       {f({2, 3}), f({3})},
       {f({2, 3})}},
      {Op("compare").attr("kind", word("lt")),
       {f({2, 3}), f({3})},
       {b({2, 3})}},
      {Op("select"), {b({3}), f({2, 3}), f({})}, {f({2, 3})}},
      {Op("reduce")
           .attr("kind", word("sum"))
           .attr("dims", Shape{1})
           .attr("keep_dims", true),
       {f({2, 3})},
       {f({2, 1})}},
      {Op("arg_reduce").attr("kind", word("argmax")).attr("dim", int64_t(1)),
       {f({2, 3})},
       {i({2})}},
      {Op("cumulative").attr("kind", word("cumsum")).attr("dim", int64_t(1)),
       {f({2, 3})},
       {f({2, 3})}},
      {Op("top_k").attr("k", int64_t(2)).attr("dim", int64_t(1)),
       {f({2, 3})},
       {f({2, 2}), i({2, 2})}},
      {Op("iota").attr("dim", int64_t(0)), {}, {f({4})}},
      {Op("reshape").attr("shape", Shape{3, 2}), {f({2, 3})}, {f({3, 2})}},
      {Op("transpose").attr("permutation", Shape{1, 0}),
       {f({2, 3})},
       {f({3, 2})}},
      {Op("broadcast").attr("shape", Shape{2, 3}), {f({1, 3})}, {f({2, 3})}},
      {Op("slice")
           .attr("starts", Shape{0, 1})
           .attr("limits", Shape{2, 3})
           .attr("strides", Shape{1, 1}),
       {f({2, 3})},
       {f({2, 2})}},
      {Op("reverse").attr("dims", Shape{0}), {f({2, 3})}, {f({2, 3})}},
      {Op("pad")
           .attr("mode", word("constant"))
           .attr("low", Shape{1, 0})
           .attr("high", Shape{0, 1}),
       {f({2, 3}), f({})},
       {f({3, 4})}},
      {Op("concat").attr("dim", int64_t(0)),
       {f({2, 3}), f({1, 3})},
       {f({3, 3})}},
      {Op("gather").attr("dim", int64_t(0)), {f({2, 3}), i({4})}, {f({4, 3})}},
      {Op("gather_elements").attr("dim", int64_t(0)),
       {f({2, 3}), i({4, 3})},
       {f({4, 3})}},
      {Op("gather_nd"), {f({2, 3}), i({4, 1})}, {f({4, 3})}},
      {Op("scatter_elements").attr("kind", word("add")).attr("dim", int64_t(0)),
       {f({2, 3}), i({1, 3}), f({1, 3})},
       {f({2, 3})}},
      {Op("scatter_nd").attr("kind", word("set")),
       {f({2, 3}), i({4, 1}), f({4, 3})},
       {f({2, 3})}},
      {Op("resize")
           .attr("mode", word("linear"))
           .attr("shape", Shape{4, 3})
           .attr("scales", Values{2, 1}),
       {f({2, 3})},
       {f({4, 3})}},
      {Op("dot_general")
           .attr("lhs_contract", Shape{1})
           .attr("rhs_contract", Shape{0}),
       {f({2, 3}), f({3, 4})},
       {f({2, 4})}},
      {window("convolution").attr("groups", int64_t(1)),
       {f({1, 2, 4, 4}), f({3, 2, 2, 2})},
       {f({1, 3, 3, 3})}},
      {window("conv_transpose").attr("output_padding", Shape{0, 0}),
       {f({1, 2, 4, 4}), f({2, 3, 2, 2})},
       {f({1, 3, 5, 5})}},
      {window("max_pool").attr("window", Shape{2, 2}),
       {f({1, 2, 4, 4})},
       {f({1, 2, 3, 3})}},
      {window("avg_pool").attr("window", Shape{2, 2}).attr("ceil_mode", false),
       {f({1, 2, 4, 4})},
       {f({1, 2, 3, 3})}},
      {Op("softmax").attr("dim", int64_t(1)), {f({2, 3})}, {f({2, 3})}},
      {Op("layer_norm").attr("axis", int64_t(1)).attr("epsilon", eps),
       {f({2, 3}), f({3}), f({3})},
       {f({2, 3})}},
      {Op("rms_norm").attr("axis", int64_t(1)).attr("epsilon", eps),
       {f({2, 3}), f({3})},
       {f({2, 3})}},
      {Op("group_norm").attr("groups", int64_t(1)).attr("epsilon", eps),
       {f({2, 3, 4}), f({3}), f({3})},
       {f({2, 3, 4})}},
      {Op("batch_norm").attr("epsilon", eps),
       {f({2, 3}), f({3}), f({3}), f({3}), f({3})},
       {f({2, 3})}},
      {Op("attention").attr("scale", 1.0).attr("causal", true),
       {f({1, 2, 3, 4}), f({1, 1, 5, 4}), f({1, 1, 5, 6}), b({3, 5})},
       {f({1, 2, 3, 6})}},
      {Op("convert"), {f({2, 3})}, {i({2, 3})}},
      {loss("cross_entropy"), {f({2, 3}), i({2})}, {f({})}},
      {loss("cross_entropy_grad"), {f({2, 3}), i({2}), f({})}, {f({2, 3})}},
      {Op("dropout").attr("ratio", 0.5).attr("stream", int64_t(3)),
       {f({2, 3}), i({3})},
       {f({2, 3})}},
      {window("max_pool_grad").attr("window", Shape{2, 2}),
       {f({1, 2, 4, 4}), f({1, 2, 3, 3})},
       {f({1, 2, 4, 4})}},
      {window("avg_pool_grad")
           .attr("window", Shape{2, 2})
           .attr("shape", Shape{1, 2, 4, 4})
           .attr("ceil_mode", false),
       {f({1, 2, 3, 3})},
       {f({1, 2, 4, 4})}},
      {Op("resize_grad")
           .attr("mode", word("linear"))
           .attr("shape", Shape{2, 3})
           .attr("scales", Values{2, 1}),
       {f({4, 3})},
       {f({2, 3})}},
  };
}

bool made(const Op &op, const Types &inputs, const Types &outputs) {
  Op copy = op;
  return copy.tryMake(inputs, outputs).ok();
}

TEST(RejectTest, ValidOpsAreMade) {
  for (Valid &v : validOps())
    EXPECT_TRUE(v.op.tryMake(v.inputs, v.outputs).ok())
        << v.op.tryMake(v.inputs, v.outputs).message();
}

TEST(RejectTest, Arity) {
  for (const Valid &v : validOps()) {
    const std::string &name = v.op.desc.name;
    EXPECT_FALSE(made(v.op, v.inputs, {})) << name;
    Types more = v.outputs;
    more.push_back(v.outputs[0]);
    EXPECT_FALSE(made(v.op, v.inputs, more)) << name;
    more = v.inputs;
    more.insert(more.end(), 3, f({2}));
    EXPECT_FALSE(made(v.op, more, v.outputs)) << name;
    if (v.inputs.empty())
      continue;
    EXPECT_FALSE(made(v.op, {}, v.outputs)) << name;
  }
}

TEST(RejectTest, ResultTypes) {
  for (const Valid &v : validOps())
    for (size_t r = 0; r < v.outputs.size(); ++r)
      for (int change = 0; change < 4; ++change) {
        if (v.op.desc.name == "iota" ||
            (v.op.desc.name == "convert" && change == 0))
          continue; // their results are what the op's types say
        if (v.outputs[r].rank() == 0 && change > 1)
          continue; // no dimension to change
        Types outputs = v.outputs;
        TensorType &type = outputs[r];
        if (change == 0)
          type.dtype = type.dtype == DType::F64 ? DType::F32 : DType::F64;
        else if (change == 1)
          type.shape.push_back(1);
        else if (change == 2)
          type.shape.back() += 1;
        else
          type.shape = {};
        EXPECT_FALSE(made(v.op, v.inputs, outputs))
            << v.op.desc.name << " with result " << type.str();
      }
}

TEST(RejectTest, OperandTypes) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  for (const Valid &v : validOps())
    for (size_t n = 0; n < v.inputs.size(); ++n) {
      for (const Shape &shape : {Shape{7, 11, 13, 1, 2, 3, 5}, Shape{-1},
                                 Shape{most, most}, Shape{0, 2}}) {
        Types inputs = v.inputs;
        inputs[n].shape = shape;
        if (v.op.desc.name == "resize_grad" && shape == Shape{0, 2})
          continue; // sampled at no place
        EXPECT_FALSE(made(v.op, inputs, v.outputs))
            << v.op.desc.name << " with operand " << n << " "
            << inputs[n].str();
      }
      for (int dtype : {0, 14, 255}) {
        Types inputs = v.inputs;
        inputs[n].dtype = static_cast<DType>(dtype);
        EXPECT_FALSE(made(v.op, inputs, v.outputs)) << v.op.desc.name;
      }
    }
}

// Each attribute in turn is left out, of another C++ type, or out of range.
// Left out is allowed where the dialect has a default.
TEST(RejectTest, Attributes) {
  const int64_t most = std::numeric_limits<int64_t>::max(),
                least = std::numeric_limits<int64_t>::min();
  for (const Valid &v : validOps())
    for (const auto &[key, value] : v.op.desc.attrs) {
      SCOPED_TRACE(v.op.desc.name + " " + key);
      Op op = v.op;
      op.desc.attrs.erase(key);
      op.tryMake(v.inputs, v.outputs).ok();
      std::vector<AttrValue> bad = {DType::F32};
      if (key == "ignore_index" || key == "stream") // most numbers will do
        bad.push_back(std::string("x"));
      else if (std::holds_alternative<int64_t>(value))
        bad.insert(bad.end(), {int64_t(-1), int64_t(99), most, least,
                               std::string("x"), 1.0});
      if (std::holds_alternative<std::string>(value))
        bad.insert(bad.end(),
                   {std::string(), std::string("nonsense"), int64_t(0)});
      if (const Shape *list = std::get_if<Shape>(&value)) {
        for (int64_t entry : {int64_t(-1), int64_t(99), most, least,
                              int64_t(1) << 31, -(int64_t(1) << 31)}) {
          bad.push_back(Shape(list->size(), entry));
          bad.push_back(Shape(list->size() + 1, entry));
        }
        bad.push_back(Shape(20, 1));
        bad.push_back(int64_t(0));
      }
      if (std::holds_alternative<double>(value))
        bad.push_back(std::string("x"));
      if (std::holds_alternative<bool>(value))
        bad.push_back(int64_t(1));
      for (const AttrValue &wrong : bad)
        EXPECT_FALSE(made(Op(v.op).attr(key, wrong), v.inputs, v.outputs))
            << wrong.index();
    }
}

TEST(RejectTest, ElementTypes) {
  for (DType dtype : kInts)
    for (const char *op : {"exp", "sqrt", "is_nan", "gelu", "atan2"})
      expectRefused(Op(op),
                    Types(std::string(op) == "atan2" ? 2 : 1, {dtype, {2}}),
                    {{std::string(op) == "is_nan" ? DType::Bool : dtype, {2}}},
                    "element type");
  for (DType dtype : kFloats)
    for (const char *op : {"bitwise_and", "shift_left", "shift_right", "and"})
      expectRefused(Op(op), {{dtype, {2}}, {dtype, {2}}}, {{dtype, {2}}},
                    "element type");
  for (const char *op : {"add", "div", "maximum", "pow", "bitwise_or"})
    expectRefused(Op(op), {b({2}), b({2})}, {b({2})}, "element type");
  expectRefused(Op("add"), {f({2}), {DType::F64, {2}}}, {f({2})},
                "differ in element type");
  expectRefused(Op("select"), {f({2}), f({2}), f({2})}, {f({2})},
                "expected bool");
  expectRefused(Op("gather").attr("dim", int64_t(0)),
                {f({2}), {DType::U8, {2}}}, {f({2})}, "expected i32 or i64");
  expectRefused(Op("iota").attr("dim", int64_t(0)), {}, {b({2})},
                "element type");
}

TEST(RejectTest, OptionalOperands) {
  const auto norm = [](const char *operands) {
    return Op("layer_norm")
        .attr("axis", int64_t(1))
        .attr("epsilon", 1e-5)
        .attr("operands", std::string(operands));
  };
  const Types three = {f({2, 3}), f({3}), f({3})}, result = {f({2, 3})};
  for (const char *operands :
       {"", "operand", "operand,scale", "scale,bias,operand",
        "operand,bias,scale", "operand,scale,scale", "operand,scale,bias,mask",
        "operand,scale,bias,", ",operand,scale,bias", "x,y,z"})
    expectRefused(norm(operands), three, result);
  expectRefused(norm("scale,bias"), {f({3}), f({3})}, {f({3})},
                "'operand' is missing");
  expectRefused(Op("attention")
                    .attr("scale", 1.0)
                    .attr("operands", std::string("query,key,mask")),
                {f({1, 1, 2, 2}), f({1, 1, 2, 2}), f({2, 2})},
                {f({1, 1, 2, 2})}, "'value' is missing");
}

TEST(RejectTest, OwnWays) {
  expectRefused(
      Op("reduce").attr("kind", word("sum")).attr("dims", Shape{1, 0}),
      {f({2, 3})}, {f({})}, "ascending");
  expectRefused(Op("reverse").attr("dims", Shape{1, 1}), {f({2, 3})},
                {f({2, 3})}, "distinct");
  expectRefused(Op("transpose").attr("permutation", Shape{0, 0}), {f({2, 2})},
                {f({2, 2})}, "permutation");
  expectRefused(Op("reshape").attr("shape", Shape{5}), {f({2, 3})}, {f({5})},
                "number of elements");
  expectRefused(Op("slice")
                    .attr("starts", Shape{2})
                    .attr("limits", Shape{1})
                    .attr("strides", Shape{1}),
                {f({3})}, {f({0})}, "are not in");
  expectRefused(Op("slice")
                    .attr("starts", Shape{0})
                    .attr("limits", Shape{3})
                    .attr("strides", Shape{0}),
                {f({3})}, {f({3})}, "are not in");
  expectRefused(Op("pad")
                    .attr("mode", word("reflect"))
                    .attr("low", Shape{-1})
                    .attr("high", Shape{0}),
                {f({3}), f({})}, {f({2})}, "at least 0");
  expectRefused(Op("pad")
                    .attr("mode", word("edge"))
                    .attr("low", Shape{1})
                    .attr("high", Shape{0}),
                {f({0}), f({})}, {f({1})}, "cannot be padded");
  expectRefused(Op("concat").attr("dim", int64_t(0)), {f({2, 3}), f({2, 4})},
                {f({4, 3})}, "does not fit");
  expectRefused(Op("concat").attr("dim", int64_t(0)), {}, {f({4})},
                "at least one");
  expectRefused(Op("gather_elements").attr("dim", int64_t(0)),
                {f({2, 3}), i({2, 4})}, {f({2, 4})}, "do not fit");
  expectRefused(Op("gather_nd"), {f({2, 3}), i({})}, {f({2, 3})}, "do not fit");
  expectRefused(Op("gather_nd"), {f({2, 3}), i({1, 3})}, {f({1})},
                "do not fit");
  expectRefused(Op("gather_nd").attr("batch_dims", int64_t(1)),
                {f({2, 3}), i({4, 1})}, {f({4})}, "do not fit");
  expectRefused(Op("scatter_nd").attr("kind", word("set")),
                {f({2, 3}), i({4, 3}), f({4})}, {f({2, 3})}, "do not fit");
  expectRefused(Op("dot_general")
                    .attr("lhs_contract", Shape{1})
                    .attr("rhs_contract", Shape{0}),
                {f({2, 3}), f({4, 5})}, {f({2, 5})}, "differ in size");
  expectRefused(Op("dot_general")
                    .attr("lhs_contract", Shape{1, 1})
                    .attr("rhs_contract", Shape{0, 1}),
                {f({2, 3}), f({3, 3})}, {f({2})}, "named twice");
  expectRefused(window("convolution").attr("groups", int64_t(2)),
                {f({1, 3, 4, 4}), f({2, 1, 2, 2})}, {f({1, 2, 3, 3})},
                "groups");
  expectRefused(window("convolution"), {f({1, 1, 2, 2}), f({1, 1, 3, 3})},
                {f({1, 1, 0, 0})}, "exceeds the padded input");
  expectRefused(window("conv_transpose")
                    .attr("output_padding", Shape{0, 0})
                    .attr("padding", Shape{9, 9, 9, 9}),
                {f({1, 1, 2, 2}), f({1, 1, 2, 2})}, {f({1, 1, 0, 0})},
                "out of range");
  expectRefused(window("max_pool")
                    .attr("window", Shape{2, 2})
                    .attr("padding", Shape{-1, 0, 0, 0}),
                {f({1, 1, 4, 4})}, {f({1, 1, 2, 3})}, "at least 0");
  expectRefused(
      Op("group_norm").attr("groups", int64_t(2)).attr("epsilon", 1e-5),
      {f({1, 3})}, {f({1, 3})}, "groups");
  expectRefused(Op("attention").attr("scale", 1.0),
                {f({1, 3, 2, 2}), f({1, 2, 2, 2}), f({1, 2, 2, 2})},
                {f({1, 3, 2, 2})}, "do not fit");
  expectRefused(Op("attention").attr("scale", 1.0),
                {f({1, 1, 2, 2}), f({1, 1, 3, 2}), f({1, 1, 3, 2}), i({2, 3})},
                {f({1, 1, 2, 2})}, "mask");
}

} // namespace

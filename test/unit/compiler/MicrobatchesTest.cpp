// How batches become microbatch sizes, and what is refused.
#include "compiler/Microbatches.h"

#include <gtest/gtest.h>

using namespace pipec;
using Port = frontend::ModelInterface::Port;
using Dim = frontend::ModelInterface::Dim;

namespace {

frontend::ModelInterface model(std::vector<Port> inputs) {
  frontend::ModelInterface m;
  m.inputs = std::move(inputs);
  return m;
}
Port port(std::string name, std::vector<Dim> shape) {
  return {std::move(name), DType::F32, true, std::move(shape)};
}
Dim symbol(std::string name) { return {-1, std::move(name)}; }
Dim fixed(int64_t size) { return {size, ""}; }

std::string refusal(const frontend::ModelInterface &m,
                    const CompileOptions &options) {
  auto variants = planVariants(m, options);
  return variants.ok() ? "" : variants.status().message();
}

TEST(Microbatches, DistinctSizesLargestFirst) {
  CompileOptions options;
  options.bindings = {{"batch", 10}, {"seq", 7}};
  options.microbatches = 4;
  auto variants = planVariants(
      model({port("x", {symbol("batch"), symbol("seq")}), port("scale", {})}),
      options);
  ASSERT_TRUE(variants.ok()) << variants.status().message();
  ASSERT_EQ(variants->size(), 2u);
  EXPECT_EQ((*variants)[0].rows, 3);
  EXPECT_EQ((*variants)[0].inputShapes["x"], std::vector<int64_t>({3, 7}));
  EXPECT_EQ((*variants)[1].inputShapes["x"], std::vector<int64_t>({2, 7}));
  EXPECT_EQ((*variants)[0].inputShapes["scale"], std::vector<int64_t>());
}

TEST(Microbatches, WholeInputsKeepTheirSize) {
  CompileOptions options;
  options.inputShapes = {{"x", {8, 4}}, {"table", {5, 4}}};
  options.wholeInputs = {"table"};
  options.microbatches = 2;
  auto variants = planVariants(model({port("x", {symbol("b"), fixed(4)}),
                                      port("table", {fixed(5), fixed(4)})}),
                               options);
  ASSERT_TRUE(variants.ok()) << variants.status().message();
  EXPECT_EQ((*variants)[0].inputShapes["x"][0], 4);
  EXPECT_EQ((*variants)[0].inputShapes["table"][0], 5);
}

TEST(Microbatches, AFixedBatchIsAMicrobatch) {
  CompileOptions options;
  options.microbatches = 4;
  auto variants =
      planVariants(model({port("x", {fixed(2), fixed(8)})}), options);
  ASSERT_TRUE(variants.ok());
  EXPECT_EQ((*variants)[0].rows, 2);
}

std::vector<int64_t> rowsFor(const frontend::ModelInterface &m,
                             const CompileOptions &options, int64_t rows) {
  auto shapes = batchShapes(m, options, "x", rows);
  EXPECT_TRUE(shapes.ok()) << shapes.status().message();
  std::vector<int64_t> result;
  if (shapes.ok())
    for (const Port &input : m.inputs)
      result.push_back(shapes->at(input.name)[0]);
  return result;
}

TEST(Microbatches, InputsThatAreCutWithOneHaveItsRows) {
  auto m = model({port("same", {symbol("b")}), port("other", {symbol("o")}),
                  port("fixed", {fixed(7)}), port("whole", {symbol("b")}),
                  port("x", {symbol("b"), fixed(3)})});
  CompileOptions options;
  options.microbatches = 2;
  options.accumulate = 3;
  options.wholeInputs = {"whole"};
  using Rows = std::vector<int64_t>;
  EXPECT_EQ(rowsFor(m, options, 4), (Rows{4, 4, 7, 1, 4}));
  EXPECT_EQ(rowsFor(m, options, 0), (Rows{6, 6, 7, 1, 6}));
  options.bindings = {{"b", 12}, {"o", 5}};
  EXPECT_EQ(rowsFor(m, options, 0), (Rows{12, 5, 7, 12, 12}));
  auto fixedBatch = model({port("x", {fixed(2)}), port("mask", {fixed(2)}),
                           port("causal", {fixed(3)})});
  options.bindings.clear();
  options.wholeInputs.clear();
  EXPECT_EQ(rowsFor(fixedBatch, options, 0), (Rows{12, 12, 3}));
}

TEST(Microbatches, RefusalsSayWhatToPass) {
  auto m = model({port("x", {symbol("batch"), symbol("seq")})});
  CompileOptions options;
  EXPECT_NE(refusal(m, options).find("--bind batch=SIZE"), std::string::npos);
  options.bindings = {{"bacth", 4}};
  EXPECT_NE(refusal(m, options).find("it has batch, seq"), std::string::npos);
  options.bindings = {{"batch", 3}, {"seq", 2}};
  options.microbatches = 4;
  EXPECT_NE(refusal(m, options).find("cannot be cut into 4 microbatches"),
            std::string::npos);
  options.microbatches = 1;
  options.wholeInputs = {"y"};
  EXPECT_NE(refusal(m, options).find("it has x"), std::string::npos);
  options = {};
  options.inputShapes = {{"x", {4, 2}}, {"y", {5}}};
  EXPECT_NE(refusal(model({port("x", {symbol("a"), symbol("b")}),
                           port("y", {symbol("c")})}),
                    options)
                .find("--whole y"),
            std::string::npos);
}

TEST(Microbatches, OneMicrobatchOfOnePartIsNotCut) {
  auto m = model({port("x", {symbol("a"), symbol("b")}),
                  port("y", {symbol("c")}), port("z", {})});
  CompileOptions options;
  options.inputShapes = {{"x", {4, 2}}, {"y", {5}}, {"z", {}}};
  bool changed = false;
  auto whole = wholeWhereUncut(m, options, changed);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  EXPECT_TRUE(changed);
  auto variants = planVariants(m, *whole);
  ASSERT_TRUE(variants.ok()) << variants.status().message();
  ASSERT_EQ(variants->size(), 1u);
  EXPECT_EQ((*variants)[0].rows, 0);
  EXPECT_EQ((*variants)[0].inputShapes.at("y"), (std::vector<int64_t>{5}));
  // The same rows everywhere are a batch, which a package may cut later.
  options.inputShapes["y"] = {4};
  ASSERT_TRUE(wholeWhereUncut(m, options, changed).ok());
  EXPECT_FALSE(changed);
  options.inputShapes["y"] = {5};
  for (auto *count : {&options.microbatches, &options.accumulate}) {
    *count = 2;
    ASSERT_TRUE(wholeWhereUncut(m, options, changed).ok());
    EXPECT_FALSE(changed);
    EXPECT_NE(refusal(m, options).find("--whole y"), std::string::npos);
    *count = 1;
  }
}

} // namespace

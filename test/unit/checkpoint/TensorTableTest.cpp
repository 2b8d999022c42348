// Names and types between files and a model: tied, missing, surplus, widened.
#include "test/unit/checkpoint/CheckpointHelper.h"

#include <cstring>

using namespace pipec;
using test::firstOf;
using test::floats;
using test::named;

namespace {

class TensorTableTest : public test::FileTest {
protected:
  TensorTable table(const TensorMap &tensors) {
    EXPECT_TRUE(saveSafetensors(path("t"), tensors, true).ok());
    TensorTable table("files");
    EXPECT_TRUE(table.add(path("t")).ok());
    return table;
  }
};

TEST_F(TensorTableTest, LoadsByAnyTiedName) {
  const TensorTable tensors =
      table({{"head", floats({2}, 1)}, {"b", floats({}, 5)}});
  Tensor w = floats({2}, -9), b = floats({}, -9);
  ASSERT_TRUE(
      tensors.load({named({"embedding", "head"}, w), named({"b"}, b)}).ok());
  EXPECT_EQ(firstOf(w), 1);
  EXPECT_EQ(firstOf(b), 5);
}

TEST_F(TensorTableTest, ReportsMissingAndSurplus) {
  TensorTable tensors = table({{"a", floats({1}, 1)},
                               {"extra", floats({1}, 1)},
                               {"head", floats({1}, 1)}});
  const Tensor x = floats({1}, 0);
  std::vector<NamedView> targets = {named({"a"}, x), named({"c", "d"}, x)};
  NameReport report = tensors.match(targets);
  EXPECT_EQ(report.missing, std::vector<std::string>{"c"});
  EXPECT_EQ(report.surplus, (std::vector<std::string>{"extra", "head"}));
  EXPECT_EQ(report.str(), "missing, 1: 'c'\nnot used, 2: 'extra', 'head'\n");
  // Ties of the file's own: "head" is found through "d".
  tensors.tie({{"d", "head"}});
  report = tensors.match(targets);
  EXPECT_TRUE(report.missing.empty());
  EXPECT_EQ(report.surplus, std::vector<std::string>{"extra"});
  EXPECT_TRUE(tensors.load(targets).ok());
}

TEST_F(TensorTableTest, LongListsAreCutShort) {
  std::vector<std::string> names(12, "n");
  EXPECT_EQ(listNames(names), "'n', 'n', 'n', 'n', 'n', 'n', 'n', 'n', 'n', "
                              "'n' and 2 more");
  EXPECT_EQ(NameReport().str(), "");
}

TEST_F(TensorTableTest, MissingIsAnErrorUnlessAllowed) {
  const TensorTable tensors = table({{"a", floats({1}, 1)}});
  Tensor a = floats({1}, -9), c = floats({1}, -9);
  const std::vector<NamedView> targets = {named({"a"}, a), named({"c"}, c)};
  EXPECT_EQ(tensors.load(targets).message(),
            "'files' lacks 1 of the 2 tensors that are to be read: 'c'");
  EXPECT_EQ(firstOf(a), -9) << "written to although the load failed";
  LoadRules rules;
  rules.allowMissing = true;
  ASSERT_TRUE(tensors.load(targets, rules).ok());
  EXPECT_EQ(firstOf(a), 1);
  EXPECT_EQ(firstOf(c), -9);
}

TEST_F(TensorTableTest, OtherTypesAreRefused) {
  const TensorTable tensors = table({{"a", floats({2, 3}, 1)}});
  const Tensor turned = floats({3, 2}, 0);
  EXPECT_EQ(tensors.load({named({"a"}, turned)}).message(),
            "'a' is f32[2x3] in '" + path("t") + "', the model needs f32[3x2]");
  const Tensor wide = *Tensor::allocate({DType::F64, {2, 3}});
  LoadRules rules;
  rules.widen = true;
  EXPECT_FALSE(tensors.load({named({"a"}, wide)}, rules).ok());
}

TEST_F(TensorTableTest, HalvesAreWidenedWhenAsked) {
  Tensor half = *Tensor::allocate({DType::F16, {2}});
  Tensor brain = *Tensor::allocate({DType::BF16, {2}});
  for (int i = 0; i < 2; ++i) {
    half.as<uint16_t>()[i] = floatToHalf(1.5f + static_cast<float>(i));
    brain.as<uint16_t>()[i] = floatToBfloat16(-2.0f);
  }
  const TensorTable tensors = table({{"h", half}, {"b", brain}});
  Tensor h = floats({2}, 0), b = floats({2}, 0);
  const std::vector<NamedView> targets = {named({"h"}, h), named({"b"}, b)};
  EXPECT_FALSE(tensors.load(targets).ok());
  LoadRules rules;
  rules.widen = true;
  ASSERT_TRUE(tensors.load(targets, rules).ok());
  EXPECT_EQ(h.as<float>()[1], 2.5f);
  EXPECT_EQ(b.as<float>()[1], -2.0f);
}

TEST_F(TensorTableTest, TiedNamesWithDifferentValuesAreRefused) {
  TensorTable tensors = table({{"a", floats({2}, 1)}, {"b", floats({2}, 2)}});
  const Tensor target = floats({2}, 0);
  LoadRules rules;
  rules.compareTied = true;
  const Status status = tensors.load({named({"a", "b"}, target)}, rules);
  EXPECT_NE(status.message().find("'a' and 'b' are one tensor in the model"),
            std::string::npos);
  EXPECT_NE(status.message().find("--untie"), std::string::npos);
  EXPECT_TRUE(table({{"a", floats({2}, 1)}, {"b", floats({2}, 1)}})
                  .load({named({"a", "b"}, target)}, rules)
                  .ok());
}

TEST_F(TensorTableTest, BadBoolsAreRefused) {
  Tensor mask = *Tensor::allocate({DType::Bool, {2}});
  std::memset(mask.data(), 2, 2);
  const TensorTable tensors = table({{"mask", mask}});
  EXPECT_EQ(tensors.load({named({"mask"}, mask)}).getCode(),
            StatusCode::DataLoss);
}

TEST_F(TensorTableTest, ANameInTwoFilesIsRefused) {
  TensorTable tensors = table({{"a", floats({1}, 1)}});
  EXPECT_TRUE(saveSafetensors(path("u"), {{"a", floats({1}, 2)}}, false).ok());
  EXPECT_EQ(tensors.add(path("u")).message(),
            "'a' is in '" + path("t") + "' and in '" + path("u") +
                "': leave out one of the files");
  EXPECT_FALSE(tensors.get("z").ok());
  EXPECT_EQ(tensors.find("z"), nullptr);
  EXPECT_EQ(tensors.fileOf("z"), "");
}

} // namespace

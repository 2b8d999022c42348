// --weights: single files, several, Hugging Face's index, and hostile ones.
#include "runtime/checkpoint/weight_files.h"
#include "test/unit/checkpoint/CheckpointHelper.h"

using namespace pipec;
using test::firstOf;
using test::floats;
using test::named;

namespace {

class WeightFilesTest : public test::FileTest {
protected:
  std::string save(const std::string &name, const TensorMap &tensors) {
    EXPECT_TRUE(saveSafetensors(path(name), tensors, true).ok());
    return path(name);
  }
  std::string index(const std::string &map) {
    return write("model.safetensors.index.json",
                 "{\"metadata\": {\"total_size\": 8}, \"weight_map\": " + map +
                     "}");
  }
  std::string refusal(const std::vector<std::string> &paths) {
    auto files = WeightFiles::open(paths);
    return files.ok() ? "accepted" : files.status().message();
  }
};

TEST_F(WeightFilesTest, SeveralFiles) {
  auto files =
      WeightFiles::open({save("a.safetensors", {{"a", floats({1}, 1)}}),
                         save("b.safetensors", {{"b", floats({1}, 2)}})});
  ASSERT_TRUE(files.ok()) << files.status().message();
  Tensor a = floats({1}, 0), b = floats({1}, 0);
  ASSERT_TRUE(files->loadInto({named({"a"}, a), named({"b"}, b)}).ok());
  EXPECT_EQ(firstOf(a), 1);
  EXPECT_EQ(firstOf(b), 2);
  EXPECT_NE(refusal({path("a.safetensors"), path("a.safetensors")})
                .find("leave out one"),
            std::string::npos);
}

TEST_F(WeightFilesTest, HuggingFaceIndex) {
  save("model-00001-of-00002.safetensors",
       {{"a", floats({1}, 1)}, {"unlisted", floats({1}, 9)}});
  save("model-00002-of-00002.safetensors", {{"b", floats({1}, 2)}});
  auto files = WeightFiles::open(
      {index("{\"a\": \"model-00001-of-00002.safetensors\","
             " \"b\": \"model-00002-of-00002.safetensors\"}")});
  ASSERT_TRUE(files.ok()) << files.status().message();
  EXPECT_EQ(files->table().names(), (std::vector<std::string>{"a", "b"}));
  Tensor a = floats({1}, 0), b = floats({1}, 0);
  const std::vector<NamedView> targets = {named({"a"}, a), named({"b"}, b)};
  EXPECT_TRUE(files->match(targets).str().empty());
  ASSERT_TRUE(files->loadInto(targets).ok());
  EXPECT_EQ(firstOf(b), 2);
}

TEST_F(WeightFilesTest, IndexThatLeadsOutOfItsFolder) {
  save("s.safetensors", {{"a", floats({1}, 1)}});
  std::filesystem::create_directory(path("sub"));
  for (const char *name :
       {"../s.safetensors", "/etc/passwd", "..", ".", "", "sub/s.safetensors",
        "sub\\\\s.safetensors", "s.safetensors\\u0000"}) {
    const std::string message =
        refusal({index(std::string("{\"a\": \"") + name + "\"}")});
    EXPECT_NE(message.find("is not the name of a file beside it"),
              std::string::npos)
        << name << ": " << message;
  }
}

TEST_F(WeightFilesTest, IndexThatDoesNotFitItsFiles) {
  save("s.safetensors", {{"a", floats({1}, 1)}});
  EXPECT_NE(refusal({index("{\"b\": \"s.safetensors\"}")})
                .find("'b' is said to be in 's.safetensors', which lacks it"),
            std::string::npos);
  EXPECT_NE(refusal({index("{\"a\": \"none.safetensors\"}")})
                .find("none.safetensors'"),
            std::string::npos);
}

TEST_F(WeightFilesTest, MalformedIndex) {
  auto expect = [&](const std::string &text, const std::string &words) {
    const std::string message = refusal({write("index.json", text)});
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_NE(message.find("index.json'"), std::string::npos) << message;
  };
  expect("", "not valid JSON");
  expect("[1]", "expected a JSON object, got array");
  expect("{}", "field 'weight_map' is missing");
  expect("{\"weight_map\": []}", "field 'weight_map' is missing or not");
  expect("{\"weight_map\": {\"a\": 1}}", "'a' in field 'weight_map'");
  expect("{\"weight_map\": {\"a\": \"\xff\"}}", "not valid JSON");
  expect("{\"x\": " + std::string(100000, '['), "nested more than 32 deep");
  // Brackets inside strings are no nesting.
  expect("{\"x\": \"\\\"" + std::string(100, '[') + "\"}", "weight_map");
}

TEST_F(WeightFilesTest, HalvesBecomeFloatsAndUntiedNamesAreSeen) {
  Tensor half = *Tensor::allocate({DType::BF16, {1}});
  *half.as<uint16_t>() = floatToBfloat16(3);
  auto files = WeightFiles::open({save("a.safetensors", {{"a", half}})});
  ASSERT_TRUE(files.ok());
  Tensor a = floats({1}, 0);
  ASSERT_TRUE(files->loadInto({named({"a"}, a)}).ok());
  EXPECT_EQ(firstOf(a), 3);
  files = WeightFiles::open(
      {save("b.safetensors", {{"a", floats({1}, 1)}, {"b", floats({1}, 2)}})});
  ASSERT_TRUE(files.ok());
  EXPECT_FALSE(files->loadInto({named({"a", "b"}, a)}).ok());
  EXPECT_TRUE(files->loadInto({named({"z"}, a)}, true).ok());
  EXPECT_FALSE(files->loadInto({named({"z"}, a)}).ok());
}

TEST_F(WeightFilesTest, OtherKindsOfFilesAreNamed) {
  EXPECT_NE(refusal({write("pytorch_model.bin", "x")}).find("not pickled ones"),
            std::string::npos);
  EXPECT_NE(refusal({folder.string()}).find("not a regular file"),
            std::string::npos);
  EXPECT_NE(refusal({}).find("--weights FILE"), std::string::npos);
}

} // namespace

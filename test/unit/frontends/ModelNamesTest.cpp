// Names, shapes, orientation, bytes, kinds and ties of all weights of the
// reference models.
//
// Reads models/*/meta.json of a folder named by the variable PIPEC_SHARED, or
// `shared` beside the source tree; says so and skips where there is none.
#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pipec::onnx {
namespace {

using namespace testing;
using nlohmann::json;
namespace fs = std::filesystem;

fs::path sharedFolder() {
  if (const char *given = std::getenv("PIPEC_SHARED"))
    return given;
  return fs::path(PIPEC_SOURCE_DIR) / ".." / "shared";
}

class ModelNames : public ::testing::Test {
protected:
  void SetUp() override {
    root = sharedFolder() / "models";
    if (!fs::exists(root))
      GTEST_SKIP() << "skipped: there is no " << root;
  }
  /// Calls `use(meta, file name, imported)` for each ONNX file that holds a
  /// model in inference form.
  template <typename Use> void forEachFile(Use use) {
    for (const auto &folder : fs::directory_iterator(root)) {
      if (!fs::exists(folder.path() / "meta.json"))
        continue;
      std::ifstream stream(folder.path() / "meta.json");
      json meta = json::parse(stream, nullptr, false);
      ASSERT_FALSE(meta.is_discarded());
      for (const auto &[file, lists] : meta["onnx_initializers"].items()) {
        if (file.find("train") != std::string::npos)
          continue;
        std::string path = (folder.path() / file).string();
        SCOPED_TRACE(path);
        Imported result = importFile(path);
        ASSERT_TRUE(result.ok()) << result.message();
        use(meta, file, path, result);
      }
    }
  }
  fs::path root;
};

/// Declaration of `name` by symbol or alias; null.
pipe::WeightOp findWeight(const Imported &model, const std::string &name) {
  for (auto &[symbol, weight] : model.weights()) {
    if (symbol == name)
      return weight;
    if (auto aliases = weight.getAliases())
      for (auto alias : aliases->getAsValueRange<mlir::StringAttr>())
        if (alias == name)
          return weight;
  }
  return nullptr;
}

/// Initializers by name, with their bytes.
std::map<std::string, std::string> initializerBytes(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  ::onnx::ModelProto proto;
  std::map<std::string, std::string> bytes;
  if (proto.ParseFromIstream(&stream))
    for (const auto &tensor : proto.graph().initializer())
      bytes[tensor.name()] = tensor.raw_data();
  return bytes;
}

TEST_F(ModelNames, ParametersAsInTheStateDict) {
  forEachFile([&](const json &meta, const std::string &file,
                  const std::string &path, const Imported &model) {
    auto bytes = initializerBytes(path);
    for (const auto &[name, entry] : meta["parameters"].items()) {
      SCOPED_TRACE(name);
      if (!entry["onnx"].contains(file) || entry["onnx"][file].empty())
        continue;
      pipe::WeightOp weight = findWeight(model, name);
      ASSERT_TRUE(weight);
      EXPECT_EQ(pipe::toTensorType(weight.getType()).shape,
                entry["shape"].get<std::vector<int64_t>>());
      EXPECT_EQ(weight.getKind(), entry["kind"] == "parameter"
                                      ? pipe::WeightKind::parameter
                                      : pipe::WeightKind::buffer);
      auto stored = model.stored(weight);
      ASSERT_TRUE(stored.ok()) << stored.status().message();
      std::string got(static_cast<const char *>(stored->data()),
                      stored->byteSize());
      bool found = false;
      for (const auto &hit : entry["onnx"][file]) {
        bool transposed = !weight.getSource().getPermutation().empty();
        found |= bytes[hit["initializer"]] == got &&
                 transposed == hit.contains("permute");
      }
      EXPECT_TRUE(found);
    }
  });
}

TEST_F(ModelNames, OtherFloatsAreConstants) {
  forEachFile([&](const json &meta, const std::string &file,
                  const std::string &, const Imported &model) {
    for (const auto &name : meta["onnx_initializers"][file]["other_float"]) {
      pipe::WeightOp weight = findWeight(model, name.get<std::string>());
      if (weight) {
        EXPECT_EQ(weight.getKind(), pipe::WeightKind::constant) << name;
      }
    }
    // Nothing but the listed parameters is one.
    for (auto &[symbol, weight] : model.weights())
      if (weight.getKind() != pipe::WeightKind::constant) {
        EXPECT_TRUE(meta["parameters"].contains(symbol)) << symbol;
      }
  });
}

TEST_F(ModelNames, TiesCarryAllNames) {
  forEachFile([&](const json &meta, const std::string &file,
                  const std::string &, const Imported &model) {
    bool signature = file.find("legacy") == std::string::npos;
    for (const auto &group : meta["tied"]) {
      pipe::WeightOp first;
      for (const auto &name : group) {
        pipe::WeightOp weight = findWeight(model, name.get<std::string>());
        ASSERT_TRUE(weight) << name;
        if (!first)
          first = weight;
        EXPECT_EQ(first.getSymName(), weight.getSymName()) << name;
      }
      if (signature) {
        EXPECT_EQ(first.getSymName(), group[0].get<std::string>());
      }
    }
  });
}

} // namespace
} // namespace pipec::onnx

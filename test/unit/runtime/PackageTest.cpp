// Packages that are well formed: what is read back, what is ignored, which
// versions and stages are accepted.
#include "test/unit/runtime/TestSession.h"

#include <filesystem>
#include <fstream>

namespace pipec::test {
namespace {

void replaceFile(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::trunc) << text;
}

TEST(PackageTest, RoundTrip) {
  TempFolder folder;
  PackageBuilder builder(mlp(2, {3, 2}));
  builder.manifest.mutable_stages(0)->add_modules("fc0");
  builder.manifest.mutable_stages(0)->mutable_weights(0)->add_aliases("tied");
  builder.manifest.mutable_stages(0)->mutable_weights(1)->set_kind(
      schema::BUFFER);
  Package package = openBuilt(builder, folder / "m.pipe");
  EXPECT_EQ(package.path(), folder / "m.pipe");
  EXPECT_EQ(package.modelName(), "model.onnx");
  EXPECT_EQ(package.producer(), "pipec tests");
  EXPECT_EQ(package.microbatchRows(), (std::vector<int64_t>{3, 2}));
  ASSERT_EQ(package.inputs().size(), 1u);
  EXPECT_EQ(package.inputs()[0].types[0].str(), "f32[3x4]");
  EXPECT_EQ(package.inputs()[0].types[1].str(), "f32[2x4]");
  ASSERT_EQ(package.outputs().size(), 1u);
  EXPECT_EQ(package.outputs()[0].name, "y");
  ASSERT_EQ(package.stages().size(), 2u);
  EXPECT_EQ(package.stages()[0].modules, (std::vector<std::string>{"fc0"}));
  EXPECT_EQ(package.stages()[0].weights[0].aliases,
            (std::vector<std::string>{"tied"}));
  EXPECT_EQ(package.stages()[0].weights[1].kind, "buffer");
  EXPECT_EQ(package.stages()[0].flops, (std::vector<uint64_t>{100, 100}));
  EXPECT_GT(package.stages()[1].arenaBytes[1], 0u);
  ASSERT_EQ(package.transfers().size(), 2u);
  EXPECT_EQ(package.transfers()[0].from, 0);
  EXPECT_EQ(package.transfers()[0].to, 1);
  EXPECT_EQ(package.transfers()[0].producer, "fc1.act");
}

TEST(PackageTest, UnknownFieldsAreIgnored) {
  TempFolder folder;
  PackageBuilder builder(mlp(1, {2}));
  ASSERT_TRUE(builder.write(folder / "m.pipe").ok());
  std::string json = builder.manifestJson();
  json.insert(json.find('{') + 1, "\"laterField\": {\"a\": [1, 2]},");
  replaceFile(folder / "m.pipe/manifest.json", json);
  EXPECT_TRUE(Package::open(folder / "m.pipe").ok());
}

TEST(PackageTest, TrailingSlash) {
  TempFolder folder;
  ASSERT_TRUE(PackageBuilder(mlp(1, {2})).write(folder / "m.pipe").ok());
  auto package = Package::open(folder / "m.pipe/");
  ASSERT_TRUE(package.ok());
  EXPECT_EQ(package->path(), folder / "m.pipe");
}

TEST(PackageTest, OtherVersions) {
  TempFolder folder;
  PackageBuilder builder(mlp(1, {2}));
  for (uint32_t version : {0u, 1u, UINT32_MAX}) {
    builder.manifest.set_format_version(version);
    ASSERT_TRUE(builder.write(folder / "m.pipe").ok());
    Status status = Package::open(folder / "m.pipe").status();
    expectError(status, StatusCode::Unsupported,
                "format version " + std::to_string(version) +
                    ", this build reads version 3");
    expectError(status, StatusCode::Unsupported, "manifest.json");
  }
  // A later version may have changed fields so that ours do not parse.
  replaceFile(folder / "m.pipe/manifest.json",
              "{\"formatVersion\": 7, \"stages\": \"elsewhere\"}");
  expectError(Package::open(folder / "m.pipe").status(),
              StatusCode::Unsupported, "format version 7");
}

TEST(PackageTest, PathsThatAreNoPackages) {
  TempFolder folder;
  expectError(Package::open(folder / "none").status(), StatusCode::Io, "none");
  expectError(Package::open(folder.path).status(), StatusCode::Io,
              "not a package");
  expectError(Package::open("").status(), StatusCode::InvalidArgument, "empty");
  replaceFile(folder / "file", "x");
  expectError(Package::open(folder / "file").status(), StatusCode::Io,
              "not a package");
}

TEST(PackageTest, StagesThatAreElsewhere) {
  TempFolder folder;
  ASSERT_TRUE(PackageBuilder(mlp(2, {2})).write(folder / "m.pipe").ok());
  std::filesystem::remove_all(folder / "m.pipe/stage0");
  auto package = Package::open(folder / "m.pipe");
  ASSERT_TRUE(package.ok()) << package.status().message();
  expectError(Session::create(*package, {}).status(), StatusCode::Io,
              "stage0: the stage's folder is not here");
  std::filesystem::remove_all(folder / "m.pipe/stage1");
  expectError(Package::open(folder / "m.pipe").status(), StatusCode::Io,
              "the folder of no stage is here");
}

} // namespace
} // namespace pipec::test

// Packages on disk: permuted weights, weights in place, atomicity, refusal to
// overwrite.
#include "compiler/PackageWriter.h"
#include "compiler/WeightStream.h"
#include "test/unit/compiler/Models.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace pipec;
using test::modelPath;
using test::TestFolder;
namespace fs = std::filesystem;

namespace {

CompiledModel compiled(const std::string &name, int64_t stages) {
  CompileOptions options;
  options.stages = stages;
  options.defaultBindings = true;
  auto model = compileModel(modelPath(name), options, test::ignore);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(*model);
}

size_t entries(const fs::path &folder) {
  return std::distance(fs::directory_iterator(folder),
                       fs::directory_iterator());
}

TEST(PackageWriter, WritesEachStagesOwnWeights) {
  TestFolder folder;
  CompiledModel model = compiled("mlp3", 2);
  ASSERT_TRUE(
      writePackage(model, folder.file("m.pipe"), {}, test::ignore).ok());
  EXPECT_EQ(entries(folder.path), 1u); // no temporary is left
  size_t names = 0;
  for (int s = 0; s < 2; ++s) {
    auto file = SafetensorsFile::open(folder.file(
        "m.pipe/stage" + std::to_string(s) + "/weights.safetensors"));
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(file->names().size(),
              static_cast<size_t>(model.manifest.stages(s).weights_size()));
    names += file->names().size();
  }
  EXPECT_EQ(names, 8u);
}

TEST(PackageWriter, RefusesToOverwriteUnasked) {
  TestFolder folder;
  CompiledModel model = compiled("mlp3", 1);
  ASSERT_TRUE(
      writePackage(model, folder.file("m.pipe"), {}, test::ignore).ok());
  Status again = writePackage(model, folder.file("m.pipe"), {}, test::ignore);
  EXPECT_NE(again.message().find("--overwrite"), std::string::npos);
  WriteOptions overwrite;
  overwrite.overwrite = true;
  EXPECT_TRUE(
      writePackage(model, folder.file("m.pipe"), overwrite, test::ignore).ok());
  fs::create_directory(folder.path / "mine");
  std::ofstream(folder.file("mine/letter.txt")) << "dear";
  EXPECT_FALSE(
      writePackage(model, folder.file("mine"), overwrite, test::ignore).ok());
  EXPECT_TRUE(fs::exists(folder.file("mine/letter.txt")));
  EXPECT_EQ(entries(folder.path), 2u);
}

TEST(PackageWriter, AFailureLeavesNothing) {
  TestFolder folder;
  CompiledModel model = compiled("mlp3", 1);
  model.weights[0][0].file = folder.file("gone");
  Status status = writePackage(model, folder.file("m.pipe"), {}, test::ignore);
  EXPECT_NE(status.message().find("gone"), std::string::npos);
  EXPECT_EQ(entries(folder.path), 0u);
  EXPECT_FALSE(writePackage(model, folder.file("no/such/folder/m.pipe"), {},
                            test::ignore)
                   .ok());
}

TEST(PackageWriter, WhatCannotBeOpenedIsNotWritten) {
  TestFolder folder;
  CompiledModel model = compiled("mlp3", 1);
  ASSERT_TRUE(
      writePackage(model, folder.file("m.pipe"), {}, test::ignore).ok());
  WriteOptions options;
  options.overwrite = true;
  options.check = [](const std::string &made) {
    EXPECT_TRUE(readManifest(made).ok());
    return dataLoss("stage 0: broken");
  };
  Status status =
      writePackage(model, folder.file("m.pipe"), options, test::ignore);
  EXPECT_NE(status.message().find("could not be opened: stage 0: broken"),
            std::string::npos);
  EXPECT_EQ(entries(folder.path), 1u);
  EXPECT_TRUE(readManifest(folder.file("m.pipe")).ok());
}

TEST(PackageWriter, InPlaceWeightsAreNotCopied) {
  TestFolder folder;
  CompiledModel model = compiled("tiny-gpt", 2);
  WriteOptions options;
  options.weightsInPlace = true;
  ASSERT_TRUE(
      writePackage(model, folder.file("m.pipe"), options, test::ignore).ok());
  auto manifest = readManifest(folder.file("m.pipe"));
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  bool external = false;
  for (const schema::Weight &weight : manifest->stages(0).weights())
    if (weight.kind() == schema::PARAMETER) {
      ASSERT_TRUE(weight.has_external()) << weight.name();
      EXPECT_TRUE(fs::path(weight.external().file()).is_absolute());
      external = true;
    }
  EXPECT_TRUE(external);
}

TEST(WeightStream, PermutesWhileItStreams) {
  TestFolder folder;
  std::vector<float> stored(2 * 3 * 5);
  for (size_t i = 0; i < stored.size(); ++i)
    stored[i] = static_cast<float>(i);
  std::ofstream(folder.file("bytes"), std::ios::binary)
      .write(reinterpret_cast<char *>(stored.data()), stored.size() * 4);
  // The weight is [5, 2, 3]; it lies as [2, 3, 5]: weight axis k is stored axis
  // permutation[k].
  TensorType type{DType::F32, {5, 2, 3}};
  WeightSource source;
  source.file = folder.file("bytes");
  source.length = stored.size() * 4;
  source.permutation = {2, 0, 1};
  // From memory, where a typed field was decoded.
  WeightSource decoded;
  decoded.inMemory = *Tensor::copyOf(type, stored.data());
  decoded.permutation = source.permutation;
  for (const WeightSource &from : {source, decoded}) {
    auto writer = SafetensorsWriter::create(folder.file("w.safetensors"),
                                            {{"w", type}}, true);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(streamWeight(type, from, **writer).ok());
    ASSERT_TRUE((*writer)->finish().ok());
    auto tensors = loadSafetensors(folder.file("w.safetensors"));
    ASSERT_TRUE(tensors.ok());
    const float *w = (*tensors)["w"].as<float>();
    for (int a = 0; a < 5; ++a)
      for (int b = 0; b < 2; ++b)
        for (int c = 0; c < 3; ++c)
          EXPECT_EQ(w[(a * 2 + b) * 3 + c], stored[(b * 3 + c) * 5 + a]);
  }
  EXPECT_EQ(decoded.inMemory.as<float>()[1], 1);
}

TEST(WeightStream, RefusesWhatDoesNotFit) {
  TestFolder folder;
  std::ofstream(folder.file("bytes"), std::ios::binary) << "12345678";
  TensorType type{DType::F32, {4}};
  auto writer = SafetensorsWriter::create(folder.file("w.safetensors"),
                                          {{"w", type}}, false);
  ASSERT_TRUE(writer.ok());
  WeightSource source;
  source.file = folder.file("bytes");
  source.length = 8;
  EXPECT_EQ(streamWeight(type, source, **writer).getCode(),
            StatusCode::DataLoss);
  source.length = 16;
  EXPECT_EQ(streamWeight(type, source, **writer).getCode(),
            StatusCode::DataLoss);
}

} // namespace

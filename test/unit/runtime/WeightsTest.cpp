// Weights: the stage's own file, the model's files in place, permuted,
// unaligned, wrong.
#include "runtime/base/fingerprint.h"
#include "runtime/base/safetensors.h"
#include "test/unit/runtime/TestSession.h"

#include <filesystem>
#include <fstream>

namespace pipec::test {
namespace {

/// y = w, a weight passed through.
Model weightModel(Tensor w) {
  Model model;
  model.inputs = {{"x", {-1}}};
  model.weights["w"] = std::move(w);
  model.nodes = {{"relu", {"x"}, "r", {-1}}};
  model.outputs = {{"r", "r"}, {"y", "w", schema::SAME}};
  return model;
}

StatusOr<Tensor> runWeight(const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(Package package, Package::open(path));
  PIPEC_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::create(package, referenceOptions()));
  PIPEC_ASSIGN_OR_RETURN(TensorMap outputs,
                         session->run({{"x", pattern({2}, 1)}}, {}));
  return outputs.at("y");
}

void writeBytes(const std::string &path, const void *data, size_t size,
                size_t before) {
  std::ofstream file(path, std::ios::binary);
  file << std::string(before, '#');
  file.write(static_cast<const char *>(data), size);
}

struct ExternalTest : ::testing::Test {
  ExternalTest() : builder(weightModel(w)) {
    weight = builder.manifest.mutable_stages(0)->mutable_weights(0);
    weight->mutable_external()->set_file("model.data");
    weight->mutable_external()->set_offset(8);
    weight->mutable_external()->set_length(24);
    builder.weights[0].clear();
    std::filesystem::create_directories(path);
    writeBytes(path + "/model.data", w.data(), 24, 8);
  }
  StatusOr<Tensor> run() {
    PIPEC_RETURN_IF_ERROR(builder.write(path));
    std::filesystem::remove(path + "/stage0/weights.safetensors");
    return runWeight(path);
  }

  Tensor w = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  TempFolder folder;
  const std::string path = folder / "m.pipe";
  PackageBuilder builder;
  schema::Weight *weight;
};

TEST_F(ExternalTest, RelativeAndAbsolute) {
  auto relative = run();
  ASSERT_TRUE(relative.ok()) << relative.status().message();
  EXPECT_TRUE(sameBits(*relative, w));
  weight->mutable_external()->set_file(path + "/model.data");
  auto absolute = run();
  ASSERT_TRUE(absolute.ok()) << absolute.status().message();
  EXPECT_TRUE(sameBits(*absolute, w));
}

TEST_F(ExternalTest, FilesElsewhereNeedLeave) {
  const std::string elsewhere = folder / "else.data";
  writeBytes(elsewhere, w.data(), 24, 8);
  for (const std::string &file : {elsewhere, std::string("../else.data")}) {
    weight->mutable_external()->set_file(file);
    expectError(run().status(), StatusCode::InvalidArgument,
                "which lies outside of it");
    auto package = Package::open(path, {{folder / "."}});
    ASSERT_TRUE(package.ok());
    EXPECT_TRUE(Session::create(*package, referenceOptions()).ok());
  }
  weight->mutable_external()->set_fingerprint(*fingerprintOf(elsewhere));
  auto known = run();
  ASSERT_TRUE(known.ok()) << known.status().message();
  EXPECT_TRUE(sameBits(*known, w));
}

TEST_F(ExternalTest, Unaligned) {
  weight->mutable_external()->set_offset(3);
  writeBytes(path + "/model.data", w.data(), 24, 3);
  auto y = run();
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_TRUE(sameBits(*y, w));
}

TEST_F(ExternalTest, Permuted) {
  schema::ExternalBytes *external = weight->mutable_external();
  for (int64_t dim : {3, 2})
    external->add_stored_shape(dim);
  for (int64_t axis : {1, 0})
    external->add_permutation(axis);
  auto y = run();
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_EQ(floats(*y), (std::vector<float>{1, 3, 5, 2, 4, 6}));
}

TEST_F(ExternalTest, PermutedAndUnaligned) {
  schema::ExternalBytes *external = weight->mutable_external();
  external->set_offset(5);
  writeBytes(path + "/model.data", w.data(), 24, 5);
  for (int64_t dim : {3, 2})
    external->add_stored_shape(dim);
  for (int64_t axis : {1, 0})
    external->add_permutation(axis);
  auto y = run();
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_EQ(floats(*y), (std::vector<float>{1, 3, 5, 2, 4, 6}));
}

TEST_F(ExternalTest, OutOfRange) {
  weight->mutable_external()->set_offset(9);
  expectError(run().status(), StatusCode::DataLoss, "weight 'w'");
  weight->mutable_external()->set_offset(UINT64_MAX);
  expectError(run().status(), StatusCode::DataLoss, "model.data");
}

TEST_F(ExternalTest, MissingFile) {
  weight->mutable_external()->set_file("gone.data");
  expectError(run().status(), StatusCode::Io, "gone.data");
  weight->mutable_external()->set_file(".");
  expectError(run().status(), StatusCode::Io, "weight 'w'");
}

TEST_F(ExternalTest, BadDescriptions) {
  schema::ExternalBytes *external = weight->mutable_external();
  external->set_length(20);
  expectError(run().status(), StatusCode::DataLoss, "20 external bytes");
  external->set_length(24);
  external->add_permutation(0);
  expectError(run().status(), StatusCode::DataLoss, "permutation of 1 axes");
  external->add_permutation(0);
  for (int64_t dim : {2, 3})
    external->add_stored_shape(dim);
  expectError(run().status(), StatusCode::DataLoss, "twice or out of range");
  external->set_permutation(0, 1);
  expectError(run().status(), StatusCode::DataLoss, "stored axis 1 has size 3");
  external->set_permutation(0, 9);
  expectError(run().status(), StatusCode::DataLoss, "twice or out of range");
  external->set_file("");
  expectError(run().status(), StatusCode::DataLoss, "file name");
}

TEST(WeightsTest, UnalignedInTheStagesFile) {
  // A one-byte tensor before it (by name order) moves the weight off its
  // alignment.
  TempFolder folder;
  Tensor w = f32({2}, {7, 8});
  PackageBuilder builder(weightModel(w));
  const uint8_t byte = 1;
  builder.weights[0]["a"] = *Tensor::copyOf({DType::U8, {1}}, &byte);
  ASSERT_TRUE(builder.write(folder / "m.pipe").ok());
  auto y = runWeight(folder / "m.pipe");
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_TRUE(sameBits(*y, w));
}

TEST(WeightsTest, MissingOrOfAnotherType) {
  TempFolder folder;
  PackageBuilder builder(weightModel(f32({2}, {7, 8})));
  builder.weights[0]["w"] = f32({3}, {1, 2, 3});
  ASSERT_TRUE(builder.write(folder / "m.pipe").ok());
  expectError(runWeight(folder / "m.pipe").status(), StatusCode::DataLoss,
              "weight 'w' is f32[3], in the manifest f32[2]");
  builder.weights[0].clear();
  ASSERT_TRUE(builder.write(folder / "m.pipe").ok());
  expectError(runWeight(folder / "m.pipe").status(), StatusCode::DataLoss,
              "weight 'w' is missing");
  std::filesystem::remove(folder / "m.pipe/stage0/weights.safetensors");
  expectError(runWeight(folder / "m.pipe").status(), StatusCode::Io,
              "weights.safetensors");
  std::ofstream(folder / "m.pipe/stage0/weights.safetensors") << "junk";
  expectError(runWeight(folder / "m.pipe").status(), StatusCode::DataLoss,
              "weights.safetensors");
}

TEST(WeightsTest, BoolOutOfRange) {
  TempFolder folder;
  const uint8_t bytes[] = {0, 2};
  PackageBuilder builder(
      weightModel(*Tensor::copyOf({DType::Bool, {2}}, bytes)));
  ASSERT_TRUE(builder.write(folder / "m.pipe").ok());
  expectError(runWeight(folder / "m.pipe").status(), StatusCode::DataLoss,
              "neither 0 nor 1");
}

} // namespace
} // namespace pipec::test

// Writing safetensors: round trips, and nothing half-made under the final name.
#include "runtime/base/safetensors.h"
#include "test/unit/base/TestFile.h"

using namespace pipec;

namespace {

using SafetensorsWriterTest = test::FileTest;
using Item = SafetensorsWriter::Item;

Tensor bytesOf(DType dtype, std::vector<int64_t> shape) {
  Tensor tensor = *Tensor::allocate({dtype, std::move(shape)});
  for (size_t i = 0; i < tensor.byteSize(); ++i)
    tensor.as<uint8_t>()[i] =
        static_cast<uint8_t>(dtype == DType::Bool ? i % 2 : 7 * i + 1);
  return tensor;
}

TEST_F(SafetensorsWriterTest, RoundTripOfEveryType) {
  TensorMap tensors;
  for (int i = 1; i <= 13; ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string name(dtypeName(dtype));
    tensors[name] = bytesOf(dtype, {3, 1});
    tensors[name + ".scalar"] = bytesOf(dtype, {});
    tensors[name + ".empty"] = bytesOf(dtype, {2, 0});
  }
  tensors["\"quoted\" \\ \n \xc3\xa9"] = bytesOf(DType::I8, {5});
  ASSERT_TRUE(saveSafetensors(path("t"), tensors, false).ok());
  EXPECT_EQ(files(), 1u);
  auto loaded = loadSafetensors(path("t"));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_EQ(loaded->size(), tensors.size());
  for (const auto &[name, tensor] : tensors) {
    const Tensor &back = loaded->at(name);
    EXPECT_EQ(back.type(), tensor.type()) << name;
    EXPECT_EQ(std::string(back.as<char>(), back.byteSize()),
              std::string(tensor.as<char>(), tensor.byteSize()))
        << name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(back.data()) % byteSize(back.dtype()),
              0u)
        << name;
  }
}

TEST_F(SafetensorsWriterTest, HeaderIsPaddedAndItemsKeepTheirOrder) {
  auto writer = SafetensorsWriter::create(
      path("t"), {{"zz", {DType::U8, {2}}}, {"a", {DType::U8, {1}}}}, false,
      {{"k", "v"}});
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE((*writer)->write("x", 1).ok());
  EXPECT_TRUE((*writer)->write("yz", 2).ok());
  EXPECT_TRUE((*writer)->finish().ok());
  const std::string content = read("t");
  EXPECT_EQ((content.size() - 3) % 8, 0u);
  EXPECT_EQ(content.substr(content.size() - 3), "xyz");
  auto file = SafetensorsFile::open(path("t"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->names(), (std::vector<std::string>{"zz", "a"}));
  EXPECT_EQ(file->metadata().at("k"), "v");
}

TEST_F(SafetensorsWriterTest, UnfinishedLeavesNothing) {
  {
    auto writer =
        SafetensorsWriter::create(path("t"), {{"a", {DType::U8, {2}}}}, false);
    ASSERT_TRUE(writer.ok());
    EXPECT_TRUE((*writer)->write("x", 1).ok());
    EXPECT_EQ(files(), 1u);
    EXPECT_FALSE(std::filesystem::exists(path("t")));
    EXPECT_NE((*writer)->finish().message().find("1 bytes of data came"),
              std::string::npos);
    EXPECT_FALSE((*writer)->write("xyz", 3).ok());
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(SafetensorsWriterTest, ExistingFilesStayUnlessAsked) {
  write("t", "old");
  const std::vector<Item> items = {{"a", {DType::U8, {1}}}};
  EXPECT_EQ(
      SafetensorsWriter::create(path("t"), items, false).status().getCode(),
      StatusCode::Io);
  auto writer = SafetensorsWriter::create(path("t"), items, true);
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE((*writer)->write("x", 1).ok());
  EXPECT_EQ(read("t"), "old");
  EXPECT_TRUE((*writer)->finish().ok());
  EXPECT_TRUE(SafetensorsFile::open(path("t")).ok());
  EXPECT_EQ(files(), 1u);
  EXPECT_FALSE((*writer)->finish().ok());
}

TEST_F(SafetensorsWriterTest, AFileThatAppearsMeanwhileStays) {
  auto writer =
      SafetensorsWriter::create(path("t"), {{"a", {DType::U8, {1}}}}, false);
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE((*writer)->write("x", 1).ok());
  write("t", "newer");
  const Status status = (*writer)->finish();
  EXPECT_NE(status.message().find("exists already"), std::string::npos)
      << status.message();
  writer->reset();
  EXPECT_EQ(read("t"), "newer");
  EXPECT_EQ(files(), 1u);
}

TEST_F(SafetensorsWriterTest, RefusesWhatCannotBeWritten) {
  const TensorType byte{DType::U8, {1}};
  EXPECT_FALSE(
      SafetensorsWriter::create(path("none/t"), {{"a", byte}}, false).ok());
  EXPECT_FALSE(
      SafetensorsWriter::create(folder.string(), {{"a", byte}}, true).ok());
  EXPECT_FALSE(
      SafetensorsWriter::create("/dev/null", {{"a", byte}}, true).ok());
  EXPECT_FALSE(
      SafetensorsWriter::create(path("t"), {{"a", byte}, {"a", byte}}, false)
          .ok());
  EXPECT_FALSE(
      SafetensorsWriter::create(path("t"), {{"__metadata__", byte}}, false)
          .ok());
  EXPECT_FALSE(
      SafetensorsWriter::create(path("t"), {{"\xff", byte}}, false).ok());
  EXPECT_FALSE(
      SafetensorsWriter::create(path("t"), {{"a", {DType::F32, {-1}}}}, false)
          .ok());
  const TensorType huge{DType::U8, {int64_t(1) << 62}};
  EXPECT_FALSE(
      SafetensorsWriter::create(path("t"), {{"a", huge}, {"b", huge}}, false)
          .ok());
  EXPECT_EQ(files(), 0u);
}

} // namespace

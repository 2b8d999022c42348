// Typed payloads and external data.
#include "frontends/onnx/file/TensorFiles.h"

#include "test/unit/frontends/ModelBuilder.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace pipec::onnx {
namespace {

using Proto = ::onnx::TensorProto;
using testing::ScratchFolder;

Proto tensorOf(int type, std::vector<int64_t> dims) {
  Proto tensor;
  tensor.set_name("t");
  tensor.set_data_type(type);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  return tensor;
}

StatusOr<Tensor> loaded(const Proto &tensor) {
  TensorFiles files("", nullptr);
  PIPEC_ASSIGN_OR_RETURN(TensorSource source, files.locate(tensor, nullptr));
  return source.load();
}

TEST(TensorSource, TypedFields) {
  Proto halves = tensorOf(Proto::FLOAT16, {2});
  halves.add_int32_data(0x3c00);
  halves.add_int32_data(0xc000);
  auto tensor = loaded(halves);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(halfToFloat(tensor->as<uint16_t>()[0]), 1.0f);
  EXPECT_EQ(halfToFloat(tensor->as<uint16_t>()[1]), -2.0f);

  Proto bytes = tensorOf(Proto::INT8, {1});
  bytes.add_int32_data(-3);
  EXPECT_EQ(loaded(bytes)->as<int8_t>()[0], -3);

  Proto flags = tensorOf(Proto::BOOL, {1});
  flags.add_int32_data(7);
  EXPECT_EQ(loaded(flags)->as<uint8_t>()[0], 1);

  Proto doubles = tensorOf(Proto::DOUBLE, {1});
  doubles.add_double_data(0.1);
  EXPECT_EQ(loaded(doubles)->as<double>()[0], 0.1);

  Proto wide = tensorOf(Proto::UINT32, {1});
  wide.add_uint64_data(4000000000u);
  EXPECT_EQ(loaded(wide)->as<uint32_t>()[0], 4000000000u);
}

TEST(TensorSource, WrongCountsAndTypes) {
  Proto few = tensorOf(Proto::INT64, {3});
  few.add_int64_data(1);
  EXPECT_FALSE(loaded(few).ok());
  EXPECT_FALSE(loaded(tensorOf(Proto::COMPLEX64, {1})).ok());
  EXPECT_FALSE(loaded(tensorOf(Proto::FLOAT, {-1})).ok());
  Proto empty = tensorOf(Proto::FLOAT, {0, 4});
  EXPECT_TRUE(loaded(empty).ok());
}

/// External data named by `entries`, beside a file "w.bin" of 16 floats.
StatusOr<TensorSource>
external(const ScratchFolder &folder,
         const std::vector<std::pair<std::string, std::string>> &entries,
         std::vector<int64_t> dims = {4}) {
  folder.write("w.bin", std::string(64, '\1'));
  Proto tensor = tensorOf(Proto::FLOAT, dims);
  tensor.set_data_location(Proto::EXTERNAL);
  for (const auto &[key, value] : entries) {
    auto *entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return TensorFiles(folder.path(""), nullptr).locate(tensor, nullptr);
}

TEST(ExternalData, OffsetAndLengthMayBeMissing) {
  ScratchFolder folder;
  auto source = external(folder, {{"location", "w.bin"}});
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ(source->offset, 0u);
  EXPECT_EQ(source->length, 16u);
  source = external(
      folder, {{"location", "w.bin"}, {"offset", "48"}, {"length", "16"}});
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->offset, 48u);
}

TEST(ExternalData, PlacesAreChecked) {
  ScratchFolder folder;
  using Entries = std::vector<std::pair<std::string, std::string>>;
  for (const Entries &entries :
       {Entries{}, Entries{{"location", ""}},
        Entries{{"location", "/etc/passwd"}}, Entries{{"location", "../w.bin"}},
        Entries{{"location", "a/../../w.bin"}},
        Entries{{"location", "missing.bin"}},
        Entries{{"location", "w.bin"}, {"offset", "52"}},
        Entries{{"location", "w.bin"}, {"offset", "18446744073709551615"}},
        Entries{{"location", "w.bin"}, {"offset", "-1"}},
        Entries{{"location", "w.bin"}, {"length", "15"}},
        Entries{{"location", "w.bin"}, {"length", "x"}}}) {
    auto source = external(folder, entries);
    EXPECT_FALSE(source.ok());
  }
}

TEST(ExternalData, LinksOutOfTheFolderAreRefused) {
  ScratchFolder outside, folder;
  outside.write("secret.bin", std::string(64, '\2'));
  ASSERT_EQ(symlink(outside.path("secret.bin").c_str(),
                    folder.path("link.bin").c_str()),
            0);
  auto source = external(folder, {{"location", "link.bin"}});
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.status().message().find("link"), std::string::npos);
}

} // namespace
} // namespace pipec::onnx

// What the scanner leaves in the file, and how it meets broken bytes.
#include "frontends/onnx/file/WireScanner.h"

#include "test/unit/frontends/ModelBuilder.h"

#include <cstring>
#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

using testing::ModelBuilder;

StatusOr<ScannedModel> scan(const std::string &bytes) {
  return scanModel(reinterpret_cast<const uint8_t *>(bytes.data()),
                   bytes.size());
}

std::string smallModel() {
  ModelBuilder builder;
  builder.input("x", {"batch", "4"});
  builder.floats("small", {4}, {1, 2, 3, 4});
  builder.floats("large", {4, 32}, std::vector<float>(128, 0.5f));
  auto *constant = builder.node("Constant", {}, {"c"});
  auto *attribute = constant->add_attribute();
  attribute->set_name("value");
  attribute->set_type(::onnx::AttributeProto::TENSOR);
  ModelBuilder::fill(*attribute->mutable_t(), "", ::onnx::TensorProto::FLOAT,
                     {100}, std::vector<float>(100, 2.0f));
  builder.node("Add", {"x", "small"}, {"y"});
  builder.output("y");
  return builder.bytes();
}

TEST(WireScanner, LargePayloadsStayInTheFile) {
  std::string bytes = smallModel();
  auto scanned = scan(bytes);
  ASSERT_TRUE(scanned.ok()) << scanned.status().message();
  ASSERT_EQ(scanned->initializers.size(), 2u);
  const Payload &large = scanned->initializers.at(1);
  EXPECT_EQ(large.length, 512u);
  float first = 0;
  std::memcpy(&first, bytes.data() + large.offset, sizeof(first));
  EXPECT_EQ(first, 0.5f);
  ASSERT_EQ(scanned->attributes.size(), 1u);
  EXPECT_EQ(scanned->attributes.begin()->second.length, 400u);

  ::onnx::ModelProto pruned;
  ASSERT_TRUE(pruned.ParseFromString(scanned->pruned));
  EXPECT_EQ(pruned.graph().initializer(0).raw_data().size(), 16u);
  EXPECT_FALSE(pruned.graph().initializer(1).has_raw_data());
  EXPECT_EQ(pruned.graph().initializer(1).dims_size(), 2);
  EXPECT_EQ(pruned.graph().node_size(), 2);
  EXPECT_LT(scanned->pruned.size() + 900, bytes.size());
}

TEST(WireScanner, PackedFloatsStayInTheFileToo) {
  ModelBuilder builder;
  auto *tensor = builder.graph()->add_initializer();
  tensor->set_name("w");
  tensor->set_data_type(::onnx::TensorProto::FLOAT);
  tensor->add_dims(100);
  for (int i = 0; i < 100; ++i)
    tensor->add_float_data(static_cast<float>(i));
  auto scanned = scan(builder.bytes());
  ASSERT_TRUE(scanned.ok());
  ASSERT_EQ(scanned->initializers.count(0), 1u);
  EXPECT_EQ(scanned->initializers.at(0).field,
            ::onnx::TensorProto::kFloatDataFieldNumber);
}

TEST(WireScanner, EveryTruncationIsAnErrorOrAShorterModel) {
  std::string bytes = smallModel();
  for (size_t size = 0; size < bytes.size(); ++size) {
    auto scanned = scan(bytes.substr(0, size));
    if (!scanned.ok()) {
      EXPECT_NE(scanned.status().message().find("at byte"), std::string::npos);
    }
  }
}

TEST(WireScanner, LengthsBeyondTheEndAreRefused) {
  for (std::string bytes :
       {std::string("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10),
        std::string("\x3a\x05\x2a\x10", 4), std::string("\x3b", 1),
        std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11),
        std::string("\x00\x01", 2)})
    EXPECT_FALSE(scan(bytes).ok());
}

} // namespace
} // namespace pipec::onnx

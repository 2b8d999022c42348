// Reading safetensors: what is valid, and headers that lie.
#include "runtime/base/safetensors.h"
#include "test/unit/base/TestFile.h"

#include <cstring>

using namespace pipec;

namespace {

using SafetensorsTest = test::FileTest;

std::string fileOf(const std::string &header, size_t dataBytes,
                   uint64_t claimed = ~uint64_t(0)) {
  const uint64_t size = claimed == ~uint64_t(0) ? header.size() : claimed;
  std::string prefix(8, '\0');
  std::memcpy(prefix.data(), &size, 8);
  std::string data(dataBytes, '\0');
  for (size_t i = 0; i < dataBytes; ++i)
    data[i] = static_cast<char>(i);
  return prefix + header + data;
}

TEST_F(SafetensorsTest, ReadsTypesOffsetsAndMetadata) {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"U8","shape":[2,2],"data_offsets":[8,12]},)"
      R"("a":{"shape":[],"data_offsets":[0,8],"dtype":"I64"},"e":{"dtype":"F32","shape":[0,3],"data_offsets":[8,8]}}   )";
  auto file = SafetensorsFile::open(write("t", fileOf(header, 12)));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->names(), (std::vector<std::string>{"a", "e", "b"}));
  EXPECT_EQ(file->metadata().at("format"), "pt");
  EXPECT_EQ(*file->find("b"), (TensorType{DType::U8, {2, 2}}));
  EXPECT_EQ(*file->offsetOf("b"), 8 + header.size() + 8);
  EXPECT_EQ(*file->get("a")->as<int64_t>(), 0x0706050403020100);
  EXPECT_EQ(file->get("b")->as<uint8_t>()[3], 11);
  EXPECT_FALSE(file->get("e")->empty());
  EXPECT_EQ(file->find("c"), nullptr);
  EXPECT_FALSE(file->get("c").ok());
  auto all = loadSafetensors(path("t"));
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), 3u);
}

TEST_F(SafetensorsTest, MisalignedDataIsCopied) {
  auto file = SafetensorsFile::open(write(
      "t",
      fileOf(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4)));
  ASSERT_TRUE(file.ok());
  ASSERT_NE(*file->offsetOf("a") % 4, 0u);
  const Tensor a = *file->get("a");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.data()) % 4, 0u);
  EXPECT_EQ(std::memcmp(a.data(), "\0\1\2\3", 4), 0);
}

TEST_F(SafetensorsTest, EmptyHeaderMeansNoTensors) {
  auto file = SafetensorsFile::open(write("t", fileOf("{}", 0)));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->names().empty());
}

TEST_F(SafetensorsTest, SaysWhatElseAFileIs) {
  using Case = std::pair<std::string, const char *>;
  for (const auto &[start, what] :
       {Case{"PK\3\4", "a zip archive"}, Case{"\x80\2}q", "a pickle"},
        Case{"\x93NUMPY", "a NumPy array"}, Case{"GGUF", "give the header"}}) {
    auto file = SafetensorsFile::open(write("t", start + "            "));
    EXPECT_NE(file.status().message().find(what), std::string::npos)
        << file.status().message();
  }
}

struct Corrupt {
  const char *what;
  std::string header;
  size_t dataBytes;
  const char *message;
};

TEST_F(SafetensorsTest, RefusesWhatIsInconsistent) {
  const auto one = [](const std::string &fields) {
    return "{\"a\":{" + fields + "}}";
  };
  const std::string big = "9223372036854775807";
  const Corrupt cases[] = {
      {"not JSON", "{\"a\":", 0, "JSON"},
      {"trailing text", "{} x", 0, "JSON"},
      {"array at the top", "[]", 0, "'{'"},
      {"leading space", " {}", 0, "'{'"},
      {"tensor is a number", "{\"a\":1}", 0, "a number"},
      {"tensor is null", "{\"a\":null}", 0, "a null"},
      {"missing dtype", one(R"("shape":[1],"data_offsets":[0,1])"), 1,
       "'dtype' is missing"},
      {"missing shape", one(R"("dtype":"U8","data_offsets":[0,1])"), 1,
       "'shape' is missing"},
      {"missing offsets", one(R"("dtype":"U8","shape":[1])"), 1,
       "'data_offsets' is missing"},
      {"unknown field",
       one(R"("dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1)"), 1,
       "unknown field 'x'"},
      {"field twice",
       one(R"("dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1])"), 1,
       "twice"},
      {"name twice",
       R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
       1, "twice"},
      {"unknown dtype", one(R"("dtype":"F4","shape":[1],"data_offsets":[0,1])"),
       1, "tensor 'a': element type 'F4'"},
      {"negative dimension",
       one(R"("dtype":"U8","shape":[-1],"data_offsets":[0,1])"), 1, "negative"},
      {"fraction", one(R"("dtype":"U8","shape":[1.5],"data_offsets":[0,1])"), 1,
       "fraction"},
      {"dimension beyond int64",
       one(R"("dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,1])"),
       1, "too large"},
      {"size overflow",
       one(R"("dtype":"F32","shape":[)" + big + "," + big +
           R"(],"data_offsets":[0,4])"),
       4, "2^62"},
      {"size overflow hidden by 0",
       one(R"("dtype":"F32","shape":[)" + big + "," + big +
           R"(,0],"data_offsets":[0,0])"),
       0, "2^62"},
      {"wrong byte count",
       one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4,
       "needs 8 bytes"},
      {"offsets descend",
       one(R"("dtype":"U8","shape":[1],"data_offsets":[1,0])"), 1, "ascending"},
      {"one offset", one(R"("dtype":"U8","shape":[1],"data_offsets":[0])"), 1,
       "ascending"},
      {"beyond the file",
       one(R"("dtype":"U8","shape":[4],"data_offsets":[0,4])"), 3,
       "the file holds 3"},
      {"trailing data", one(R"("dtype":"U8","shape":[4],"data_offsets":[0,4])"),
       5, "the file holds 5"},
      {"hole at the start",
       one(R"("dtype":"U8","shape":[1],"data_offsets":[1,2])"), 2, "a hole"},
      {"hole",
       R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
       3, "a hole"},
      {"overlap",
       R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "an overlap"},
      {"empty inside another",
       R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}})",
       2, "an overlap"},
      {"nested shape",
       one(R"("dtype":"U8","shape":[[1]],"data_offsets":[0,1])"), 1,
       "an array"},
      {"object in a tensor",
       one(R"("dtype":{"x":1},"shape":[1],"data_offsets":[0,1])"), 1,
       "an object"},
      {"metadata not strings", R"({"__metadata__":{"a":1}})", 0, "a number"},
      {"metadata nested", R"({"__metadata__":{"a":["x"]}})", 0, "an array"},
      {"deep", "{\"a\":" + std::string(1000000, '['), 0, "an array"},
      {"deep objects",
       [] {
         std::string s;
         for (int i = 0; i < 100000; ++i)
           s += "{\"a\":";
         return s;
       }(),
       0, "unknown field"},
      {"bad UTF-8",
       "{\"\xff\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
       "JSON"},
      {"NUL", std::string("{\0}", 3), 0, "JSON"},
  };
  for (const Corrupt &c : cases) {
    const auto file =
        SafetensorsFile::open(write("t", fileOf(c.header, c.dataBytes)));
    ASSERT_FALSE(file.ok()) << c.what;
    EXPECT_NE(file.status().message().find(c.message), std::string::npos)
        << c.what << ": " << file.status().message();
    EXPECT_NE(file.status().message().find(path("t")), std::string::npos)
        << c.what;
  }
}

TEST_F(SafetensorsTest, RefusesWrongHeaderSizes) {
  EXPECT_FALSE(SafetensorsFile::open(write("t", "")).ok());
  EXPECT_FALSE(SafetensorsFile::open(write("t", "1234567")).ok());
  EXPECT_FALSE(SafetensorsFile::open(write("t", std::string(8, '\0'))).ok());
  for (uint64_t claimed :
       {uint64_t(3), uint64_t(100'000'001), uint64_t(1) << 63, ~uint64_t(0) - 1,
        ~uint64_t(0) - 7}) {
    const auto file =
        SafetensorsFile::open(write("t", fileOf("{}", 0, claimed)));
    ASSERT_FALSE(file.ok()) << claimed;
    EXPECT_NE(file.status().message().find("header"), std::string::npos);
  }
}

} // namespace

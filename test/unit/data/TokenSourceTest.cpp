// Files of tokens: layouts, windows, labels, masks, and files that are not what
// they should be.
#include "runtime/data/batch_source.h"
#include "runtime/data/token_file.h"
#include "test/unit/base/TestFile.h"

#include <numeric>
#include <set>

using namespace pipec;

namespace {

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(T));
}

std::string header(int32_t magic, int32_t version, int32_t count) {
  std::vector<int32_t> words(256);
  words[0] = magic;
  words[1] = version;
  words[2] = count;
  return bytesOf(words);
}

template <typename T> std::vector<T> counting(int n, int first = 100) {
  std::vector<T> tokens(static_cast<size_t>(n));
  std::iota(tokens.begin(), tokens.end(), static_cast<T>(first));
  return tokens;
}

class TokenSourceTest : public test::FileTest {
protected:
  TokenOptions options(const std::string &file) const {
    TokenOptions options;
    options.path = file;
    options.batch = 2;
    options.sequence = 3;
    options.tokens = "ids";
    return options;
  }
  std::unique_ptr<BatchSource> open(const TokenOptions &options) {
    auto source = openTokens(options);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return std::move(*source);
  }
  std::string refusal(const TokenOptions &options) {
    auto source = openTokens(options);
    return source.ok() ? "accepted" : source.status().message();
  }
};

std::vector<int64_t> read64(const BatchSource &source, int64_t step,
                            const std::string &name) {
  auto batch = source.batch(step);
  EXPECT_TRUE(batch.ok()) << batch.status().message();
  const Tensor &tensor = batch->at(name);
  EXPECT_EQ(tensor.type(), source.types(step).at(name));
  const int64_t *data = tensor.as<int64_t>();
  return {data, data + tensor.numElements()};
}

TEST_F(TokenSourceTest, WindowsAndNextTokens) {
  // 14 tokens: windows at 0, 3, 6, 9 with their next tokens; one left over.
  auto source = open(options(write("t.bin", bytesOf(counting<uint16_t>(14)))));
  EXPECT_EQ(read64(*source, 0, "ids"),
            (std::vector<int64_t>{100, 101, 102, 103, 104, 105}));
  EXPECT_EQ(read64(*source, 0, "labels"),
            (std::vector<int64_t>{101, 102, 103, 104, 105, 106}));
  EXPECT_EQ(read64(*source, 1, "ids"),
            (std::vector<int64_t>{106, 107, 108, 109, 110, 111}));
  EXPECT_EQ(read64(*source, 2, "ids"), read64(*source, 0, "ids"));
  EXPECT_EQ(source->stepsPerEpoch(), 2);
  EXPECT_NE(source->describe().find("14 uint16 tokens, 2 of 4 windows of 3"),
            std::string::npos);
  EXPECT_FALSE(source->batch(-1).ok());
}

TEST_F(TokenSourceTest, ExactlyOneWindowNeedsOneTokenMore) {
  TokenOptions one = options(write("t.bin", bytesOf(counting<uint16_t>(4))));
  one.batch = 1;
  EXPECT_EQ(read64(*open(one), 0, "labels"),
            (std::vector<int64_t>{101, 102, 103}));
  one.path = write("u.bin", bytesOf(counting<uint16_t>(3)));
  EXPECT_EQ(refusal(one),
            "'" + path("u.bin") +
                "' has 3 tokens, that is 0 windows of 3 and a next token; a "
                "step needs --batch 1: use a smaller --batch, a shorter "
                "sequence or more data");
}

TEST_F(TokenSourceTest, EveryLayoutGivesTheSameTokens) {
  const auto u16 = counting<uint16_t>(9);
  const auto u32 = counting<uint32_t>(9);
  const std::string files[] = {
      write("a", bytesOf(u16)), write("b", bytesOf(u32)),
      write("c", header(20240520, 1, 9) + bytesOf(u16)),
      write("d", header(20240801, 7, 9) + bytesOf(u32))};
  for (const std::string &file : files)
    EXPECT_EQ(read64(*open(options(file)), 0, "ids"),
              (std::vector<int64_t>{100, 101, 102, 103, 104, 105}))
        << file;
}

TEST_F(TokenSourceTest, WidthCanBeSaidAndFollowsFromALargeVocabulary) {
  const std::string zeros = write("z", std::string(64, '\0'));
  auto width = [&](TokenWidth width, int64_t vocabulary) {
    return TokenFile::open(zeros, width, vocabulary)->bytesPerToken();
  };
  EXPECT_EQ(width(TokenWidth::Auto, 0), 2);
  EXPECT_EQ(width(TokenWidth::U32, 0), 4);
  EXPECT_EQ(width(TokenWidth::Auto, 65537), 4);
  EXPECT_EQ(width(TokenWidth::U16, 65537), 2);
}

TEST_F(TokenSourceTest, WidthIsGuessedFromTheTokens) {
  auto guess = [&](const std::string &content, int64_t vocabulary = 0) {
    return TokenFile::open(write("t", content), TokenWidth::Auto, vocabulary)
        ->bytesPerToken();
  };
  const std::string large = bytesOf(counting<uint32_t>(200, 127900));
  EXPECT_EQ(guess(large), 4);
  EXPECT_EQ(guess(large, 50257), 2); // they cannot be tokens of 32 bits
  std::vector<uint16_t> letters, bases;
  for (int i = 0; i < 200; ++i) {
    letters.push_back(static_cast<uint16_t>(i * 37 % 65));
    bases.push_back(static_cast<uint16_t>(i / 3 % 4));
  }
  EXPECT_EQ(guess(bytesOf(letters)), 2);
  EXPECT_EQ(guess(bytesOf(bases)), 2);
}

TEST_F(TokenSourceTest, MasksAreOnesOfEveryType) {
  TokenOptions masked =
      options(write("t.bin", bytesOf(counting<uint16_t>(14))));
  masked.tokensDType = DType::I32;
  for (int i = 1; i <= 13; ++i) {
    const auto dtype = static_cast<DType>(i);
    masked.ones[std::string(dtypeName(dtype))] = {dtype, {2, 3}};
  }
  auto batch = open(masked)->batch(0);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->size(), 15u);
  EXPECT_EQ(batch->at("ids").as<int32_t>()[5], 105);
  EXPECT_EQ(batch->at("bool").as<uint8_t>()[5], 1);
  EXPECT_EQ(batch->at("i16").as<int16_t>()[5], 1);
  EXPECT_EQ(batch->at("i64").as<int64_t>()[5], 1);
  EXPECT_EQ(batch->at("f32").as<float>()[5], 1);
  EXPECT_EQ(batch->at("f64").as<double>()[5], 1);
  EXPECT_EQ(halfToFloat(batch->at("f16").as<uint16_t>()[5]), 1);
  EXPECT_EQ(bfloat16ToFloat(batch->at("bf16").as<uint16_t>()[5]), 1);
}

TEST_F(TokenSourceTest, LabelsCanBeTheTokensOrLeftOut) {
  TokenOptions plain = options(write("t.bin", bytesOf(counting<uint16_t>(14))));
  plain.nextTokens = false;
  auto source = open(plain);
  EXPECT_EQ(read64(*source, 1, "labels"), read64(*source, 1, "ids"));
  plain.labels.clear();
  EXPECT_EQ(open(plain)->batch(0)->size(), 1u);
}

TEST_F(TokenSourceTest, ShuffledEpochsHaveEveryWindowOnce) {
  TokenOptions shuffled =
      options(write("t.bin", bytesOf(counting<uint16_t>(31, 0))));
  shuffled.shuffle = true;
  shuffled.seed = 4;
  auto source = open(shuffled);
  std::set<int64_t> seen;
  for (int step = 0; step < 5; ++step) {
    const auto ids = read64(*source, step, "ids");
    EXPECT_EQ(ids[0] % 3, 0);
    EXPECT_EQ(ids[1], ids[0] + 1);
    seen.insert(ids[0]);
    seen.insert(ids[3]);
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(read64(*open(shuffled), 7, "ids"), read64(*source, 7, "ids"));
}

TEST_F(TokenSourceTest, TokensOutsideTheVocabularyAreNamed) {
  TokenOptions small = options(write("t.bin", bytesOf(counting<uint16_t>(14))));
  small.vocabulary = 105;
  auto batch = open(small)->batch(0);
  EXPECT_EQ(batch.status().message(),
            "'" + path("t.bin") +
                "': token 5 is 105, but must be below 105, the size of the "
                "model's vocabulary: was the file made with another "
                "tokenizer, or with tokens of another width than 16 bits?");
  small.path = write("u.bin", bytesOf(counting<uint32_t>(14, 0x7fffffff)));
  small.vocabulary = 0;
  small.width = TokenWidth::U32;
  small.tokensDType = DType::I32;
  EXPECT_NE(open(small)->batch(0).status().message().find(
                "below 2147483648, to fit the input's type"),
            std::string::npos);
}

TEST_F(TokenSourceTest, BadFilesAreNamed) {
  const auto u16 = counting<uint16_t>(9);
  auto expect = [&](const std::string &content, const std::string &words) {
    const std::string message = refusal(options(write("bad.bin", content)));
    EXPECT_NE(message.find("'" + path("bad.bin") + "'"), std::string::npos);
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  expect("", "has 0 tokens");
  expect(bytesOf(u16) + "x", "19 bytes are no whole number of tokens");
  expect(header(20240520, 1, 9).substr(0, 100), "but the file has 100");
  expect(header(20240520, 2, 9) + bytesOf(u16), "version 2 of llm.c's");
  expect(header(20240520, 1, 10) + bytesOf(u16),
         "the header says 10 tokens of 2 bytes, that is a file of 1044 bytes, "
         "but it has 1042");
  expect(header(20240520, 1, 8) + bytesOf(u16), "the header says 8 tokens");
  expect(header(20240520, 1, -512), "the header says -512 tokens");
  EXPECT_NE(refusal(options(path("none"))).find("none'"), std::string::npos);
  EXPECT_NE(refusal(options(folder.string())).find("not a regular file"),
            std::string::npos);
}

TEST_F(TokenSourceTest, RefusesOptionsThatDoNotFit) {
  const TokenOptions good =
      options(write("t.bin", bytesOf(counting<uint16_t>(14))));
  TokenOptions bad = good;
  bad.batch = 5;
  EXPECT_NE(refusal(bad).find("4 windows"), std::string::npos);
  bad.batch = 0;
  EXPECT_EQ(refusal(bad), "--batch must be at least 1, got 0");
  bad = good;
  bad.sequence = 0;
  EXPECT_EQ(refusal(bad), "the sequence length must be at least 1, got 0");
  bad.sequence = INT64_MAX;
  EXPECT_NE(refusal(bad).find("below 2^40"), std::string::npos);
  bad = good;
  bad.tokens.clear();
  EXPECT_NE(refusal(bad).find("--tokens INPUT"), std::string::npos);
  bad = good;
  bad.tokensDType = DType::F32;
  EXPECT_NE(refusal(bad).find("tokens need i32 or i64"), std::string::npos);
  bad = good;
  bad.labels = "ids";
  EXPECT_NE(refusal(bad).find("named twice"), std::string::npos);
}

} // namespace

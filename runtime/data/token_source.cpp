// Batches from a file of tokens. In: the file, the length of a window. Out:
// tokens, next tokens as labels, masks of ones.
// Tests: test/unit/data/TokenSourceTest.cpp.
#include "runtime/data/sample_order.h"
#include "runtime/data/token_file.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace pipec {
namespace {

template <typename T> void fill(Tensor &tensor, T value) {
  std::fill_n(tensor.as<T>(), tensor.numElements(), value);
}

StatusOr<Tensor> onesOf(const TensorType &type) {
  PIPEC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(type));
  switch (type.dtype) {
  case DType::F16:
    fill<uint16_t>(tensor, floatToHalf(1));
    return tensor;
  case DType::BF16:
    fill<uint16_t>(tensor, floatToBfloat16(1));
    return tensor;
  case DType::F32:
    fill<float>(tensor, 1);
    return tensor;
  case DType::F64:
    fill<double>(tensor, 1);
    return tensor;
  default:
    break;
  }
  switch (byteSize(type.dtype)) {
  case 1:
    fill<uint8_t>(tensor, 1);
    break;
  case 2:
    fill<uint16_t>(tensor, 1);
    break;
  case 4:
    fill<uint32_t>(tensor, 1);
    break;
  default:
    fill<uint64_t>(tensor, 1);
    break;
  }
  return tensor;
}

class TokenWindows : public BatchSource {
public:
  TokenWindows(TokenFile file, const TokenOptions &options, TensorMap ones)
      : file(std::move(file)), options(options), ones(std::move(ones)),
        order((this->file.size() - 1) / options.sequence, options.shuffle,
              options.seed) {
    // The largest token that the vocabulary and the input's type can hold.
    if (options.tokensDType == DType::I32)
      limit = uint64_t(1) << 31;
    if (options.vocabulary > 0)
      limit = std::min(limit, static_cast<uint64_t>(options.vocabulary));
  }

  StatusOr<TensorMap> batch(int64_t step) const override;
  TensorTypes types(int64_t) const override {
    TensorTypes result = options.ones;
    result[options.tokens] = {options.tokensDType, shape()};
    if (!options.labels.empty())
      result[options.labels] = {DType::I64, shape()};
    return result;
  }
  std::string fileOf(int64_t) const override { return file.path(); }
  int64_t stepsPerEpoch() const override {
    return (order.size() - 1) / options.batch + 1;
  }
  std::string describe() const override {
    return "'" + file.path() + "', " + std::to_string(file.size()) +
           (file.bytesPerToken() == 4 ? " uint32" : " uint16") + " tokens, " +
           std::to_string(options.batch) + " of " +
           std::to_string(order.size()) + " windows of " +
           std::to_string(options.sequence) + " a step, " +
           (options.shuffle ? "shuffled by seed " + std::to_string(options.seed)
                            : "in order");
  }
  std::string remark() const override {
    const bool isGuess = options.width == TokenWidth::Auto && !file.hasHeader();
    return file.path() + ": " + std::to_string(file.size()) + " tokens of " +
           std::to_string(file.bytesPerToken()) + " bytes" +
           (isGuess ? ", as they look; --token-bytes decides" : "");
  }

private:
  std::vector<int64_t> shape() const {
    return {options.batch, options.sequence};
  }
  /// The tokens from `begin` on to `row` of `tensor`, i32 or i64.
  Status copy(int64_t begin, int64_t row, Tensor &tensor) const;
  template <typename T>
  std::optional<int64_t> copyAs(int64_t begin, T *to) const;

  TokenFile file;
  TokenOptions options;
  TensorMap ones; // shared by all batches
  SampleOrder order;
  uint64_t limit = uint64_t(1) << 32;
};

// Returns the position of a token that is too large, if there is one.
template <typename T>
std::optional<int64_t> TokenWindows::copyAs(int64_t begin, T *to) const {
  for (int64_t i = 0; i < options.sequence; ++i) {
    const uint32_t token = file[begin + i];
    if (token >= limit)
      return begin + i;
    to[i] = static_cast<T>(token);
  }
  return std::nullopt;
}

Status TokenWindows::copy(int64_t begin, int64_t row, Tensor &tensor) const {
  const int64_t at = row * options.sequence;
  const std::optional<int64_t> bad =
      tensor.dtype() == DType::I32 ? copyAs(begin, tensor.as<int32_t>() + at)
                                   : copyAs(begin, tensor.as<int64_t>() + at);
  if (!bad)
    return Status();
  return dataLoss(
      "'" + file.path() + "': token " + std::to_string(*bad) + " is " +
      std::to_string(file[*bad]) + ", but must be below " +
      std::to_string(limit) +
      (options.vocabulary > 0 ? ", the size of the model's vocabulary"
                              : ", to fit the input's type") +
      ": was the file made with another tokenizer, or with tokens of another "
      "width than " +
      std::to_string(8 * file.bytesPerToken()) + " bits?");
}

StatusOr<TensorMap> TokenWindows::batch(int64_t step) const {
  PIPEC_ASSIGN_OR_RETURN(const int64_t first,
                         SampleOrder::firstOf(step, options.batch));
  std::vector<int64_t> windows(static_cast<size_t>(options.batch));
  order.elements(first, options.batch, windows.data());
  PIPEC_ASSIGN_OR_RETURN(Tensor tokens,
                         Tensor::allocate({options.tokensDType, shape()}));
  Tensor labels;
  if (!options.labels.empty()) {
    PIPEC_ASSIGN_OR_RETURN(labels, Tensor::allocate({DType::I64, shape()}));
  }
  for (int64_t row = 0; row < options.batch; ++row) {
    const int64_t begin = windows[row] * options.sequence;
    PIPEC_RETURN_IF_ERROR(copy(begin, row, tokens));
    if (!labels.empty())
      PIPEC_RETURN_IF_ERROR(copy(begin + options.nextTokens, row, labels));
  }
  TensorMap result = ones;
  result[options.tokens] = std::move(tokens);
  if (!labels.empty())
    result[options.labels] = std::move(labels);
  return result;
}

Status atLeastOne(const char *what, int64_t value) {
  return value >= 1
             ? Status()
             : invalidArgument(std::string(what) + " must be at least 1, got " +
                               std::to_string(value));
}

Status checkOptions(const TokenOptions &options) {
  PIPEC_RETURN_IF_ERROR(atLeastOne("--batch", options.batch));
  PIPEC_RETURN_IF_ERROR(atLeastOne("the sequence length", options.sequence));
  // A window's end must be countable.
  constexpr int64_t most = int64_t(1) << 40;
  if (options.batch > most || options.sequence > most)
    return invalidArgument("--batch and the sequence length must be below "
                           "2^40, got " +
                           std::to_string(options.batch) + " and " +
                           std::to_string(options.sequence));
  if (options.tokens.empty())
    return invalidArgument("which input gets the tokens of --data is not "
                           "given: use --tokens INPUT");
  if (options.tokensDType != DType::I64 && options.tokensDType != DType::I32)
    return unsupported("input '" + options.tokens + "' is " +
                       std::string(dtypeName(options.tokensDType)) +
                       ", tokens need i32 or i64: name another with --tokens");
  if (options.labels == options.tokens || options.ones.count(options.tokens) ||
      options.ones.count(options.labels))
    return invalidArgument("tokens, labels and masks must go to different "
                           "inputs: '" +
                           options.tokens + "' and '" + options.labels +
                           "' are named twice");
  return Status();
}

Status checkSize(const TokenFile &file, const TokenOptions &options) {
  const int64_t windows =
      file.size() > 0 ? (file.size() - 1) / options.sequence : 0;
  if (windows >= options.batch)
    return Status();
  return invalidArgument(
      "'" + file.path() + "' has " + std::to_string(file.size()) +
      " tokens, that is " + std::to_string(windows) + " windows of " +
      std::to_string(options.sequence) +
      " and a next token; a step needs --batch " +
      std::to_string(options.batch) +
      ": use a smaller --batch, a shorter sequence or more data");
}

} // namespace

StatusOr<std::unique_ptr<BatchSource>> openTokens(const TokenOptions &options) {
  PIPEC_RETURN_IF_ERROR(checkOptions(options));
  PIPEC_ASSIGN_OR_RETURN(
      TokenFile file,
      TokenFile::open(options.path, options.width, options.vocabulary));
  PIPEC_RETURN_IF_ERROR(checkSize(file, options));
  TensorMap ones;
  for (const auto &[name, type] : options.ones) {
    auto tensor = onesOf(type);
    if (!tensor.ok())
      return tensor.status().withPrefix("mask '" + name + "'");
    ones[name] = std::move(*tensor);
  }
  return std::unique_ptr<BatchSource>(
      std::make_unique<TokenWindows>(std::move(file), options, ones));
}

} // namespace pipec

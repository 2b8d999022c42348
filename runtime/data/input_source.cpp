// Batches from safetensors files. In: files and options. Out: sources that give
// whole files, rows of data sets, or several of these in turn.
//
// Rows that lie side by side alias the map; others are gathered into a new
// tensor. All that can be wrong with a file is found when it is opened.
// Tests: test/unit/data/InputSourceTest.cpp.
#include "runtime/base/safetensors.h"
#include "runtime/data/batch_source.h"
#include "runtime/data/sample_order.h"

#include <algorithm>
#include <cstring>

namespace pipec {
namespace {

std::string quoted(const std::string &path) { return "'" + path + "'"; }

/// One file that is one batch.
class WholeFile : public BatchSource {
public:
  WholeFile(std::string path, TensorMap tensors)
      : path(std::move(path)), tensors(std::move(tensors)) {}

  StatusOr<TensorMap> batch(int64_t step) const override {
    PIPEC_RETURN_IF_ERROR(SampleOrder::firstOf(step, 1).status());
    return tensors;
  }
  TensorTypes types(int64_t) const override {
    TensorTypes result;
    for (const auto &[name, tensor] : tensors)
      result[name] = tensor.type();
    return result;
  }
  std::string fileOf(int64_t) const override { return path; }
  int64_t stepsPerEpoch() const override { return 1; }
  std::string describe() const override { return quoted(path); }

private:
  std::string path;
  TensorMap tensors;
};

/// One file that is a data set.
class RowsOfFile : public BatchSource {
public:
  static StatusOr<std::unique_ptr<BatchSource>>
  create(const std::string &path, const TensorMap &tensors,
         const InputOptions &options);

  StatusOr<TensorMap> batch(int64_t step) const override;
  TensorTypes types(int64_t) const override {
    TensorTypes result;
    for (const auto &[name, tensor] : whole)
      result[name] = tensor.type();
    for (const auto &[name, tensor] : cut)
      result[name] = batchType(tensor);
    return result;
  }
  std::string fileOf(int64_t) const override { return path; }
  int64_t stepsPerEpoch() const override {
    return (order.size() - 1) / rows + 1;
  }
  std::string describe() const override {
    return quoted(path) + ", " + std::to_string(rows) + " of " +
           std::to_string(order.size()) + " rows a step, " +
           (order.isShuffled() ? "shuffled by seed " + std::to_string(seed)
                               : "in order");
  }

private:
  TensorType batchType(const Tensor &tensor) const {
    TensorType type = tensor.type();
    type.shape[0] = rows;
    return type;
  }
  StatusOr<Tensor> gather(const Tensor &tensor,
                          const std::vector<int64_t> &elements) const;

  std::string path;
  TensorMap whole, cut;
  SampleOrder order;
  int64_t rows = 0;
  uint64_t seed = 0;
};

Status rowsDiffer(const std::string &path, const std::string &first,
                  int64_t count, const std::string &name, int64_t here) {
  return invalidArgument(
      quoted(path) + ": '" + first + "' has " + std::to_string(count) +
      " rows, '" + name + "' has " + std::to_string(here) +
      ": with --batch, all tensors have the rows of the data set; one that "
      "every batch gets entire is named with --whole");
}

StatusOr<std::unique_ptr<BatchSource>>
RowsOfFile::create(const std::string &path, const TensorMap &tensors,
                   const InputOptions &options) {
  auto source = std::make_unique<RowsOfFile>();
  source->path = path;
  source->rows = options.batch;
  source->seed = options.seed;
  std::string first; // the tensor that says how many rows there are
  int64_t count = 0;
  for (const auto &[name, tensor] : tensors) {
    const bool isWhole =
        tensor.shape().empty() ||
        std::count(options.whole.begin(), options.whole.end(), name) != 0;
    if (isWhole) {
      source->whole[name] = tensor;
      continue;
    }
    const int64_t here = tensor.shape()[0];
    if (first.empty()) {
      first = name;
      count = here;
    }
    if (here != count)
      return rowsDiffer(path, first, count, name, here);
    source->cut[name] = tensor;
  }
  if (source->cut.empty())
    return invalidArgument(quoted(path) + ": no tensor has rows to cut into "
                                          "batches: leave out --batch");
  if (options.batch > count)
    return invalidArgument(quoted(path) + " has " + std::to_string(count) +
                           " rows, --batch asks for " +
                           std::to_string(options.batch) +
                           " a step: use a smaller --batch or more data");
  source->order = SampleOrder(count, options.shuffle, options.seed);
  return std::unique_ptr<BatchSource>(std::move(source));
}

StatusOr<Tensor>
RowsOfFile::gather(const Tensor &tensor,
                   const std::vector<int64_t> &elements) const {
  const TensorType type = batchType(tensor);
  const size_t bytes = type.byteSize() / static_cast<size_t>(rows);
  const uint8_t *from = tensor.as<uint8_t>();
  bool together = true;
  for (int64_t i = 1; i < rows; ++i)
    together &= elements[i] == elements[0] + i;
  if (together)
    return Tensor::wrap(type,
                        const_cast<uint8_t *>(from) +
                            static_cast<size_t>(elements[0]) * bytes,
                        std::make_shared<Tensor>(tensor));
  PIPEC_ASSIGN_OR_RETURN(Tensor result, Tensor::allocate(type));
  for (int64_t i = 0; bytes != 0 && i < rows; ++i)
    std::memcpy(result.as<uint8_t>() + static_cast<size_t>(i) * bytes,
                from + static_cast<size_t>(elements[i]) * bytes, bytes);
  return result;
}

StatusOr<TensorMap> RowsOfFile::batch(int64_t step) const {
  PIPEC_ASSIGN_OR_RETURN(const int64_t first, SampleOrder::firstOf(step, rows));
  std::vector<int64_t> elements(static_cast<size_t>(rows));
  order.elements(first, rows, elements.data());
  TensorMap result = whole;
  for (const auto &[name, tensor] : cut) {
    auto gathered = gather(tensor, elements);
    if (!gathered.ok())
      return gathered.status().withPrefix(quoted(path) + ": '" + name + "'");
    result[name] = std::move(*gathered);
  }
  return result;
}

/// Step k is step k div n of source k mod n.
class InTurn : public BatchSource {
public:
  explicit InTurn(std::vector<std::unique_ptr<BatchSource>> sources)
      : sources(std::move(sources)) {}

  StatusOr<TensorMap> batch(int64_t step) const override {
    PIPEC_RETURN_IF_ERROR(SampleOrder::firstOf(step, 1).status());
    return sources[step % count()]->batch(step / count());
  }
  TensorTypes types(int64_t step) const override {
    return sources[step % count()]->types(step / count());
  }
  int64_t typePeriod() const override { return count(); }
  std::string fileOf(int64_t step) const override {
    return sources[step % count()]->fileOf(step / count());
  }
  int64_t stepsPerEpoch() const override {
    int64_t most = 0;
    for (const auto &source : sources)
      most = std::max(most, source->stepsPerEpoch());
    return most * count();
  }
  std::string describe() const override {
    std::string text = "in turn: ";
    for (size_t i = 0; i < sources.size(); ++i)
      text += (i ? "; " : "") + sources[i]->describe();
    return text;
  }

private:
  int64_t count() const { return static_cast<int64_t>(sources.size()); }
  std::vector<std::unique_ptr<BatchSource>> sources;
};

StatusOr<TensorMap> readWanted(const std::string &path,
                               const std::vector<std::string> &wanted) {
  PIPEC_ASSIGN_OR_RETURN(const SafetensorsFile file,
                         SafetensorsFile::open(path));
  TensorMap tensors;
  std::string missing;
  for (const std::string &name : wanted.empty() ? file.names() : wanted) {
    if (!file.contains(name)) {
      missing += (missing.empty() ? "'" : ", '") + name + "'";
      continue;
    }
    PIPEC_ASSIGN_OR_RETURN(tensors[name], file.get(name));
  }
  if (missing.empty() && !tensors.empty())
    return tensors;
  std::string present;
  for (const std::string &name : file.names())
    present += (present.empty() ? "'" : ", '") + name + "'";
  return invalidArgument(
      quoted(path) + " lacks " +
      (missing.empty() ? std::string("any tensor") : missing) + ", it holds " +
      (present.empty() ? "none" : present) +
      ": write the batch's inputs and labels under the model's names");
}

Status checkOptions(const InputOptions &options) {
  if (options.paths.empty())
    return invalidArgument("no file of inputs is given: use --inputs FILE");
  if (options.batch < 0)
    return invalidArgument("--batch must be at least 1, got " +
                           std::to_string(options.batch));
  if (options.shuffle && options.batch == 0)
    return invalidArgument("--shuffle permutes the rows of a data set and "
                           "needs --batch N, rows an update");
  return Status();
}

} // namespace

StatusOr<std::unique_ptr<BatchSource>> openInputs(const InputOptions &options) {
  PIPEC_RETURN_IF_ERROR(checkOptions(options));
  std::vector<std::unique_ptr<BatchSource>> sources;
  for (const std::string &path : options.paths) {
    PIPEC_ASSIGN_OR_RETURN(TensorMap tensors, readWanted(path, options.wanted));
    if (options.batch == 0) {
      sources.push_back(std::make_unique<WholeFile>(path, std::move(tensors)));
      continue;
    }
    PIPEC_ASSIGN_OR_RETURN(sources.emplace_back(),
                           RowsOfFile::create(path, tensors, options));
  }
  if (sources.size() == 1)
    return std::move(sources[0]);
  return std::unique_ptr<BatchSource>(
      std::make_unique<InTurn>(std::move(sources)));
}

} // namespace pipec

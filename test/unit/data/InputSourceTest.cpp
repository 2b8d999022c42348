// Batches from safetensors files: whole files in turn, rows in order and
// shuffled, and what is refused before the first step.
#include "runtime/base/safetensors.h"
#include "runtime/data/batch_source.h"
#include "test/unit/base/TestFile.h"

#include <cstring>
#include <set>

using namespace pipec;

namespace {

Tensor floats(std::vector<int64_t> shape, float first) {
  Tensor tensor = *Tensor::allocate({DType::F32, std::move(shape)});
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    tensor.as<float>()[i] = first + static_cast<float>(i);
  return tensor;
}

InputOptions batchFiles(std::vector<std::string> paths) {
  InputOptions options;
  options.paths = std::move(paths);
  return options;
}

class InputSourceTest : public test::FileTest {
protected:
  std::string save(const std::string &name, const TensorMap &tensors) {
    EXPECT_TRUE(saveSafetensors(path(name), tensors, true).ok());
    return path(name);
  }
  /// x [rows, 2] counting up from `first`, and y [rows] i8.
  std::string dataSet(const std::string &name, int64_t rows, float first = 0) {
    Tensor y = *Tensor::allocate({DType::I8, {rows}});
    for (int64_t i = 0; i < rows; ++i)
      y.as<int8_t>()[i] = static_cast<int8_t>(i);
    return save(name, {{"x", floats({rows, 2}, first)}, {"y", y}});
  }
  std::unique_ptr<BatchSource> open(const InputOptions &options) {
    auto source = openInputs(options);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return std::move(*source);
  }
  std::string refusal(const InputOptions &options) {
    auto source = openInputs(options);
    return source.ok() ? "accepted" : source.status().message();
  }
};

std::vector<int> rowsOf(const BatchSource &source, int64_t step) {
  auto batch = source.batch(step);
  EXPECT_TRUE(batch.ok()) << batch.status().message();
  std::vector<int> rows;
  const Tensor &x = batch->at("x"), &y = batch->at("y");
  for (int64_t i = 0; i < y.numElements(); ++i) {
    rows.push_back(y.as<int8_t>()[i]);
    EXPECT_EQ(x.as<float>()[2 * i], 2.0f * rows.back());
    EXPECT_EQ(x.as<float>()[2 * i + 1], 2.0f * rows.back() + 1);
  }
  const TensorTypes types = source.types(step);
  EXPECT_EQ(types.size(), batch->size());
  for (const auto &[name, tensor] : *batch)
    EXPECT_EQ(types.at(name), tensor.type()) << name;
  return rows;
}

TEST_F(InputSourceTest, OneFileIsOneBatch) {
  auto source = open(batchFiles({dataSet("a", 3)}));
  EXPECT_EQ(rowsOf(*source, 0), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(rowsOf(*source, 9), (std::vector<int>{0, 1, 2}));
  EXPECT_FALSE(source->batch(-1).ok());
  EXPECT_EQ(source->stepsPerEpoch(), 1);
}

TEST_F(InputSourceTest, SeveralFilesComeInTurn) {
  auto source = open(batchFiles({dataSet("a", 3), dataSet("b", 5)}));
  EXPECT_EQ(rowsOf(*source, 0).size(), 3u);
  EXPECT_EQ(rowsOf(*source, 1).size(), 5u);
  EXPECT_EQ(rowsOf(*source, 2).size(), 3u);
  EXPECT_EQ(source->typePeriod(), 2);
  EXPECT_NE(source->fileOf(4), source->fileOf(5));
  EXPECT_EQ(source->fileOf(4), source->fileOf(0));
  EXPECT_EQ(source->types(1), source->types(3));
  EXPECT_EQ(source->stepsPerEpoch(), 2);
}

TEST_F(InputSourceTest, RowsInOrderGoOnWithTheNextEpoch) {
  InputOptions options;
  options.paths = {dataSet("a", 5)};
  options.batch = 2;
  auto source = open(options);
  EXPECT_EQ(rowsOf(*source, 0), (std::vector<int>{0, 1}));
  EXPECT_EQ(rowsOf(*source, 1), (std::vector<int>{2, 3}));
  EXPECT_EQ(rowsOf(*source, 2), (std::vector<int>{4, 0}));
  EXPECT_EQ(rowsOf(*source, 3), (std::vector<int>{1, 2}));
  EXPECT_EQ(source->stepsPerEpoch(), 3);
  EXPECT_NE(source->describe().find("2 of 5 rows a step, in order"),
            std::string::npos);
}

TEST_F(InputSourceTest, ShuffledEpochsHaveEveryRowOnce) {
  InputOptions options;
  options.paths = {dataSet("a", 30)};
  options.batch = 10;
  options.shuffle = true;
  options.seed = 8;
  auto source = open(options);
  std::vector<int> first;
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<int> rows;
    for (int step = 0; step < 3; ++step)
      for (const int row : rowsOf(*source, 3 * epoch + step))
        rows.push_back(row);
    EXPECT_EQ(std::set<int>(rows.begin(), rows.end()).size(), 30u);
    if (epoch == 0)
      first = rows;
    else
      EXPECT_NE(rows, first);
  }
  // Any step again, from a source opened anew: what resuming does.
  EXPECT_EQ(rowsOf(*open(options), 1),
            std::vector<int>(first.begin() + 10, first.begin() + 20));
  options.seed = 9;
  EXPECT_NE(rowsOf(*open(options), 0),
            std::vector<int>(first.begin(), first.begin() + 10));
}

TEST_F(InputSourceTest, SeveralDataSetsComeInTurn) {
  InputOptions options;
  options.paths = {dataSet("a", 4), dataSet("b", 6)};
  options.batch = 2;
  auto source = open(options);
  EXPECT_EQ(rowsOf(*source, 0), (std::vector<int>{0, 1}));
  EXPECT_EQ(rowsOf(*source, 1), (std::vector<int>{0, 1}));
  EXPECT_EQ(rowsOf(*source, 2), (std::vector<int>{2, 3}));
  EXPECT_EQ(rowsOf(*source, 4), (std::vector<int>{0, 1}));
  EXPECT_EQ(rowsOf(*source, 5), (std::vector<int>{4, 5}));
  EXPECT_EQ(source->stepsPerEpoch(), 6);
}

TEST_F(InputSourceTest, ScalarsAndWholeTensorsComeEntire) {
  InputOptions options;
  options.paths = {save("a", {{"x", floats({4, 3}, 0)},
                              {"scale", floats({}, 7)},
                              {"table", floats({9}, 1)},
                              {"none", floats({4, 0}, 0)}})};
  options.batch = 3;
  options.whole = {"table"};
  auto batch = open(options)->batch(1);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->at("scale").as<float>()[0], 7);
  EXPECT_EQ(batch->at("table").shape(), (std::vector<int64_t>{9}));
  EXPECT_EQ(batch->at("none").shape(), (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(batch->at("x").as<float>()[0], 9); // row 3, then 0 and 1
  EXPECT_EQ(batch->at("x").as<float>()[3], 0);
}

TEST_F(InputSourceTest, BatchesOutliveTheirSource) {
  InputOptions options;
  options.paths = {dataSet("a", 4)};
  options.batch = 2;
  auto batch = open(options)->batch(1);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->at("x").as<float>()[3], 7);
}

TEST_F(InputSourceTest, OnlyWantedTensorsAreRead) {
  InputOptions options;
  options.paths = {dataSet("a", 4)};
  options.wanted = {"y"};
  EXPECT_EQ(open(options)->batch(0)->size(), 1u);
  options.wanted = {"y", "ids", "mask"};
  EXPECT_EQ(refusal(options), "'" + path("a") +
                                  "' lacks 'ids', 'mask', it holds 'x', 'y': "
                                  "write the batch's inputs and labels under "
                                  "the model's names");
}

TEST_F(InputSourceTest, RefusesOptionsThatDoNotFit) {
  InputOptions options;
  EXPECT_NE(refusal(options).find("--inputs FILE"), std::string::npos);
  options.paths = {dataSet("a", 4)};
  options.shuffle = true;
  EXPECT_NE(refusal(options).find("needs --batch"), std::string::npos);
  options.batch = -1;
  EXPECT_EQ(refusal(options), "--batch must be at least 1, got -1");
  options.batch = 5;
  EXPECT_EQ(refusal(options),
            "'" + path("a") +
                "' has 4 rows, --batch asks for 5 a step: use a smaller "
                "--batch or more data");
  options.paths = {save("b", {{"x", floats({4}, 0)}, {"y", floats({3}, 0)}})};
  EXPECT_NE(refusal(options).find("'x' has 4 rows, 'y' has 3"),
            std::string::npos);
  options.paths = {save("c", {{"x", floats({}, 0)}})};
  EXPECT_NE(refusal(options).find("no tensor has rows"), std::string::npos);
  options.paths = {save("d", {{"x", floats({0, 2}, 0)}})};
  EXPECT_NE(refusal(options).find("has 0 rows"), std::string::npos);
  options.paths = {save("e", {})};
  EXPECT_NE(refusal(options).find("lacks any tensor, it holds none"),
            std::string::npos);
}

TEST_F(InputSourceTest, BadFilesAreNamed) {
  EXPECT_NE(refusal(batchFiles({path("none")})).find("none'"),
            std::string::npos);
  const std::string whole = dataSet("a", 4);
  const std::string text = read("a");
  write("cut", text.substr(0, text.size() - 3));
  EXPECT_NE(refusal(batchFiles({path("cut")})).find("cut'"), std::string::npos);
}

} // namespace

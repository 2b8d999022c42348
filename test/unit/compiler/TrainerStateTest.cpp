// What a trainer saves, resumes from, loads and takes over: with another cut,
// the very same numbers.
#include "compiler/PackageWriter.h"
#include "pipec/trainer.h"
#include "runtime/base/safetensors.h"
#include "test/unit/compiler/Models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

using namespace pipec;
using test::modelPath;
using test::TestFolder;

namespace {

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// A model of test/models, its loss and batches to train it.
struct Kind {
  const char *model;
  TensorType input, output;
  bool isClasses; // cross entropy over the last axis, else mean squared error
};
const Kind kMlp = {"mlp3", {DType::F32, {8, 16}}, {DType::F32, {8, 10}}, false};
const Kind kGpt = {
    "tiny-gpt", {DType::I64, {4, 32}}, {DType::F32, {4, 32, 256}}, true};
const Kind kConv = {
    "convnet", {DType::F32, {4, 3, 16, 16}}, {DType::F32, {4, 5}}, false};

Tensor filled(const TensorType &type, uint64_t seed) {
  Tensor tensor = *Tensor::allocate(type);
  uint64_t state = seed * 2654435761 + 1;
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<int64_t>(state >> 40);
    if (type.dtype == DType::I64)
      tensor.as<int64_t>()[i] = bits % 256;
    else
      tensor.as<float>()[i] = static_cast<float>(bits) / (1 << 23) - 1;
  }
  return tensor;
}

const std::map<std::string, std::string> kInputOf = {
    {"mlp3", "x"}, {"tiny-gpt", "input_ids"}, {"convnet", "image"}};

TensorMap batchOf(const Kind &kind, int64_t step) {
  const TensorType labels =
      kind.isClasses
          ? TensorType{DType::I64,
                       {kind.output.shape.begin(), kind.output.shape.end() - 1}}
          : kind.output;
  return {{kInputOf.at(kind.model), filled(kind.input, 100 + step)},
          {"labels", filled(labels, 200 + step)}};
}

class TrainerState : public ::testing::Test {
protected:
  TestFolder folder;
  TrainerOptions options;
  std::vector<std::string> freeze;
  int packages = 0;

  std::unique_ptr<Trainer> trainer(const Kind &kind, int64_t stages,
                                   const std::string &schedule) {
    CompileOptions compile;
    compile.stages = stages;
    compile.microbatches = 4;
    compile.inputShapes[kInputOf.at(kind.model)] = kind.input.shape;
    TrainingOptions &training = compile.training.emplace();
    training.loss = kind.isClasses ? TrainingOptions::Loss::CrossEntropy
                                   : TrainingOptions::Loss::Mse;
    training.schedule = schedule;
    training.freeze = freeze;
    training.allowFolded = true; // the convnet's file lost its BatchNorm
    auto model = compileModel(modelPath(kind.model), compile, test::ignore);
    EXPECT_TRUE(model.ok()) << model.status().message();
    const std::string path = folder.file(std::to_string(packages++) + ".pipe");
    EXPECT_TRUE(writePackage(*model, path, {false, true}, test::ignore).ok());
    auto made = Trainer::create(*Package::open(path), options);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? std::move(*made) : nullptr;
  }
  static std::vector<double> train(Trainer &trainer, const Kind &kind,
                                   int64_t until) {
    std::vector<double> losses;
    while (trainer.nextStep() < until) {
      auto result = trainer.step(batchOf(kind, trainer.nextStep()));
      EXPECT_TRUE(result.ok()) << result.status().message();
      if (!result.ok())
        break;
      losses.push_back(result->loss);
    }
    return losses;
  }
  static void expectSame(const TensorMap &a, const TensorMap &b) {
    ASSERT_EQ(a.size(), b.size());
    for (const auto &[name, tensor] : a) {
      const Tensor &other = b.at(name);
      EXPECT_EQ(std::memcmp(tensor.data(), other.data(), tensor.byteSize()), 0)
          << name;
    }
  }
  static void expectSameState(Trainer &a, Trainer &b) {
    expectSame(a.parameters(), b.parameters());
    expectSame(a.buffers(), b.buffers());
    EXPECT_EQ(a.nextStep(), b.nextStep());
    auto other = b.optimizerState();
    for (const auto &[name, view] : a.optimizerState()) {
      const TensorView &its = other.at(name);
      EXPECT_EQ(std::memcmp(view.data, its.data, view.type.byteSize()), 0)
          << name;
    }
  }
  std::string save(Trainer &trainer, const CheckpointOptions &how = {}) {
    auto path = trainer.saveCheckpoint(folder.file("run"), how);
    EXPECT_TRUE(path.ok()) << path.status().message();
    return path.ok() ? *path : "";
  }
  std::string refusal(Trainer &trainer, const CheckpointNotes &notes = {}) {
    auto resumed = trainer.resume(folder.file("run"), notes);
    return resumed.ok() ? "" : resumed.status().message();
  }
  /// Two steps here, save, two there: the same as four in one go.
  void expectReshard(const Kind &kind, int64_t before,
                     const std::string &schedule, int64_t after,
                     const std::string &next) {
    auto whole = trainer(kind, 1, "gpipe");
    const std::vector<double> losses = train(*whole, kind, 4);
    auto first = trainer(kind, before, schedule);
    train(*first, kind, 2);
    EXPECT_EQ(save(*first), folder.file("run") + "/step-2");
    auto second = trainer(kind, after, next);
    auto resumed = second->resume(folder.file("run"));
    ASSERT_TRUE(resumed.ok()) << resumed.status().message();
    EXPECT_EQ(resumed->step, 2);
    EXPECT_TRUE(resumed->remarks.empty());
    expectSameState(*first, *second);
    const std::vector<double> rest = train(*second, kind, 4);
    EXPECT_EQ(rest, std::vector<double>(losses.begin() + 2, losses.end()));
    expectSameState(*whole, *second);
  }
};

TEST_F(TrainerState, AdamWGoesOnInAnotherCut) {
  options.optimizer.clipNorm = 0.5;
  expectReshard(kMlp, 4, "1f1b", 2, "gpipe");
}

TEST_F(TrainerState, MomentumGoesOnWithATiedWeightInTwoStages) {
  options.optimizer.kind = "sgd";
  options.optimizer.momentum = 0.9;
  options.optimizer.lr = 0.1;
  expectReshard(kGpt, 4, "zb-h1", 2, "1f1b");
}

TEST_F(TrainerState, ConvolutionsGoOn) {
  expectReshard(kConv, 3, "1f1b", 1, "gpipe");
}

TEST_F(TrainerState, TransmittedWeightsAreWrittenOnce) {
  options.transmitSharedWeights = true;
  expectReshard(kGpt, 1, "gpipe", 3, "1f1b");
}

TEST_F(TrainerState, TheLearningRateGoesOn) {
  options.optimizer.lrSchedule = "cosine";
  options.optimizer.warmupSteps = 1;
  options.optimizer.totalSteps = 5;
  expectReshard(kMlp, 2, "1f1b", 3, "zb-h1");
}

TEST_F(TrainerState, EveryTiedNameIsInTheCheckpoint) {
  auto made = trainer(kGpt, 3, "1f1b");
  const auto aliases = made->aliases();
  ASSERT_FALSE(aliases.empty());
  std::set<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(save(*made))) {
    if (entry.path().extension() != ".safetensors")
      continue;
    const auto tensors = loadSafetensors(entry.path());
    ASSERT_TRUE(tensors.ok());
    for (const auto &[name, tensor] : *tensors)
      EXPECT_TRUE(names.insert(name).second) << name;
  }
  for (const auto &[name, tensor] : made->parameters())
    EXPECT_TRUE(names.count(name)) << name;
  for (const auto &[name, others] : aliases)
    for (const std::string &other : others)
      EXPECT_TRUE(names.count(other)) << other;
}

TEST_F(TrainerState, FrozenWeightsComeFromTheCheckpoint) {
  freeze = {"layer0*"};
  auto first = trainer(kMlp, 2, "1f1b");
  TensorMap other;
  for (const auto &[name, tensor] : first->parameters())
    other[name] = filled(tensor.type(), 3);
  ASSERT_TRUE(saveSafetensors(folder.file("w.safetensors"), other, false).ok());
  ASSERT_TRUE(first->loadWeights({folder.file("w.safetensors")}).ok());
  expectSame(first->parameters(), other);
  save(*first);
  auto second = trainer(kMlp, 4, "1f1b");
  ASSERT_EQ(refusal(*second), "");
  expectSame(second->parameters(), other);
  auto third = trainer(kMlp, 1, "gpipe");
  ASSERT_TRUE(third->takeStateFrom(*first).ok());
  expectSameState(*first, *third);
  // The programs see them, too: not only those who ask for parameters.
  EXPECT_EQ(train(*first, kMlp, 2), train(*second, kMlp, 2));
  train(*third, kMlp, 2);
  expectSameState(*first, *second);
  expectSameState(*first, *third);
  auto fresh = trainer(kMlp, 1, "gpipe");
  EXPECT_NE(train(*fresh, kMlp, 1)[0], 0);
  EXPECT_NE(std::memcmp(fresh->parameters().at("layer0.lin.weight").data(),
                        other.at("layer0.lin.weight").data(), 16),
            0);
}

TEST_F(TrainerState, AParameterThatThaws) {
  freeze = {"layer0*"};
  auto first = trainer(kMlp, 2, "1f1b");
  train(*first, kMlp, 2);
  save(*first);
  freeze.clear();
  auto second = trainer(kMlp, 2, "1f1b");
  auto resumed = second->resume(folder.file("run"));
  ASSERT_TRUE(resumed.ok()) << resumed.status().message();
  ASSERT_EQ(resumed->remarks.size(), 1u);
  EXPECT_TRUE(has(resumed->remarks[0], "'layer0.lin.bias', "
                                       "'layer0.lin.weight'"))
      << resumed->remarks[0];
  EXPECT_EQ(train(*second, kMlp, 3).size(), 1u);
}

TEST_F(TrainerState, AnotherModelIsRefusedWithTheNames) {
  save(*trainer(kMlp, 2, "1f1b"));
  const std::string why = refusal(*trainer(kConv, 1, "gpipe"));
  EXPECT_TRUE(has(why, "of another model")) << why;
  EXPECT_TRUE(has(why, "missing")) << why;
  EXPECT_TRUE(has(why, "'body.weight', 'body.bias'")) << why;
  EXPECT_TRUE(has(why, "not used")) << why;
  EXPECT_TRUE(has(why, "'layer0.lin.bias'")) << why;
}

TEST_F(TrainerState, AnotherOptimizerIsRefused) {
  save(*trainer(kMlp, 2, "1f1b"));
  options.optimizer.kind = "sgd";
  auto second = trainer(kMlp, 2, "1f1b");
  EXPECT_TRUE(has(refusal(*second), "pass --optimizer adamw"));
}

TEST_F(TrainerState, NotesAreCompared) {
  CheckpointOptions how;
  how.notes.data = "'here/x.bin', 8 rows a step";
  how.notes.settings["loss"] = "mse";
  save(*trainer(kMlp, 2, "1f1b"), how);
  options.optimizer.lr = 0.5;
  auto second = trainer(kMlp, 1, "gpipe");
  how.notes.data = "'here/x.bin', 4 rows a step";
  EXPECT_TRUE(has(refusal(*second, how.notes), "other data"));
  how.notes.data = "'there/x.bin', 8 rows a step";
  how.notes.settings["loss"] = "mse:y";
  auto resumed = second->resume(folder.file("run"), how.notes);
  ASSERT_TRUE(resumed.ok()) << resumed.status().message();
  EXPECT_EQ(resumed->remarks.size(), 2u); // loss, lr
}

TEST_F(TrainerState, OldCheckpointsGoAndNothingIsReplaced) {
  auto made = trainer(kMlp, 2, "1f1b");
  CheckpointOptions how;
  how.keep = 2;
  for (int64_t step = 0; step < 4; ++step) {
    save(*made, how);
    EXPECT_FALSE(made->saveCheckpoint(folder.file("run"), how).ok());
    train(*made, kMlp, step + 1);
  }
  std::vector<std::string> names;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder.file("run")))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"step-2", "step-3"}));
}

TEST_F(TrainerState, WeightsThatDoNotFitAreListed) {
  auto made = trainer(kConv, 2, "1f1b");
  const std::string file = folder.file("w.safetensors");
  TensorMap weights = made->parameters();
  weights["model.head.bias"] = weights.at("head.bias");
  weights.erase("head.bias");
  ASSERT_TRUE(saveSafetensors(file, weights, false).ok());
  auto loaded = made->loadWeights({file});
  ASSERT_FALSE(loaded.ok());
  const std::string why = loaded.status().message();
  EXPECT_TRUE(has(why, "missing, 1: 'head.bias'")) << why;
  EXPECT_TRUE(has(why, "not used, 1: 'model.head.bias'")) << why;
}

TEST_F(TrainerState, WeightsByAnIndexUnderATiedName) {
  auto made = trainer(kGpt, 3, "1f1b");
  const auto aliases = made->aliases();
  const auto &[first, others] = *aliases.begin();
  TensorMap weights, tied;
  for (const auto &[name, tensor] : made->parameters())
    (name == first ? tied[others[0]] : weights[name]) =
        filled(tensor.type(), 5);
  weights["extra"] = filled({DType::F32, {2}}, 1);
  ASSERT_TRUE(saveSafetensors(folder.file("a.safetensors"), weights, 0).ok());
  ASSERT_TRUE(saveSafetensors(folder.file("b.safetensors"), tied, 0).ok());
  std::ofstream index(folder.file("model.safetensors.index.json"));
  index << "{\"metadata\": {}, \"weight_map\": {\"" << others[0]
        << "\": \"b.safetensors\"";
  for (const auto &[name, tensor] : weights)
    index << ", \"" << name << "\": \"a.safetensors\"";
  index << "}}";
  index.close();
  auto remarks =
      made->loadWeights({folder.file("model.safetensors.index.json")});
  ASSERT_TRUE(remarks.ok()) << remarks.status().message();
  ASSERT_EQ(remarks->size(), 1u);
  EXPECT_TRUE(has((*remarks)[0], "'extra'")) << (*remarks)[0];
  EXPECT_EQ(std::memcmp(made->parameters().at(first).data(),
                        tied.begin()->second.data(), 64),
            0);
}

} // namespace

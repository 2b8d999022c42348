// pipec.h: a package is trained, with the numbers of the C++ interface.
#include "compiler/PackageWriter.h"
#include "pipec/trainer.h"
#include "runtime/base/safetensors.h"
#include "test/unit/capi/CApi.h"
#include "test/unit/compiler/Models.h"

#include <cstring>

#include <atomic>
#include <cmath>
#include <thread>

using namespace pipec;
using namespace pipec::test;

namespace {

/// mlp3 in two stages; a step is 8 rows in 4 microbatches, classes in 0 to 9.
class CApiTraining : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(compile("train.pipe", true));
    ASSERT_C_OK(pipec_package_open(folder.file("train.pipe").c_str(), &package,
                                   error.at()));
    pipec_trainer_options_init(&options, sizeof options);
    options.optimizer = "sgd";
    options.lr = 0.1;
    options.momentum = 0.9;
    trainer = createTrainer();
    for (size_t i = 0; i < x.data.size(); ++i)
      x.data[i] = float((i * 7) % 13) / 6.5f - 1;
    for (size_t i = 0; i < labels.data.size(); ++i)
      labels.data[i] = int64_t(i) % 3;
    batch = {x.view(), labels.view()};
  }
  ~CApiTraining() override {
    pipec_trainer_free(trainer);
    pipec_package_free(package);
  }

  void compile(const std::string &name, bool training) {
    CompileOptions compileOptions;
    compileOptions.stages = 2;
    compileOptions.microbatches = 4;
    compileOptions.bindings["batch"] = 8;
    if (training) {
      TrainingOptions &options = compileOptions.training.emplace();
      options.loss = TrainingOptions::Loss::CrossEntropy;
      options.freeze = {"layer1.lin.bias"};
    }
    auto model = compileModel(modelPath("mlp3"), compileOptions, ignore);
    ASSERT_TRUE(model.ok()) << model.status().message();
    ASSERT_TRUE(writePackage(*model, folder.file(name), {}, ignore).ok());
  }
  pipec_trainer *createTrainer() {
    pipec_trainer *made = nullptr;
    EXPECT_EQ(pipec_trainer_create(package, &options, &made, error.at()),
              PIPEC_OK)
        << error.text();
    return made;
  }
  pipec_step_result step(pipec_trainer *which) {
    pipec_step_result result = {};
    result.size = sizeof result;
    EXPECT_EQ(pipec_trainer_step(which, batch.data(), batch.size(), &result,
                                 error.at()),
              PIPEC_OK)
        << error.text();
    return result;
  }
  pipec_tensors *tensors(pipec_trainer *which, int32_t kind) {
    pipec_tensors *list = nullptr;
    EXPECT_EQ(pipec_trainer_tensors(which, kind, &list, error.at()), PIPEC_OK)
        << error.text();
    return list;
  }
  /// Copies everything of a kind from one trainer to another.
  void transfer(pipec_trainer *from, pipec_trainer *to, int32_t kind) {
    pipec_tensors *list = tensors(from, kind);
    std::vector<pipec_tensor> values(pipec_tensors_count(list));
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_C_OK(pipec_tensors_get(list, i, &values[i], error.at()));
    EXPECT_FALSE(values.empty());
    ASSERT_C_OK(pipec_trainer_write(to, kind, values.data(), values.size(),
                                    error.at()));
    pipec_tensors_free(list);
  }

  TestFolder folder;
  CError error;
  pipec_package *package = nullptr;
  pipec_trainer_options options = {};
  pipec_trainer *trainer = nullptr;
  COwned<float> x{"x", PIPEC_F32, {8, 16}};
  COwned<int64_t> labels{"labels", PIPEC_I64, {8}};
  std::vector<pipec_tensor> batch;
};

TEST_F(CApiTraining, TrainsWithTheBitsOfTheCppInterface) {
  EXPECT_EQ(pipec_package_is_trainable(package), 1);
  EXPECT_EQ(pipec_trainer_microbatches(trainer), 4);
  auto opened = Package::open(folder.file("train.pipe"));
  ASSERT_TRUE(opened.ok());
  TrainerOptions same;
  same.optimizer.kind = "sgd";
  same.optimizer.lr = 0.1;
  same.optimizer.momentum = 0.9;
  auto reference = Trainer::create(*opened, same);
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  TensorMap inputs;
  inputs.emplace("x", *Tensor::copyOf({DType::F32, {8, 16}}, x.data.data()));
  inputs.emplace("labels",
                 *Tensor::copyOf({DType::I64, {8}}, labels.data.data()));
  double first = 0, last = 0;
  for (int i = 0; i < 5; ++i) {
    auto expected = (*reference)->step(inputs);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    pipec_step_result result = step(trainer);
    EXPECT_EQ(result.step, i);
    EXPECT_EQ(result.loss, expected->loss);
    EXPECT_EQ(result.gradient_norm, expected->gradientNorm);
    EXPECT_EQ(result.learning_rate, 0.1);
    first = i ? first : result.loss;
    last = result.loss;
  }
  EXPECT_LT(last, first);
  EXPECT_EQ(pipec_trainer_next_step(trainer), 5);
}

TEST_F(CApiTraining, ReadsAllThatATrainerHolds) {
  step(trainer);
  for (int32_t kind :
       {PIPEC_PARAMETERS, PIPEC_GRADIENTS, PIPEC_OPTIMIZER_STATE}) {
    pipec_tensors *list = tensors(trainer, kind);
    EXPECT_GE(pipec_tensors_count(list), 7u) << kind;
    pipec_tensors_free(list);
  }
  pipec_tensors *buffers = tensors(trainer, PIPEC_BUFFERS);
  EXPECT_EQ(pipec_tensors_count(buffers), 0u);
  pipec_tensors_free(buffers);
  pipec_tensors *parameters = tensors(trainer, PIPEC_PARAMETERS);
  pipec_trainer_free(trainer); // the list keeps its bytes
  trainer = nullptr;
  pipec_tensor weight = {};
  ASSERT_C_OK(
      pipec_tensors_find(parameters, "layer0.lin.weight", &weight, error.at()));
  EXPECT_EQ(weight.shape[0], 16);
  EXPECT_NE(static_cast<float *>(weight.data)[0], 0);
  pipec_tensors_free(parameters);
}

TEST_F(CApiTraining, GoesOnFromWhatWasWritten) {
  step(trainer);
  pipec_trainer *other = createTrainer();
  transfer(trainer, other, PIPEC_PARAMETERS);
  transfer(trainer, other, PIPEC_OPTIMIZER_STATE);
  ASSERT_C_OK(pipec_trainer_set_next_step(
      other, pipec_trainer_next_step(trainer), error.at()));
  EXPECT_EQ(step(other).loss, step(trainer).loss);
  EXPECT_EQ(step(other).loss, step(trainer).loss); // momentum came along
  pipec_trainer_free(other);
}

TEST_F(CApiTraining, SavesParameters) {
  const std::string path = folder.file("learned.safetensors");
  step(trainer);
  ASSERT_C_OK(
      pipec_trainer_save_parameters(trainer, path.c_str(), 0, error.at()));
  EXPECT_C_ERROR(
      pipec_trainer_save_parameters(trainer, path.c_str(), 0, error.at()),
      PIPEC_IO, "exists");
  ASSERT_C_OK(
      pipec_trainer_save_parameters(trainer, path.c_str(), 1, error.at()));
  auto saved = loadSafetensors(path);
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved->size(), 8u);
  pipec_tensors *list = tensors(trainer, PIPEC_PARAMETERS);
  pipec_tensor weight = {};
  ASSERT_C_OK(
      pipec_tensors_find(list, "output_proj.weight", &weight, error.at()));
  const Tensor &same = saved->at("output_proj.weight");
  EXPECT_EQ(std::memcmp(weight.data, same.data(), same.byteSize()), 0);
  pipec_tensors_free(list);
}

TEST_F(CApiTraining, GoesOnFromACheckpoint) {
  const std::string run = folder.file("run");
  step(trainer);
  ASSERT_C_OK(
      pipec_trainer_save_checkpoint(trainer, run.c_str(), 0, error.at()));
  pipec_trainer *other = createTrainer();
  ASSERT_C_OK(pipec_trainer_resume(other, run.c_str(), error.at()));
  EXPECT_EQ(pipec_trainer_next_step(other), 1);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(step(other).loss, step(trainer).loss);
  EXPECT_C_ERROR(
      pipec_trainer_resume(other, folder.file("none").c_str(), error.at()),
      PIPEC_INVALID_ARGUMENT, "is no checkpoint");
  EXPECT_C_ERROR(pipec_trainer_resume(other, nullptr, error.at()),
                 PIPEC_INVALID_ARGUMENT, "NULL");
  EXPECT_C_ERROR(pipec_trainer_save_checkpoint(trainer, nullptr, 0, error.at()),
                 PIPEC_INVALID_ARGUMENT, "NULL");
  pipec_trainer_free(other);
}

TEST_F(CApiTraining, ATrainerUsedBySeveralThreadsSaysSo) {
  std::atomic<int> right{0}, refused{0}, other{0};
  auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      CError failure;
      const pipec_status status =
          pipec_trainer_step(trainer, batch.data(), 2, nullptr, failure.at());
      const bool isRefused =
          status == PIPEC_INVALID_ARGUMENT &&
          failure.text().find("in use by another thread") != std::string::npos;
      ++(status == PIPEC_OK ? right : isRefused ? refused : other);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(other, 0);
  EXPECT_EQ(right + refused, 200);
  EXPECT_EQ(pipec_trainer_next_step(trainer), right);
}

TEST_F(CApiTraining, RefusesWrongArguments) {
  pipec_trainer *other = nullptr;
  pipec_tensors *list = nullptr;
  options.optimizer = "no-such";
  EXPECT_C_ERROR(pipec_trainer_create(package, &options, &other, error.at()),
                 PIPEC_INVALID_ARGUMENT, "optimizer must be sgd");
  EXPECT_EQ(error.text().find("--"), std::string::npos) << error.text();
  options.optimizer = "sgd";
  for (double pipec_trainer_options::*field :
       {&pipec_trainer_options::weight_decay, &pipec_trainer_options::lr,
        &pipec_trainer_options::momentum, &pipec_trainer_options::dampening,
        &pipec_trainer_options::clip_norm}) {
    pipec_trainer_options wrong = options;
    wrong.*field = std::nan("");
    EXPECT_C_ERROR(pipec_trainer_create(package, &wrong, &other, error.at()),
                   PIPEC_INVALID_ARGUMENT, " must be a");
    EXPECT_EQ(error.text().find("--"), std::string::npos) << error.text();
  }
  for (int32_t pipec_trainer_options::*flag :
       {&pipec_trainer_options::nesterov,
        &pipec_trainer_options::transmit_shared_weights,
        &pipec_trainer_options::reference_kernels,
        &pipec_trainer_options::check_numerics}) {
    pipec_trainer_options wrong = options;
    wrong.*flag = -1;
    EXPECT_C_ERROR(pipec_trainer_create(package, &wrong, &other, error.at()),
                   PIPEC_INVALID_ARGUMENT, "is -1, expected 0 or 1");
  }
  EXPECT_C_ERROR(
      pipec_trainer_save_parameters(trainer, "unused", 2, error.at()),
      PIPEC_INVALID_ARGUMENT, "overwrite is 2, expected 0 or 1");
  ASSERT_NO_FATAL_FAILURE(compile("run.pipe", false));
  pipec_package *inference = nullptr;
  ASSERT_C_OK(pipec_package_open(folder.file("run.pipe").c_str(), &inference,
                                 error.at()));
  EXPECT_C_ERROR(pipec_trainer_create(inference, nullptr, &other, error.at()),
                 PIPEC_INVALID_ARGUMENT, "inference");
  pipec_package_free(inference);
  EXPECT_C_ERROR(
      pipec_trainer_step(nullptr, batch.data(), 2, nullptr, error.at()),
      PIPEC_INVALID_ARGUMENT, "NULL");
  EXPECT_C_ERROR(pipec_trainer_step(reinterpret_cast<pipec_trainer *>(package),
                                    batch.data(), 2, nullptr, error.at()),
                 PIPEC_INVALID_ARGUMENT, "another kind");
  EXPECT_C_ERROR(
      pipec_trainer_step(trainer, batch.data(), 1, nullptr, error.at()),
      PIPEC_INVALID_ARGUMENT, "labels");
  pipec_step_result result = {};
  EXPECT_C_ERROR(
      pipec_trainer_step(trainer, batch.data(), 2, &result, error.at()),
      PIPEC_INVALID_ARGUMENT, "size");
  EXPECT_C_ERROR(pipec_trainer_tensors(trainer, 9, &list, error.at()),
                 PIPEC_INVALID_ARGUMENT, "kind");
  EXPECT_C_ERROR(pipec_trainer_tensors(trainer, 0, nullptr, error.at()),
                 PIPEC_INVALID_ARGUMENT, "NULL");
  EXPECT_C_ERROR(pipec_trainer_set_next_step(trainer, -1, error.at()),
                 PIPEC_INVALID_ARGUMENT, "-1");
  EXPECT_C_ERROR(pipec_trainer_save_parameters(trainer, nullptr, 0, error.at()),
                 PIPEC_INVALID_ARGUMENT, "NULL");
  EXPECT_EQ(pipec_trainer_next_step(trainer), 0); // nothing was stepped
}

TEST_F(CApiTraining, RefusesNumbersThatNothingCanCount) {
  pipec_trainer *other = nullptr;
  for (int64_t parts : {int64_t(0), int64_t(-3), int64_t(1) << 62}) {
    options.accumulate = parts;
    EXPECT_EQ(pipec_trainer_create(package, &options, &other, error.at()),
              PIPEC_INVALID_ARGUMENT);
    EXPECT_NE(error.text().find("accumulate"), std::string::npos);
  }
  for (int64_t next : {int64_t(-1), INT64_MAX})
    EXPECT_EQ(pipec_trainer_set_next_step(trainer, next, error.at()),
              PIPEC_INVALID_ARGUMENT);
  EXPECT_EQ(pipec_trainer_next_step(trainer), 0);
  const std::string checkpoints = folder.file("none");
  EXPECT_EQ(pipec_trainer_save_checkpoint(trainer, checkpoints.c_str(), -5,
                                          error.at()),
            PIPEC_INVALID_ARGUMENT);
}

TEST_F(CApiTraining, TiedNamesTakeOneValue) {
  CompileOptions tied;
  tied.bindings["batch"] = 8;
  tied.training.emplace().loss = TrainingOptions::Loss::CrossEntropy;
  auto model = compileModel(modelPath("tiny-gpt"), tied, ignore);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_TRUE(writePackage(*model, folder.file("tied.pipe"), {}, ignore).ok());
  pipec_package *opened = nullptr;
  ASSERT_C_OK(pipec_package_open(folder.file("tied.pipe").c_str(), &opened,
                                 error.at()));
  pipec_trainer *own = nullptr;
  ASSERT_C_OK(pipec_trainer_create(opened, &options, &own, error.at()));
  auto reference = Package::open(folder.file("tied.pipe"));
  auto names = (*Trainer::create(*reference, {}))->aliases();
  ASSERT_FALSE(names.empty());
  const auto &[first, others] = *names.begin();
  pipec_tensors *list = tensors(own, PIPEC_PARAMETERS);
  pipec_tensor held = {};
  ASSERT_C_OK(pipec_tensors_find(list, first.c_str(), &held, error.at()));
  size_t count = 1;
  for (int32_t i = 0; i < held.rank; ++i)
    count *= size_t(held.shape[i]);
  std::vector<float> ones(count, 1), twos(count, 2);
  pipec_tensor given[] = {held, held};
  given[1].name = others.at(0).c_str();
  given[0].data = ones.data();
  given[1].data = twos.data();
  const float before = static_cast<float *>(held.data)[0];
  EXPECT_EQ(pipec_trainer_write(own, PIPEC_PARAMETERS, given, 2, error.at()),
            PIPEC_INVALID_ARGUMENT);
  EXPECT_NE(error.text().find("one tied tensor"), std::string::npos);
  EXPECT_EQ(static_cast<float *>(held.data)[0], before);
  given[1].data = ones.data();
  ASSERT_C_OK(pipec_trainer_write(own, PIPEC_PARAMETERS, given, 2, error.at()));
  EXPECT_EQ(static_cast<float *>(held.data)[0], 1);
  pipec_tensors_free(list);
  pipec_trainer_free(own);
  pipec_package_free(opened);
}

TEST_F(CApiTraining, WritesAllOrNothing) {
  COwned<float> bias{"output_proj.bias", PIPEC_F32, {10}};
  COwned<float> shorter{"layer0.lin.bias", PIPEC_F32, {3}};
  COwned<float> unknown{"layer9.bias", PIPEC_F32, {10}};
  auto write = [&](int32_t kind, std::vector<pipec_tensor> values) {
    return pipec_trainer_write(trainer, kind, values.data(), values.size(),
                               error.at());
  };
  pipec_step_result before = step(trainer);
  EXPECT_C_ERROR(write(PIPEC_PARAMETERS, {bias.view(), shorter.view()}),
                 PIPEC_INVALID_ARGUMENT, "expected f32[16]");
  EXPECT_C_ERROR(write(PIPEC_PARAMETERS, {bias.view(), unknown.view()}),
                 PIPEC_INVALID_ARGUMENT, "layer9.bias");
  COwned<float> frozen{"layer1.lin.bias", PIPEC_F32, {32}};
  EXPECT_C_ERROR(write(PIPEC_PARAMETERS, {frozen.view()}),
                 PIPEC_INVALID_ARGUMENT, "is frozen");
  EXPECT_C_ERROR(write(PIPEC_GRADIENTS, {bias.view()}), PIPEC_INVALID_ARGUMENT,
                 "gradients");
  pipec_tensors *list = tensors(trainer, PIPEC_PARAMETERS);
  pipec_tensor held = {};
  ASSERT_C_OK(pipec_tensors_find(list, "output_proj.bias", &held, error.at()));
  EXPECT_NE(static_cast<float *>(held.data)[0], 0);
  EXPECT_EQ(write(PIPEC_PARAMETERS, {bias.view()}), PIPEC_OK);
  EXPECT_EQ(static_cast<float *>(held.data)[0], 0);
  EXPECT_NE(step(trainer).loss, before.loss);
  pipec_tensors_free(list);
}

} // namespace

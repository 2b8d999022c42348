// Training steps on hand-made packages: the same bits in every schedule and on
// a device that delays whatever it may, gradients that finite differences
// confirm, peaks that the simulation foretells, failures that end all ranks.
#include "passes/schedule/Generate.h"
#include "passes/schedule/Simulate.h"
#include "runtime/base/safetensors.h"
#include "runtime/package/package_impl.h"
#include "runtime/training/rank_worker.h"
#include "runtime/training/trainer_access.h"
#include "test/unit/runtime/DelayingDevice.h"
#include "test/unit/runtime/OpenTraining.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

namespace pipec::test {
namespace {

struct Case {
  const char *schedule;
  int64_t stages, ranks, microbatches;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char *schedule : {"gpipe", "1f1b", "zb-h1"})
    for (int64_t stages : {1, 2, 3, 4})
      for (int64_t m : {1, 3, 4, 8})
        all.push_back({schedule, stages, stages, m});
  for (const char *schedule :
       {"looped-bfs", "interleaved-1f1b", "interleaved-zb"})
    for (int64_t m : {2, 4, 5, 8}) {
      all.push_back({schedule, 4, 2, m});
      all.push_back({schedule, 4, 1, m});
    }
  for (int64_t m : {1, 4, 8})
    all.push_back({"zb-v", 4, 2, m});
  for (int64_t m : {4, 8})
    all.push_back({"dualpipe-v", 4, 2, m});
  return all;
}

TrainerOptions plainOptions() {
  TrainerOptions options;
  options.referenceKernels = true;
  options.optimizer.kind = "sgd";
  options.optimizer.lr = 0.1;
  options.optimizer.momentum = 0.9;
  return options;
}

/// Losses, and the bytes of gradients and parameters after three steps.
std::string trace(Trainer &trainer, const TensorMap &batch) {
  std::string bytes;
  for (int step = 0; step < 3; ++step) {
    auto result = trainer.step(batch);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok())
      return "";
    bytes.append(reinterpret_cast<const char *>(&result->loss), sizeof(double));
    bytes.append(reinterpret_cast<const char *>(&result->gradientNorm),
                 sizeof(double));
  }
  for (const TensorMap &tensors : {trainer.gradients(), trainer.parameters()})
    for (const auto &[name, tensor] : tensors)
      bytes += name + std::string(tensor.as<char>(), tensor.byteSize());
  return bytes;
}

std::string runCase(const Case &c, Device *device, TrainerOptions options,
                    std::vector<int64_t> *peaks = nullptr,
                    std::vector<double> *bytes = nullptr) {
  TempFolder folder;
  Package package = openTraining(folder / "m.pipe", c.schedule, c.stages,
                                 c.ranks, c.microbatches);
  auto trainer = TrainerAccess::create(package, options, device);
  EXPECT_TRUE(trainer.ok()) << trainer.status().message();
  if (!trainer.ok())
    return "";
  std::string result = trace(**trainer, trainingBatch(2 * c.microbatches));
  if (peaks)
    *peaks = (*trainer)->peakLive();
  if (bytes)
    for (uint64_t peak : (*trainer)->peakActivationBytes())
      bytes->push_back(static_cast<double>(peak));
  return result;
}

TEST(Trainer, SameBitsInEverySchedule) {
  std::map<std::pair<int64_t, int64_t>, std::string> first;
  for (const Case &c : cases())
    for (bool transmit : {false, true}) {
      TrainerOptions options = plainOptions();
      options.transmitSharedWeights = transmit;
      std::string bytes = runCase(c, nullptr, options);
      auto [at, isNew] =
          first.emplace(std::pair(c.stages, c.microbatches), bytes);
      EXPECT_EQ(bytes, at->second)
          << c.schedule << " stages " << c.stages << " microbatches "
          << c.microbatches << " transmit " << transmit;
    }
}

TEST(Trainer, SameBitsOnADeviceThatDelays) {
  for (const Case &c : cases()) {
    if (c.stages != 4 || c.microbatches > 5)
      continue;
    std::string expected = runCase(c, nullptr, plainOptions());
    for (uint32_t seed : {1u, 2u}) {
      DelayingDevice device(seed);
      EXPECT_EQ(runCase(c, &device, plainOptions()), expected)
          << c.schedule << " ranks " << c.ranks << " microbatches "
          << c.microbatches;
    }
  }
}

/// With two stages a rank, on three and four ranks.
std::vector<Case> widerCases() {
  std::vector<Case> all = cases();
  for (const char *schedule : {"looped-bfs", "interleaved-1f1b",
                               "interleaved-zb", "zb-v", "dualpipe-v"})
    for (int64_t ranks : {3, 4})
      for (int64_t m : {8, 12})
        all.push_back({schedule, 2 * ranks, ranks, m});
  return all;
}

TEST(Trainer, PeaksAreTheSimulatedOnes) {
  for (const Case &c : widerCases()) {
    auto schedule = makeSchedule(c.schedule, c.stages, c.ranks, c.microbatches);
    ASSERT_TRUE(schedule.ok());
    TempFolder folder;
    Package package = openTraining(folder / "m.pipe", c.schedule, c.stages,
                                   c.ranks, c.microbatches);
    StageGraph graph = package.impl().stageGraph();
    adaptBackward(*schedule, graph);
    SimulationOptions sizes;
    for (size_t s = 0; s < package.impl().stages.size(); ++s)
      sizes.memory.push_back(
          {static_cast<double>(package.impl().contextBytes[s][0]),
           static_cast<double>(package.impl().contextWeightBytes[s][0]), 0});
    auto simulation = simulateSchedule(*schedule, graph, sizes);
    ASSERT_TRUE(simulation.ok()) << simulation.status().message();
    std::vector<int64_t> peaks;
    std::vector<double> bytes;
    runCase(c, nullptr, plainOptions(), &peaks, &bytes);
    SCOPED_TRACE(std::string(c.schedule) + ", stages " +
                 std::to_string(c.stages) + ", ranks " +
                 std::to_string(c.ranks) + ", microbatches " +
                 std::to_string(c.microbatches));
    EXPECT_EQ(peaks, simulation->peakLive);
    EXPECT_EQ(bytes, simulation->peakMemory);
  }
}

TEST(Trainer, AContextIsFreeOnlyWhenWhatItsPhaseMadeIsSent) {
  using Kind = ScheduleAction::Kind;
  auto action = [](Kind kind, int64_t microbatch, int64_t peer = -1) {
    ScheduleAction made;
    made.kind = kind;
    made.stage = 1;
    made.microbatch = microbatch;
    made.peerStage = peer;
    return made;
  };
  const ScheduleList list = {
      action(Kind::BackwardInput, 0), action(Kind::ReceiveForward, 1, 0),
      action(Kind::SendGradient, 0, 0), action(Kind::Forward, 1),
      action(Kind::BackwardWeight, 0)};
  const std::vector<std::optional<size_t>> expected = {std::nullopt,
                                                       std::nullopt, 0, 3, 4};
  EXPECT_EQ(releases(list), expected);
}

TEST(Trainer, GradientsAreThoseOfTheLoss) {
  TempFolder folder;
  Package package = openTraining(folder / "m.pipe", "1f1b", 3, 3, 2);
  TrainerOptions options = plainOptions();
  options.optimizer.lr = 0;
  auto trainer = Trainer::create(package, options);
  ASSERT_TRUE(trainer.ok()) << trainer.status().message();
  const TensorMap batch = trainingBatch(4);
  ASSERT_TRUE((*trainer)->step(batch).ok());
  std::map<std::string, std::vector<float>> gradients; // steps write over them
  for (const auto &[name, gradient] : (*trainer)->gradients())
    gradients[name].assign(gradient.as<float>(),
                           gradient.as<float>() + gradient.numElements());
  for (const auto &[name, expected] : gradients) {
    float *values =
        const_cast<float *>((*trainer)->parameters().at(name).as<float>());
    for (int64_t i : {0, 5, 15}) {
      constexpr float kStep = 1e-2f;
      const float kept = values[i];
      double losses[2];
      for (int side : {0, 1}) {
        values[i] = kept + (side ? kStep : -kStep);
        (*trainer)->weightsChanged();
        losses[side] = (*trainer)->step(batch)->loss;
      }
      values[i] = kept;
      (*trainer)->weightsChanged();
      EXPECT_NEAR((losses[1] - losses[0]) / (2 * kStep), expected[i],
                  2e-3 * (1 + std::abs(expected[i])))
          << name << " " << i;
    }
  }
}

TEST(Trainer, AccumulationIsOneUpdateOfAllRows) {
  TempFolder folder;
  Package four = openTraining(folder / "4.pipe", "1f1b", 2, 2, 4);
  Package two = openTraining(folder / "2.pipe", "1f1b", 2, 2, 2);
  TrainerOptions options = plainOptions();
  auto whole = Trainer::create(four, options);
  options.accumulate = 2;
  auto parts = Trainer::create(two, options);
  ASSERT_TRUE(whole.ok() && parts.ok());
  EXPECT_EQ(trace(**whole, trainingBatch(8)), trace(**parts, trainingBatch(8)));
}

TEST(Trainer, BackwardsInAnotherOrderGiveTheSameBits) {
  const std::string expected =
      runCase({"gpipe", 3, 3, 4}, nullptr, plainOptions());
  auto schedule = makeSchedule("gpipe", 3, 3, 4);
  ASSERT_TRUE(schedule.ok());
  for (ScheduleList &list : schedule->lists)
    std::reverse(list.begin() + 4, list.end()); // all forwards come first
  TrainingPackage package(3);
  ASSERT_TRUE(package.setSchedule(*schedule).ok());
  TempFolder folder;
  ASSERT_TRUE(package.write(folder / "m.pipe").ok());
  auto opened = Package::open(folder / "m.pipe");
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  auto trainer = Trainer::create(*opened, plainOptions());
  ASSERT_TRUE(trainer.ok()) << trainer.status().message();
  EXPECT_EQ(trace(**trainer, trainingBatch(8)), expected);
}

TEST(Trainer, ANumericErrorStopsAllRanksSoon) {
  TempFolder folder;
  Package package = openTraining(folder / "m.pipe", "1f1b", 4, 4, 8);
  TrainerOptions options = plainOptions();
  options.checkNumerics = true;
  auto trainer = Trainer::create(package, options);
  ASSERT_TRUE(trainer.ok());
  TensorMap batch = trainingBatch(16);
  Tensor ones = *Tensor::copyOf(batch["x"].type(), batch["x"].data());
  std::fill_n(ones.as<float>(), ones.numElements(), 1.0f);
  batch["x"] = ones;
  ASSERT_TRUE((*trainer)->step(batch).ok());
  auto *weight =
      const_cast<float *>((*trainer)->parameters().at("w0").as<float>());
  const std::vector<float> kept(weight, weight + 16);
  std::fill_n(weight, 16, std::numeric_limits<float>::max());
  const auto start = std::chrono::steady_clock::now();
  auto result = (*trainer)->step(batch);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  ASSERT_FALSE(result.ok());
  const std::string message = result.status().message();
  for (const char *part : {"infinity", "stage 0, microbatch 0", "layer0"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
  // The trainer goes on after the failure.
  std::copy(kept.begin(), kept.end(), weight);
  (*trainer)->weightsChanged();
  EXPECT_TRUE((*trainer)->step(batch).ok());
}

TEST(Trainer, RefusesWhatDoesNotFit) {
  TempFolder folder;
  Package package = openTraining(folder / "m.pipe", "gpipe", 2, 2, 2);
  auto trainer = Trainer::create(package, plainOptions());
  ASSERT_TRUE(trainer.ok());
  auto rows = (*trainer)->step(trainingBatch(6));
  EXPECT_FALSE(rows.ok());
  auto names = (*trainer)->step({{"y", pattern({4, 4}, 1)}});
  ASSERT_FALSE(names.ok());
  EXPECT_NE(names.status().message().find("missing: 'x'"), std::string::npos);
  TrainerOptions options = plainOptions();
  options.memoryLimit = 100;
  EXPECT_FALSE(Trainer::create(package, options).ok());
  options = plainOptions();
  options.optimizer.kind = "lion";
  EXPECT_FALSE(Trainer::create(package, options).ok());
}

/// A weight that nothing reads: [4, 4] as that of the stage.
void addUnread(TrainingPackage &package, int stage, const std::string &name,
               schema::WeightKind kind) {
  auto *weights = package.manifest.mutable_stages(stage)->mutable_weights();
  schema::Weight weight = weights->Get(0);
  weight.set_name(name);
  weight.clear_aliases();
  weight.set_kind(kind);
  weight.set_unread(true);
  *weights->Add() = weight;
  package.weights[stage].emplace(name, pattern({4, 4}, 7));
}

TEST(Trainer, WhatNoProgramReadsIsKeptAsItIs) {
  TempFolder folder;
  TrainingPackage made(2);
  ASSERT_TRUE(made.setSchedule(*makeSchedule("1f1b", 2, 2, 2)).ok());
  ASSERT_TRUE(made.write(folder / "plain.pipe").ok());
  addUnread(made, 1, "head", schema::PARAMETER);
  addUnread(made, 1, "table", schema::BUFFER);
  ASSERT_TRUE(made.write(folder / "m.pipe").ok());
  Package package = *Package::open(folder / "m.pipe");
  auto first = Trainer::create(package, plainOptions());
  ASSERT_TRUE(first.ok()) << first.status().message();
  Trainer *trainer = first->get();
  ASSERT_TRUE(trainer->step(trainingBatch(4)).ok());
  auto bytes = [](const TensorMap &all, const char *name) {
    const Tensor &tensor = all.at(name);
    return std::string(tensor.as<char>(), tensor.byteSize());
  };
  const TensorMap start{{"head", pattern({4, 4}, 7)}};
  EXPECT_EQ(bytes(trainer->parameters(), "head"), bytes(start, "head"));
  EXPECT_EQ(bytes(trainer->buffers(), "table"), bytes(start, "head"));
  EXPECT_EQ(trainer->trainedParameters().count("head"), 0u);
  // They stay mapped.
  auto need = TrainerAccess::count(package, plainOptions());
  auto plain = TrainerAccess::count(*Package::open(folder / "plain.pipe"), {});
  ASSERT_TRUE(need.ok() && plain.ok());
  EXPECT_EQ(need->stageBytes[1], plain->stageBytes[1]);

  // Other values come and go as those of parameters that are read.
  TensorMap file = trainer->parameters();
  for (const auto &[name, tensor] : trainer->buffers())
    file.emplace(name, tensor);
  file["head"] = pattern({4, 4}, 8);
  file["table"] = pattern({4, 4}, 9);
  ASSERT_TRUE(saveSafetensors(folder / "w.safetensors", file, false).ok());
  auto remarks = trainer->loadWeights({folder / "w.safetensors"});
  ASSERT_TRUE(remarks.ok()) << remarks.status().message();
  EXPECT_TRUE(remarks->empty());
  EXPECT_EQ(bytes(trainer->parameters(), "head"), bytes(file, "head"));
  EXPECT_EQ(bytes(trainer->buffers(), "table"), bytes(file, "table"));
  ASSERT_TRUE(trainer->saveCheckpoint(folder / "ck", {}).ok());
  auto second = Trainer::create(package, plainOptions());
  ASSERT_TRUE(second.ok()) << second.status().message();
  Trainer *other = second->get();
  ASSERT_TRUE(other->resume(folder / "ck", {}).ok());
  EXPECT_EQ(bytes(other->parameters(), "head"), bytes(file, "head"));
  EXPECT_EQ(bytes(other->buffers(), "table"), bytes(file, "table"));

  // Files may lack them.
  file.erase("head");
  file.erase("table");
  ASSERT_TRUE(saveSafetensors(folder / "v.safetensors", file, false).ok());
  remarks = other->loadWeights({folder / "v.safetensors"});
  ASSERT_TRUE(remarks.ok()) << remarks.status().message();
  EXPECT_EQ(remarks->size(), 2u);
}

TEST(Trainer, AWeightThatIsReadIsNotCalledUnread) {
  TempFolder folder;
  TrainingPackage made(2);
  ASSERT_TRUE(made.setSchedule(*makeSchedule("1f1b", 2, 2, 2)).ok());
  made.manifest.mutable_stages(1)->mutable_weights(0)->set_unread(true);
  made.manifest.mutable_stages(1)->clear_sites();
  ASSERT_TRUE(made.write(folder / "m.pipe").ok());
  const Status status = Package::open(folder / "m.pipe").status();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("which no program reads by the manifest"),
            std::string::npos)
      << status.message();
}

} // namespace
} // namespace pipec::test

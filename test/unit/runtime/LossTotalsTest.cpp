// What a mean of the model's own is taken over: totals added up, and packages
// that make them (`loss_totals`), right and wrong in each way.
#include "passes/schedule/Generate.h"
#include "pipec/trainer.h"
#include "runtime/training/feed.h"
#include "test/unit/runtime/TrainingPackage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace pipec::test {
namespace {

template <typename T> Tensor scalar(DType dtype, T value) {
  return *Tensor::copyOf({dtype, {}}, &value);
}

TEST(LossTotals, AddsInWideNumbers) {
  LossTotals totals;
  // 2^24 + 1 + 1 in f32 is 2^24.
  for (float part : {16777216.f, 1.f, 1.f})
    totals.add({{3, scalar(DType::F32, part)}, {5, scalar(DType::I32, 7)}});
  auto sum = totals.total(3, {DType::F32, {}});
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(*sum->as<float>(), 16777218.f);
  auto count = totals.total(5, {DType::I32, {}});
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(*count->as<int32_t>(), 21);
}

TEST(LossTotals, AddsElementByElement) {
  LossTotals totals;
  totals.add({{0, i64({2}, {1, 2})}});
  totals.add({{0, i64({2}, {10, INT64_MAX})}});
  auto sum = totals.total(0, {DType::I64, {2}});
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(sum->as<int64_t>()[0], 11);
  EXPECT_EQ(sum->as<int64_t>()[1], INT64_MIN + 1); // wraps
}

TEST(LossTotals, IsZeroWhereNothingWasAdded) {
  auto sum = LossTotals().total(0, {DType::F32, {2}});
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(sum->as<float>()[0], 0);
  EXPECT_EQ(sum->as<float>()[1], 0);
}

TEST(LossTotals, KeepsNaNAndRefusesOtherTypes) {
  LossTotals totals;
  totals.add({{0, scalar(DType::F64, std::nan(""))}});
  EXPECT_TRUE(std::isnan(*totals.total(0, {DType::F64, {}})->as<double>()));
  auto bad = totals.total(1, {DType::Bool, {}});
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.status().message().find("expected f32, f64 or an integer"),
            std::string::npos);
}

/// A chain of two stages whose loss is divided by the sum of x over the whole
/// batch: the last stage makes the parts of that sum.
struct PackageWithTotals : TrainingPackage {
  explicit PackageWithTotals(bool readsTotal = true) : TrainingPackage(2) {
    EXPECT_TRUE(setSchedule(*makeSchedule("gpipe", 2, 2, 2)).ok());
    auto *input = manifest.add_inputs();
    input->set_name("loss_total");
    input->set_whole(true);
    input->set_role(schema::LOSS_TOTAL);
    input->add_types()->set_dtype(schema::F32);
    index = manifest.inputs_size() - 1;
    manifest.mutable_stages(1)->set_loss_totals(true);
    writeTotals();
    if (readsTotal)
      readTotal();
  }

  void writeTotals() {
    schema::Program &program = totals;
    auto *x = program.add_inputs();
    x->set_name("x");
    setType(x->mutable_type(), {2, 4});
    x->set_graph_input(0);
    auto *value = program.add_values();
    setType(value->mutable_type(), {2, 4});
    value->set_input(0);
    auto *sum = program.add_values();
    setType(sum->mutable_type(), {});
    sum->set_arena_offset(0);
    program.set_arena_bytes(64);
    auto *reduce = program.add_instructions();
    reduce->set_op("reduce");
    reduce->add_inputs(0);
    reduce->add_outputs(1);
    schema::Attribute kind;
    kind.set_name("kind");
    kind.set_s("sum");
    *reduce->add_attributes() = kind;
    *reduce->add_attributes() = intsAttr("dims", {0, 1});
    auto *output = program.add_outputs();
    output->set_value(1);
    output->set_loss_total(index);
  }

  /// The loss of the last stage, divided by the total.
  void readTotal() {
    schema::Program &program = forward[1];
    auto *input = program.add_inputs();
    input->set_name("loss_total");
    setType(input->mutable_type(), {});
    input->set_graph_input(index);
    program.add_values()->set_input(program.inputs_size() - 1);
    const uint32_t total = program.values_size() - 1;
    setType(program.mutable_values(total)->mutable_type(), {});
    auto *result = program.add_values();
    setType(result->mutable_type(), {});
    result->set_arena_offset(program.arena_bytes());
    program.set_arena_bytes(program.arena_bytes() + 64);
    auto *div = program.add_instructions();
    div->set_op("div");
    for (auto &output : *program.mutable_outputs()) {
      div->add_inputs(output.value());
      output.set_value(program.values_size() - 1);
    }
    div->add_inputs(total);
    div->add_outputs(program.values_size() - 1);
  }

  static void setType(schema::TensorType *type, const Shape &shape) {
    type->set_dtype(schema::F32);
    for (int64_t size : shape)
      type->add_shape(size);
  }

  /// `stages`: whose folders get the program.
  Status writeAll(const std::string &path,
                  const std::vector<int> &stages = {1}) const {
    PIPEC_RETURN_IF_ERROR(write(path));
    for (int stage : stages)
      std::ofstream(path + "/stage" + std::to_string(stage) +
                        "/loss_totals0.pb",
                    std::ios::binary)
          << totals.SerializeAsString();
    return {};
  }

  uint32_t index = 0;
  schema::Program totals;
};

template <typename Spoil>
std::string openSpoiled(Spoil spoil, const std::vector<int> &stages = {1}) {
  PackageWithTotals package;
  spoil(package);
  TempFolder folder;
  EXPECT_TRUE(package.writeAll(folder / "m.pipe", stages).ok());
  auto opened = Package::open(folder / "m.pipe");
  return opened.ok() ? "" : opened.status().message();
}

double lossOfStep(const TrainingPackage &package, bool hasTotals) {
  TempFolder folder;
  const std::string path = folder / "m.pipe";
  EXPECT_TRUE(package.write(path).ok());
  if (hasTotals) {
    auto &whole = static_cast<const PackageWithTotals &>(package);
    EXPECT_TRUE(whole.writeAll(path).ok());
  }
  auto opened = Package::open(path);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  auto trainer = Trainer::create(*opened, {});
  EXPECT_TRUE(trainer.ok()) << trainer.status().message();
  auto result = (*trainer)->step(trainingBatch(4));
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? result->loss : 0;
}

TEST(LossTotalsPackage, FeedsTheWholeBatchsTotal) {
  PackageWithTotals package;
  TrainingPackage plain(2);
  ASSERT_TRUE(plain.setSchedule(*makeSchedule("gpipe", 2, 2, 2)).ok());
  double total = 0;
  const TensorMap batch = trainingBatch(4);
  for (int64_t i = 0; i < 16; ++i)
    total += batch.at("x").as<float>()[i];
  const double want = lossOfStep(plain, false) / total;
  EXPECT_NEAR(lossOfStep(package, true), want, 1e-5 * std::abs(want));
}

TEST(LossTotalsPackage, RefusesWhatIsMissing) {
  using P = PackageWithTotals;
  EXPECT_EQ(openSpoiled([](P &) {}), "");
  EXPECT_NE(openSpoiled([](P &) {}, {}).find("loss_totals0.pb"),
            std::string::npos);
  EXPECT_NE(openSpoiled([](P &) {}, {0}).find("loss_totals0.pb"),
            std::string::npos);
  EXPECT_NE(openSpoiled([](P &p) {
              p.manifest.mutable_stages(1)->set_loss_totals(false);
            }).find("0 stages make the totals of the loss"),
            std::string::npos);
  EXPECT_NE(
      openSpoiled(
          [](P &p) { p.manifest.mutable_stages(0)->set_loss_totals(true); },
          {0, 1})
          .find("2 stages make the totals of the loss"),
      std::string::npos);
  EXPECT_NE(openSpoiled([](P &p) {
              p.totals.clear_outputs();
            }).find("makes not each total of the loss, or one twice"),
            std::string::npos);
  EXPECT_NE(openSpoiled([](P &p) {
              *p.totals.add_outputs() = p.totals.outputs(0);
            }).find("makes not each total of the loss, or one twice"),
            std::string::npos);
  // Another one that nothing makes.
  EXPECT_NE(openSpoiled([](P &p) {
              *p.manifest.add_inputs() = p.manifest.inputs(p.index);
              p.manifest.mutable_inputs(p.index + 1)->set_name("other");
            }).find("makes not each total of the loss, or one twice"),
            std::string::npos);
}

TEST(LossTotalsPackage, RefusesWrongRolesShapesAndTypes) {
  using P = PackageWithTotals;
  EXPECT_NE(openSpoiled([](P &p) {
              p.totals.mutable_outputs(0)->set_loss_total(0);
            }).find("is no total of the loss"),
            std::string::npos);
  EXPECT_NE(openSpoiled([](P &p) {
              p.totals.mutable_outputs(0)->set_loss_total(99);
            }).find("is no total of the loss"),
            std::string::npos);
  EXPECT_NE(openSpoiled([](P &p) {
              p.manifest.mutable_inputs(p.index)->set_role(schema::DATA);
            }),
            "");
  EXPECT_NE(openSpoiled([](P &p) {
              p.manifest.mutable_inputs(p.index)->set_whole(false);
            }),
            "");
  auto declared = [](P &p) {
    return p.manifest.mutable_inputs(p.index)->mutable_types(0);
  };
  EXPECT_NE(openSpoiled([&](P &p) { declared(p)->add_shape(3); }), "");
  EXPECT_NE(openSpoiled([&](P &p) { declared(p)->set_dtype(schema::F64); }),
            "");
  // It reads the batch alone, and gives totals alone.
  EXPECT_NE(openSpoiled([](P &p) {
              p.totals.mutable_inputs(0)->set_graph_input(p.index);
            }).find("is not of the batch"),
            std::string::npos);
  EXPECT_NE(openSpoiled([](P &p) {
              p.totals.mutable_inputs(0)->set_transfer(0);
            }).find("is not of the batch"),
            std::string::npos);
  for (auto set :
       {+[](P &p) { p.totals.mutable_outputs(0)->set_graph_output(0); },
        +[](P &p) {
          p.forward[1].mutable_outputs(0)->set_loss_total(p.index);
        }})
    EXPECT_NE(openSpoiled(set).find("leave the program loss_totals"),
              std::string::npos);
  EXPECT_NE(openSpoiled([](P &p) {
              p.totals.mutable_values(0)->set_context_offset(0);
            }).find("lies in a context"),
            std::string::npos);
}

/// A type that no total is of: refused when a package is opened, not when it
/// has run for a while.
TEST(LossTotalsPackage, RefusesTypesThatAreNotAdded) {
  PackageWithTotals package(/*readsTotal=*/false);
  for (auto *type :
       {package.manifest.mutable_inputs(package.index)->mutable_types(0),
        package.totals.mutable_values(1)->mutable_type()}) {
    PackageWithTotals::setType(type, {2, 4});
    type->set_dtype(schema::F16);
  }
  auto *convert = package.totals.mutable_instructions(0);
  convert->set_op("convert");
  convert->clear_attributes();
  TempFolder folder;
  ASSERT_TRUE(package.writeAll(folder / "m.pipe").ok());
  const std::string error = Package::open(folder / "m.pipe").status().message();
  EXPECT_NE(error.find("expected f32, f64 or an integer"), std::string::npos)
      << error;
}

/// Every byte of the program's file, changed: an error or a package, no crash.
TEST(LossTotalsPackage, SurvivesChangedBytes) {
  PackageWithTotals package;
  TempFolder folder;
  const std::string path = folder / "m.pipe";
  ASSERT_TRUE(package.writeAll(path).ok());
  const std::string bytes = package.totals.SerializeAsString();
  int refused = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    for (char flip : {char(0xff), char(1), char(0x80)}) {
      std::string changed = bytes;
      changed[i] ^= flip;
      std::ofstream(path + "/stage1/loss_totals0.pb", std::ios::binary)
          << changed;
      auto opened = Package::open(path);
      refused += !opened.ok();
      EXPECT_TRUE(opened.ok() || !opened.status().message().empty());
    }
  EXPECT_GT(refused, 0);
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::ofstream(path + "/stage1/loss_totals0.pb", std::ios::binary)
        << bytes.substr(0, size);
    EXPECT_FALSE(Package::open(path).ok()) << size;
  }
}

} // namespace
} // namespace pipec::test

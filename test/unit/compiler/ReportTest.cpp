// The report from a hand-made manifest: sharing, skips, predictions, long
// lists.
#include "compiler/Report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

using namespace pipec;

namespace {

void addType(schema::TensorType *type, std::initializer_list<int64_t> shape) {
  type->set_dtype(schema::F32);
  for (int64_t size : shape)
    type->add_shape(size);
}

schema::Manifest manifest() {
  schema::Manifest m;
  m.set_model("m.onnx");
  m.add_variants()->set_microbatch_rows(2);
  for (int s = 0; s < 3; ++s) {
    schema::Stage *stage = m.add_stages();
    stage->set_index(s);
    stage->add_modules("layer" + std::to_string(s));
    stage->add_flops(1000 * (s + 1));
    stage->add_estimated_seconds(1e-3 * (s + 1));
    schema::Weight *tied = stage->add_weights();
    tied->set_name(s == 1 ? "own" : "tied");
    addType(tied->mutable_type(), {4, 8});
    if (s == 2)
      tied->add_aliases("head");
  }
  schema::Transfer *skip = m.add_transfers();
  skip->set_value("v");
  skip->set_producer("layer0");
  skip->set_to(2);
  addType(skip->add_types(), {2, 8});
  return m;
}

TEST(Report, TextNamesSharingAndSkips) {
  std::string text = textReport(manifest(), {4, {64, 64, 64}});
  EXPECT_NE(text.find("m.onnx: 3 stages, microbatches of 2 rows"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("0 -> 2  v (layer0)  f32[2x8], 64 B, skips a stage"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("tied: stages 0 2"), std::string::npos) << text;
  EXPECT_NE(text.find("tied  f32[4x8]  = head"), std::string::npos) << text;
}

TEST(Report, LongListsAreCutShort) {
  schema::Manifest m = manifest();
  for (int i = 0; i < 40; ++i) {
    schema::Weight *weight = m.mutable_stages(0)->add_weights();
    weight->set_name("w" + std::to_string(i));
    addType(weight->mutable_type(), {1});
  }
  EXPECT_NE(textReport(m, {}).find("... and 29 more (--json lists all)"),
            std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(jsonReport(m, {}))["stages"][0]["parameters"]
                .size(),
            41u);
}

TEST(Report, WeightsAreListedOnceWithTypesTiesAndStages) {
  schema::Manifest m = manifest();
  m.mutable_stages(0)->mutable_weights(0)->add_aliases("head");
  schema::Weight *mask = m.mutable_stages(1)->add_weights();
  mask->set_name("mask");
  mask->set_kind(schema::BUFFER);
  addType(mask->mutable_type(), {3});
  mask->mutable_type()->set_dtype(schema::I64);
  schema::Weight *constant = m.mutable_stages(1)->add_weights();
  constant->set_name("c");
  constant->set_kind(schema::CONSTANT);
  auto weights = nlohmann::json::parse(jsonReport(m, {}))["weights"];
  EXPECT_EQ(weights, nlohmann::json::parse(R"([
    {"name": "tied", "kind": "parameter", "dtype": "f32", "shape": [4, 8],
     "bytes": 128, "tied": ["head"], "stages": [0, 2]},
    {"name": "own", "kind": "parameter", "dtype": "f32", "shape": [4, 8],
     "bytes": 128, "tied": [], "stages": [1]},
    {"name": "mask", "kind": "buffer", "dtype": "i64", "shape": [3],
     "bytes": 24, "tied": [], "stages": [1]}])"));
}

TEST(Report, TellsOfAPackageForTraining) {
  schema::Manifest m = manifest();
  schema::Schedule *schedule = m.mutable_training()->mutable_schedule();
  schedule->set_name("zb-v");
  schedule->set_microbatches(6);
  for (int64_t rank : {0, 1, 0})
    schedule->add_rank_of_stage(rank);
  schedule->add_ranks();
  schedule->add_ranks();
  m.mutable_stages(1)->set_backward_weight(true);
  schema::Transfer *gradient = m.add_transfers();
  gradient->set_value("v gradient");
  gradient->set_from(2);
  gradient->set_to(1);
  gradient->set_gradient(true);
  addType(gradient->add_types(), {2, 8});
  std::string text = textReport(m, {1, {64, 64, 64}});
  EXPECT_NE(text.find("to train: schedule zb-v, 6 microbatches, 2 ranks"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("2 -> 1  v gradient  f32[2x8], 64 B, a gradient"),
            std::string::npos)
      << text;
  auto json = nlohmann::json::parse(jsonReport(m, {1, {64, 64, 64}}));
  EXPECT_EQ(json["schedule"], "zb-v");
  EXPECT_EQ(json["microbatches"], 6);
  EXPECT_EQ(json["stages"][2]["rank"], 0);
  EXPECT_EQ(json["stages"][0]["backward"], false);
  EXPECT_EQ(json["stages"][1]["backward"], true);
  EXPECT_EQ(json["transfers"][0]["gradient"], false);
  EXPECT_EQ(json["transfers"][1]["gradient"], true);
}

TEST(Report, PredictsFillAndDrain) {
  auto json = nlohmann::json::parse(jsonReport(manifest(), {4, {64, 64, 64}}));
  // Stages of 1, 2 and 3 ms, four microbatches: 6 + 3 * 3 ms; no bubble would
  // be 4 * 6 / 3.
  EXPECT_NEAR(json["predicted"]["step_seconds"].get<double>(), 15e-3, 1e-9);
  EXPECT_NEAR(json["lower_bound_seconds"].get<double>(), 8e-3, 1e-9);
  EXPECT_NEAR(json["predicted"]["bubble"].get<double>(), 1 - 8.0 / 15, 1e-9);
  EXPECT_EQ(json["shared_weights"][0]["stages"], nlohmann::json({0, 2}));
}

TEST(Report, Bytes) {
  EXPECT_EQ(bytesText(0), "0 B");
  EXPECT_EQ(bytesText(1536), "1.5 KiB");
  EXPECT_EQ(bytesText(uint64_t(200) << 30), "200 GiB");
}

} // namespace

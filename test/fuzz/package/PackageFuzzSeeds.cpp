// Writes the seed corpus of PackageFuzz.cpp: pipec_package_fuzz_seeds FOLDER.
#include "passes/schedule/Generate.h"
#include "test/fuzz/package/FuzzFiles.h"
#include "test/unit/runtime/TrainingPackage.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

using namespace pipec::test;

/// One op in one stage.
Model singleOp(Model::Node node, std::vector<Model::Input> inputs) {
  Model model;
  model.inputs = std::move(inputs);
  model.outputs = {{"y", node.result}};
  model.nodes = {std::move(node)};
  return model;
}

/// Its weights lie in the stage's file all the same, but are referred to as
/// bytes elsewhere: axes permuted where there are several, else unaligned.
void moveWeightsOut(PackageBuilder &builder) {
  for (auto &stage : *builder.manifest.mutable_stages())
    for (auto &weight : *stage.mutable_weights()) {
      auto *external = weight.mutable_external();
      external->set_file("stage" + std::to_string(stage.index()) +
                         "/weights.safetensors");
      external->set_offset(1);
      int64_t bytes = 4; // f32
      const auto &shape = weight.type().shape();
      for (int k = shape.size() - 1; k >= 0; --k) {
        bytes *= shape[k];
        if (shape.size() > 1) {
          external->add_stored_shape(shape[k]);
          external->add_permutation(k);
        }
      }
      external->set_length(bytes);
    }
}

/// Every way in which outputs of microbatches are joined.
Model merges() {
  Model model = singleOp({"neg", {"x"}, "n", {-1, 2}}, {{"x", {-1, 2}}});
  model.nodes.push_back({"reduce",
                         {"x"},
                         "s",
                         {},
                         0,
                         pipec::DType::F32,
                         {intsAttr("dims", {0, 1})}});
  auto *kind = &model.nodes.back().attributes.emplace_back();
  kind->set_name("kind");
  kind->set_s("sum");
  model.inputs.push_back({"w", {3}, pipec::DType::F32, true});
  model.outputs = {{"y", "n"},
                   {"mean", "s", pipec::schema::MEAN},
                   {"sum", "s", pipec::schema::SUM},
                   {"same", "w", pipec::schema::SAME}};
  model.rows = {2, 1};
  return model;
}

/// A weight of each element type.
Model manyTypes() {
  Model model = singleOp({"neg", {"x"}, "n", {-1, 2}}, {{"x", {-1, 2}}});
  for (int t = 0; t <= static_cast<int>(pipec::DType::F64); ++t) {
    const pipec::TensorType type{static_cast<pipec::DType>(t), {2, 3, 2}};
    auto tensor = pipec::Tensor::allocate(type);
    if (t == 0 && type.byteSize() == 0)
      continue;
    if (!tensor.ok())
      continue;
    std::memset(tensor->data(), 1, tensor->byteSize());
    const std::string name = "w" + std::to_string(t);
    model.weights[name] = *tensor;
    model.nodes.push_back({"reshape",
                           {name},
                           name + ".flat",
                           {12},
                           0,
                           type.dtype,
                           {intsAttr("shape", {12})}});
  }
  return model;
}

std::string packFolder(const std::string &folder, unsigned stages) {
  std::string packed;
  for (unsigned id = 0; id <= kFilesOfStage * stages; ++id) {
    const std::string name = fuzzFileName(static_cast<uint8_t>(id));
    std::ifstream file(folder + "/" + name, std::ios::binary);
    if (file)
      packFile(packed, static_cast<uint8_t>(id),
               std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return packed;
}

std::string pack(const Model &model, bool external) {
  TempFolder folder;
  PackageBuilder builder(model);
  if (external)
    moveWeightsOut(builder);
  if (!builder.write(folder / "m.pipe").ok())
    return "";
  return packFolder(folder / "m.pipe", model.stages);
}

std::string packTraining(const std::string &schedule, int64_t stages,
                         int64_t ranks) {
  TempFolder folder;
  TrainingPackage package(stages);
  auto made = pipec::makeSchedule(schedule, stages, ranks, /*microbatches=*/2);
  if (!made.ok() || !package.setSchedule(*made).ok() ||
      !package.write(folder / "m.pipe").ok())
    return "";
  return packFolder(folder / "m.pipe", static_cast<unsigned>(stages));
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 1;
  }
  std::vector<Model> models = {
      mlp(1, {2}, 2),
      mlp(2, {2, 1}, 2),
      mlp(4, {1}, 2),
      singleOp({"gather",
                {"x", "i"},
                "g",
                {-1, 2},
                0,
                pipec::DType::F32,
                {intAttr("dim", 0)}},
               {{"x", {3, 2}, pipec::DType::F32, true},
                {"i", {-1}, pipec::DType::I64}}),
      singleOp({"convert", {"x"}, "c", {-1}, 0, pipec::DType::Bool},
               {{"x", {-1}}}),
      merges(),
      manyTypes(),
  };
  std::vector<std::string> seeds;
  for (bool external : {false, true})
    for (const Model &model : models)
      seeds.push_back(pack(model, external));
  seeds.push_back(packTraining("gpipe", 1, 1));
  seeds.push_back(packTraining("1f1b", 3, 3));
  seeds.push_back(packTraining("zb-v", 4, 2));
  std::filesystem::create_directories(argv[1]);
  for (size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(std::string(argv[1]) + "/seed" + std::to_string(i),
                       std::ios::binary);
    file << seeds[i];
    if (!file.good() || seeds[i].empty()) {
      std::fprintf(stderr, "%s: could not be written\n", argv[1]);
      return 1;
    }
  }
  return 0;
}

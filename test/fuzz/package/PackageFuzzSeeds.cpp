// Writes the seed corpus of PackageFuzz.cpp: pipec_package_fuzz_seeds FOLDER.
#include "test/fuzz/package/FuzzFiles.h"
#include "test/unit/runtime/PackageBuilder.h"

#include <cstdio>
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

std::string pack(const Model &model) {
  TempFolder folder;
  PackageBuilder builder(model);
  if (!builder.write(folder / "m.pipe").ok())
    return "";
  std::string packed;
  for (unsigned id = 0; id <= 3 * model.stages; ++id) {
    const std::string name = fuzzFileName(static_cast<uint8_t>(id));
    std::ifstream file(folder / "m.pipe/" + name, std::ios::binary);
    if (file)
      packFile(packed, static_cast<uint8_t>(id),
               std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return packed;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 1;
  }
  const std::vector<Model> models = {
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
  };
  std::filesystem::create_directories(argv[1]);
  for (size_t i = 0; i < models.size(); ++i) {
    std::ofstream file(std::string(argv[1]) + "/seed" + std::to_string(i),
                       std::ios::binary);
    file << pack(models[i]);
    if (!file.good()) {
      std::fprintf(stderr, "%s: could not be written\n", argv[1]);
      return 1;
    }
  }
  return 0;
}

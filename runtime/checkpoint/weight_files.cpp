// Opens weight files. In: paths, whose content is not trusted. Out: tensors by
// name.
// Tests: test/unit/checkpoint/WeightFilesTest.cpp.
#include "runtime/checkpoint/weight_files.h"

#include "runtime/checkpoint/json_file.h"

#include <filesystem>

namespace pipec {
namespace {

namespace fs = std::filesystem;

Status refusePickle(const std::string &path) {
  const std::string suffix = fs::path(path).extension().string();
  for (const char *pickled : {".bin", ".pt", ".pth", ".ckpt"})
    if (suffix == pickled)
      return unsupported(
          "'" + path +
          "': --weights reads safetensors files and their index, not pickled "
          "ones; convert it with safetensors.torch.save_file");
  return Status();
}

Status addIndex(const std::string &path, TensorTable &tensors) {
  PIPEC_ASSIGN_OR_RETURN(const nlohmann::json index, readJsonObject(path));
  const auto fileOf = stringMapField(index, "weight_map");
  if (!fileOf.ok())
    return fileOf.status().withPrefix("'" + path +
                                      "' is no index of safetensors files");
  const fs::path folder = fs::path(path).parent_path();
  return tensors.addIndexed(folder.empty() ? "." : folder.string(), *fileOf)
      .withPrefix("'" + path + "'");
}

} // namespace

StatusOr<WeightFiles> WeightFiles::open(const std::vector<std::string> &paths) {
  if (paths.empty())
    return invalidArgument("no file of weights is given: use --weights FILE");
  std::string where;
  for (const std::string &path : paths)
    where += (where.empty() ? "" : ", ") + path;
  WeightFiles files;
  files.tensors = TensorTable(where);
  for (const std::string &path : paths) {
    PIPEC_RETURN_IF_ERROR(refusePickle(path));
    const bool isIndex = fs::path(path).extension() == ".json";
    PIPEC_RETURN_IF_ERROR(isIndex ? addIndex(path, files.tensors)
                                  : files.tensors.add(path));
  }
  return files;
}

Status WeightFiles::loadInto(const std::vector<NamedView> &targets,
                             bool allowMissing) const {
  LoadRules rules;
  rules.allowMissing = allowMissing;
  rules.widen = true;
  rules.compareTied = true;
  return tensors.load(targets, rules);
}

} // namespace pipec

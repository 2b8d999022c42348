// Package::open: manifest, then the programs of every stage that is here, then
// what holds between stages. In: a folder, untrusted; out: an immutable,
// checked package. Weights stay on the disk until a session binds them.
// Tests: test/unit/runtime/PackageTest.cpp.
#include "runtime/base/digest.h"
#include "runtime/package/package_impl.h"
#include "runtime/package/readers.h"

#include <algorithm>
#include <new>

namespace pipec {
namespace {

/// Files that the manifest has no digest of pass.
Status checkDigest(const std::map<std::string, std::string> &digests,
                   const std::string &file, const FileBytes &bytes) {
  const auto expected = digests.find(file);
  if (expected == digests.end())
    return {};
  const std::string got = digestOf(bytes.data, bytes.size);
  if (got == expected->second)
    return {};
  return dataLoss("damaged: its bytes are not those that were written "
                  "(checksum " +
                  got + ", expected " + expected->second +
                  "); compile the model again");
}

Status readPhase(const PackageFiles &files, Package::Impl &package, size_t s,
                 ProgramPhase phase) {
  for (size_t v = 0; v < package.variantCount(); ++v) {
    const std::string name = "stage" + std::to_string(s) + "/" +
                             fileStem(phase) + std::to_string(v) + ".pb";
    PIPEC_ASSIGN_OR_RETURN(FileBytes bytes, files.read(name));
    PIPEC_RETURN_IF_ERROR(
        checkDigest(package.digests[s],
                    fileStem(phase) + std::to_string(v) + ".pb", bytes)
            .withPrefix(files.root() + "/" + name));
    PIPEC_ASSIGN_OR_RETURN(
        ProgramDesc program,
        readProgram(bytes, files.root() + "/" + name, package, s, v, phase));
    uint64_t &arena = package.stages[s].arenaBytes[v];
    arena = std::max(arena, program.arenaBytes);
    package.programsOf(phase)[s].push_back(std::move(program));
  }
  return {};
}

Status readPrograms(const PackageFiles &files, Package::Impl &package) {
  for (ProgramPhase phase : kPhases)
    package.programsOf(phase).resize(package.stages.size());
  bool any = false;
  for (size_t s = 0; s < package.stages.size(); ++s) {
    const std::string folder = "stage" + std::to_string(s);
    package.stages[s].arenaBytes.resize(package.variantCount(), 0);
    if (!files.hasFolder(folder))
      continue;
    any = true;
    for (ProgramPhase phase : kPhases)
      if (package.has(s, phase))
        PIPEC_RETURN_IF_ERROR(readPhase(files, package, s, phase));
  }
  if (!any)
    return ioError(files.root() +
                   ": the folder of no stage is here (stage0, stage1, ..)");
  return {};
}

StatusOr<std::shared_ptr<const Package::Impl>>
readChecked(const PackageFiles &files, const PackageOptions &options) {
  auto package = std::make_shared<Package::Impl>();
  package->options = options;
  package->path = files.root();
  auto manifest = files.read("manifest.json");
  if (!manifest.ok())
    return Status(manifest.status().getCode(),
                  files.root() +
                      ": not a package, its manifest cannot be "
                      "read: " +
                      manifest.status().message());
  PIPEC_RETURN_IF_ERROR(
      readManifest(*manifest, files.root() + "/manifest.json", *package));
  PIPEC_RETURN_IF_ERROR(readPrograms(files, *package));
  PIPEC_RETURN_IF_ERROR(checkRouting(*package));
  return std::shared_ptr<const Package::Impl>(std::move(package));
}

} // namespace

StatusOr<std::shared_ptr<const Package::Impl>>
readPackage(const PackageFiles &files, const PackageOptions &options) {
  try {
    return readChecked(files, options);
  } catch (const std::bad_alloc &) {
    return resourceExhausted(files.root() + ": out of memory while reading");
  }
}

StatusOr<Package> Package::open(const std::string &path,
                                const PackageOptions &options) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return invalidArgument("the path of a package is empty or has a zero byte");
  return openPackage(*folderFiles(path), options);
}

StatusOr<Package> openPackage(const PackageFiles &files,
                              const PackageOptions &options) {
  Package package;
  PIPEC_ASSIGN_OR_RETURN(package.held, readPackage(files, options));
  return package;
}

const char *fileStem(ProgramPhase phase) {
  return phase == ProgramPhase::Forward          ? "program"
         : phase == ProgramPhase::BackwardInput  ? "backward_input"
         : phase == ProgramPhase::BackwardWeight ? "backward_weight"
                                                 : "loss_totals";
}

bool Package::isTrainable() const { return held->training.has_value(); }

Status Package::Impl::requireStage(size_t stage) const {
  if (!programs[stage].empty())
    return {};
  return ioError(stageFolder(stage) +
                 ": the stage's folder is not here; copy it, or run only the "
                 "stages that are");
}

const std::string &Package::path() const { return held->path; }
const std::string &Package::modelName() const { return held->modelName; }
const std::string &Package::producer() const { return held->producer; }
const std::vector<InputInfo> &Package::inputs() const { return held->inputs; }
const std::vector<OutputInfo> &Package::outputs() const {
  return held->outputs;
}
const std::vector<StageInfo> &Package::stages() const { return held->stages; }
const std::vector<TransferInfo> &Package::transfers() const {
  return held->transfers;
}
const std::vector<int64_t> &Package::microbatchRows() const {
  return held->microbatchRows;
}

} // namespace pipec

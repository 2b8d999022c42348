// manifest.json -> the package's inputs, outputs, stages, transfers, variants.
// In: protobuf's JSON form of schema::Manifest, untrusted; fields that this
// build does not know are ignored, another format version is refused. Out: the
// manifest's part of Package::Impl, every list as long as it must be.
// Tests: test/unit/runtime/PackageTest.cpp, PackageCorruptionTest.cpp.
#include "runtime/package/convert.h"
#include "runtime/package/readers.h"
#include "runtime/schema/version.h"

#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <set>

namespace pipec {
namespace {

constexpr size_t kMaxManifestBytes = size_t(1) << 30;
/// A worker thread each.
constexpr int kMaxStages = 1024;

Status checkVersion(uint32_t version, const std::string &producer) {
  if (version == kPackageFormatVersion)
    return {};
  return unsupported(
      "format version " + std::to_string(version) +
      ", this build reads version " + std::to_string(kPackageFormatVersion) +
      (producer.empty() ? "" : " (written by " + producer + ")") +
      ": compile the model again with this build");
}

/// A manifest that does not parse as ours may be another version's: then that
/// is the error.
Status parse(const FileBytes &bytes, schema::Manifest &manifest) {
  if (bytes.size > kMaxManifestBytes)
    return dataLoss("too large: " + std::to_string(bytes.size) + " bytes");
  const std::string json(reinterpret_cast<const char *>(bytes.data),
                         bytes.size);
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  google::protobuf::LogSilencer silence;
  auto status =
      google::protobuf::util::JsonStringToMessage(json, &manifest, options);
  if (status.ok())
    return checkVersion(manifest.format_version(), manifest.producer());
  schema::FormatVersion version;
  if (google::protobuf::util::JsonStringToMessage(json, &version, options).ok())
    PIPEC_RETURN_IF_ERROR(checkVersion(version.format_version(), ""));
  return dataLoss("not a manifest: " + status.ToString());
}

/// One type a variant.
template <typename Field>
Status readTypes(const Field &types, size_t variants,
                 std::vector<TensorType> &result) {
  if (static_cast<size_t>(types.size()) != variants)
    return dataLoss(std::to_string(types.size()) + " types, expected " +
                    std::to_string(variants) + " (one a variant)");
  for (const schema::TensorType &type : types) {
    PIPEC_ASSIGN_OR_RETURN(TensorType read, readTensorType(type));
    result.push_back(std::move(read));
  }
  return {};
}

Status readVariants(const schema::Manifest &manifest, Package::Impl &package) {
  if (manifest.variants().empty())
    return dataLoss("no variants");
  std::set<int64_t> seen;
  for (const schema::Variant &variant : manifest.variants()) {
    const int64_t rows = variant.microbatch_rows();
    if (rows < 0)
      return dataLoss("variant of " + std::to_string(rows) + " rows");
    if (!seen.insert(rows).second)
      return dataLoss("two variants of " + std::to_string(rows) + " rows");
    package.microbatchRows.push_back(rows);
  }
  if (seen.size() > 1 && seen.count(0))
    return dataLoss("a variant of 0 rows (nothing is cut) beside others");
  return {};
}

Status readInputs(const schema::Manifest &manifest, Package::Impl &package) {
  std::set<std::string> names;
  for (const schema::GraphInput &input : manifest.inputs()) {
    const std::string where = "input '" + input.name() + "'";
    if (input.name().empty() || !names.insert(input.name()).second)
      return dataLoss(where + ": the name is empty or taken");
    InputInfo info;
    info.name = input.name();
    info.whole = input.whole();
    if (input.role() < 0 || input.role() > 4)
      return dataLoss(where + ": unknown role " + std::to_string(input.role()));
    info.role = static_cast<InputRole>(input.role());
    if (info.role != InputRole::Data && !manifest.has_training())
      return dataLoss(where + ": has a role, but the package is not for "
                              "training");
    PIPEC_RETURN_IF_ERROR(
        readTypes(input.types(), package.variantCount(), info.types)
            .withPrefix(where));
    package.inputs.push_back(std::move(info));
    for (size_t v = 0; v < package.variantCount(); ++v)
      if (const size_t i = package.inputs.size() - 1; package.isCut(i, v))
        if (const auto &type = package.inputs[i].types[v];
            type.shape[0] != package.microbatchRows[v])
          return dataLoss(where + ": " + type.str() + " in the variant of " +
                          std::to_string(package.microbatchRows[v]) + " rows");
  }
  return {};
}

Status readOutputs(const schema::Manifest &manifest, Package::Impl &package) {
  std::set<std::string> names;
  for (const schema::GraphOutput &output : manifest.outputs()) {
    const std::string where = "output '" + output.name() + "'";
    if (output.name().empty() || !names.insert(output.name()).second)
      return dataLoss(where + ": the name is empty or taken");
    OutputInfo info;
    info.name = output.name();
    switch (output.merge()) {
    case schema::CONCAT:
      info.merge = Merge::Concat;
      break;
    case schema::MEAN:
      info.merge = Merge::Mean;
      break;
    case schema::SUM:
      info.merge = Merge::Sum;
      break;
    case schema::SAME:
      info.merge = Merge::Same;
      break;
    case schema::UNSPECIFIED:
      info.merge = Merge::Unspecified;
      break;
    default:
      return dataLoss(where + ": unknown merge " +
                      std::to_string(output.merge()));
    }
    PIPEC_RETURN_IF_ERROR(
        readTypes(output.types(), package.variantCount(), info.types)
            .withPrefix(where));
    package.outputs.push_back(std::move(info));
  }
  return {};
}

/// The range and the permutation on paper; whether the file has it shows when
/// it is mapped.
StatusOr<ExternalRange> readExternal(const schema::ExternalBytes &external,
                                     const TensorType &type) {
  ExternalRange range;
  range.file =
      external.file_bytes().empty() ? external.file() : external.file_bytes();
  range.fingerprint = external.fingerprint();
  range.offset = external.offset();
  range.length = external.length();
  range.fileSize = external.file_size();
  range.fileMtimeNs = external.file_mtime_ns();
  range.storedShape.assign(external.stored_shape().begin(),
                           external.stored_shape().end());
  range.permutation.assign(external.permutation().begin(),
                           external.permutation().end());
  if (range.file.empty() || range.file.find('\0') != std::string::npos)
    return dataLoss("external bytes without a usable file name");
  if (range.length != type.byteSize())
    return dataLoss(std::to_string(range.length) + " external bytes, but " +
                    type.str() + " has " + std::to_string(type.byteSize()));
  if (range.permutation.empty())
    return range;
  const size_t rank = type.shape.size();
  if (range.permutation.size() != rank || range.storedShape.size() != rank)
    return dataLoss("permutation of " +
                    std::to_string(range.permutation.size()) +
                    " axes and stored shape of " +
                    std::to_string(range.storedShape.size()) + ", expected " +
                    std::to_string(rank));
  std::vector<bool> taken(rank, false);
  for (size_t k = 0; k < rank; ++k) {
    const int64_t axis = range.permutation[k];
    if (axis < 0 || axis >= static_cast<int64_t>(rank) || taken[axis])
      return dataLoss("permutation names axis " + std::to_string(axis) +
                      " twice or out of range");
    taken[axis] = true;
    if (range.storedShape[axis] != type.shape[k])
      return dataLoss("stored axis " + std::to_string(axis) + " has size " +
                      std::to_string(range.storedShape[axis]) + ", axis " +
                      std::to_string(k) + " of the weight " +
                      std::to_string(type.shape[k]));
  }
  return range;
}

Status readWeight(const schema::Weight &weight, StageInfo &stage,
                  std::vector<std::optional<ExternalRange>> &external) {
  WeightInfo info;
  info.name = weight.name();
  info.aliases.assign(weight.aliases().begin(), weight.aliases().end());
  static const char *const kinds[] = {"parameter", "buffer", "constant"};
  if (weight.kind() < 0 || weight.kind() > 2)
    return dataLoss("unknown kind " + std::to_string(weight.kind()));
  info.kind = kinds[weight.kind()];
  info.unread = weight.unread();
  PIPEC_ASSIGN_OR_RETURN(info.type, readTensorType(weight.type()));
  external.emplace_back();
  if (weight.has_external()) {
    PIPEC_ASSIGN_OR_RETURN(external.back(),
                           readExternal(weight.external(), info.type));
  }
  stage.weights.push_back(std::move(info));
  return {};
}

/// What a stage has for training.
Status readBackward(const schema::Stage &stage, const StageInfo &info,
                    Package::Impl &package) {
  package.hasPhase.push_back({true, stage.backward_input(),
                              stage.backward_weight(), stage.loss_totals()});
  package.contextBytes.emplace_back(stage.context_bytes().begin(),
                                    stage.context_bytes().end());
  package.contextWeightBytes.emplace_back(stage.context_weight_bytes().begin(),
                                          stage.context_weight_bytes().end());
  package.contextBytes.back().resize(package.variantCount(), 0);
  package.contextWeightBytes.back().resize(package.variantCount(), 0);
  for (uint64_t bytes : package.contextBytes.back())
    if (bytes > (uint64_t(1) << 62))
      return dataLoss("context of " + std::to_string(bytes) + " bytes");
  for (size_t v = 0; v < package.variantCount(); ++v)
    if (uint64_t part = package.contextWeightBytes.back()[v];
        part > package.contextBytes.back()[v] || part % kArenaAlignment != 0)
      return dataLoss("of a context of " +
                      std::to_string(package.contextBytes.back()[v]) +
                      " bytes, " + std::to_string(part) + " are for W");
  package.recomputes.push_back(stage.recomputes());
  package.digests.emplace_back(stage.program_xxh3().begin(),
                               stage.program_xxh3().end());
  auto &sites = package.sites.emplace_back();
  for (const schema::GradientSite &site : stage.sites()) {
    if (site.weight() >= info.weights.size() ||
        info.weights[site.weight()].kind != "parameter" ||
        info.weights[site.weight()].unread)
      return dataLoss("gradient site " + std::to_string(sites.size()) +
                      " is of no parameter that the stage reads");
    sites.push_back({site.weight(), site.order()});
  }
  return {};
}

Status readTraining(const schema::Manifest &manifest, Package::Impl &package) {
  if (!manifest.has_training())
    return {};
  const schema::Training &training = manifest.training();
  if (training.loss() < 0 || training.loss() > 2 || training.reduction() < 0 ||
      training.reduction() > 1)
    return dataLoss("unknown loss or reduction");
  if (package.outputs.size() != 1 || !package.outputs[0].types[0].shape.empty())
    return dataLoss("a package for training has one output, the loss, a "
                    "scalar");
  TrainingDesc desc;
  desc.loss = static_cast<LossKind>(training.loss());
  desc.mean = training.reduction() == schema::REDUCE_MEAN;
  desc.labels = training.labels();
  desc.ignoreIndex = training.ignore_index();
  package.training = desc;
  return {};
}

Status readStage(const schema::Stage &stage, Package::Impl &package) {
  StageInfo info;
  info.index = static_cast<int64_t>(package.stages.size());
  if (stage.index() != info.index)
    return dataLoss("has index " + std::to_string(stage.index()) +
                    ": stages count from 0 in order");
  info.modules.assign(stage.modules().begin(), stage.modules().end());
  info.flops.assign(stage.flops().begin(), stage.flops().end());
  if (!info.flops.empty() && info.flops.size() != package.variantCount())
    return dataLoss(std::to_string(info.flops.size()) + " flops, expected " +
                    std::to_string(package.variantCount()) +
                    " (one a variant)");
  info.flops.resize(package.variantCount(), 0);
  std::set<std::string> names;
  std::vector<std::optional<ExternalRange>> external;
  for (const schema::Weight &weight : stage.weights()) {
    if (weight.name().empty() || !names.insert(weight.name()).second)
      return dataLoss("weight '" + weight.name() +
                      "': the name is empty or taken");
    PIPEC_RETURN_IF_ERROR(readWeight(weight, info, external)
                              .withPrefix("weight '" + weight.name() + "'"));
  }
  PIPEC_RETURN_IF_ERROR(readBackward(stage, info, package));
  package.stages.push_back(std::move(info));
  package.external.push_back(std::move(external));
  return {};
}

Status readStages(const schema::Manifest &manifest, Package::Impl &package) {
  if (manifest.stages().empty())
    return dataLoss("no stages");
  if (manifest.stages_size() > kMaxStages)
    return unsupported(std::to_string(manifest.stages_size()) +
                       " stages, this build runs at most " +
                       std::to_string(kMaxStages));
  for (const schema::Stage &stage : manifest.stages())
    PIPEC_RETURN_IF_ERROR(
        readStage(stage, package)
            .withPrefix("stage " + std::to_string(package.stages.size())));
  return {};
}

Status readTransfers(const schema::Manifest &manifest, Package::Impl &package) {
  std::set<std::tuple<std::string, uint32_t, uint32_t>> seen;
  for (const schema::Transfer &transfer : manifest.transfers()) {
    const std::string where = "transfer of '" + transfer.value() +
                              "' from stage " +
                              std::to_string(transfer.from()) + " to stage " +
                              std::to_string(transfer.to());
    if (transfer.value().empty())
      return dataLoss(where + ": the value has no name");
    if (transfer.gradient() ? transfer.from() <= transfer.to()
                            : transfer.from() >= transfer.to())
      return dataLoss(where + ": data flows to a later stage only, gradients "
                              "to an earlier one");
    if (std::max(transfer.from(), transfer.to()) >= package.stages.size())
      return dataLoss(where + ": there are " +
                      std::to_string(package.stages.size()) + " stages");
    if (!seen.emplace(transfer.value(), transfer.from(), transfer.to()).second)
      return dataLoss(where + ": listed twice");
    TransferInfo info;
    info.value = transfer.value();
    info.producer = transfer.producer();
    info.from = transfer.from();
    info.to = transfer.to();
    info.gradient = transfer.gradient();
    PIPEC_RETURN_IF_ERROR(
        readTypes(transfer.types(), package.variantCount(), info.types)
            .withPrefix(where));
    package.transfers.push_back(std::move(info));
  }
  return {};
}

Status readAll(const FileBytes &bytes, Package::Impl &package) {
  schema::Manifest manifest;
  PIPEC_RETURN_IF_ERROR(parse(bytes, manifest));
  package.modelName = manifest.model();
  package.producer = manifest.producer();
  package.batchMixes.assign(manifest.batch_mixes().begin(),
                            manifest.batch_mixes().end());
  package.missing.assign(manifest.training().missing().begin(),
                         manifest.training().missing().end());
  package.guessedNames.assign(manifest.training().guessed_names().begin(),
                              manifest.training().guessed_names().end());
  PIPEC_RETURN_IF_ERROR(readVariants(manifest, package));
  PIPEC_RETURN_IF_ERROR(readInputs(manifest, package));
  PIPEC_RETURN_IF_ERROR(readOutputs(manifest, package));
  PIPEC_RETURN_IF_ERROR(readTraining(manifest, package));
  PIPEC_RETURN_IF_ERROR(readStages(manifest, package));
  PIPEC_RETURN_IF_ERROR(readTransfers(manifest, package));
  if (package.training)
    return readSchedule(manifest.training().schedule(), package);
  return {};
}

} // namespace

Status readManifest(const FileBytes &bytes, const std::string &path,
                    Package::Impl &package) {
  return readAll(bytes, package).withPrefix(path);
}

} // namespace pipec

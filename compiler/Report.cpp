// The stage table and its JSON twin, both from one summary.
// Tests: test/unit/compiler/ReportTest.cpp, test/e2e/cli/inspect.test.
#include "compiler/Report.h"

#include "compiler/Predict.h"

#include "pipec/tensor.h"
#include "runtime/base/printable.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace pipec {
namespace {

using Json = nlohmann::ordered_json;

TensorType typeOf(const schema::TensorType &message) {
  return {static_cast<DType>(message.dtype()),
          {message.shape().begin(), message.shape().end()}};
}

/// The type in the first variant that sends the value; the others send an empty
/// tensor.
TensorType
firstType(const google::protobuf::RepeatedPtrField<schema::TensorType> &types) {
  for (const schema::TensorType &type : types)
    if (typeOf(type).numElements() != 0)
      return typeOf(type);
  return types.empty() ? TensorType{} : typeOf(types[0]);
}

uint64_t parameterBytes(const schema::Stage &stage) {
  uint64_t bytes = 0;
  for (const schema::Weight &weight : stage.weights())
    if (weight.kind() == schema::PARAMETER)
      bytes += typeOf(weight.type()).byteSize();
  return bytes;
}

/// Parameters that several stages read, with those stages.
std::map<std::string, std::vector<int>>
sharedWeights(const schema::Manifest &manifest) {
  std::map<std::string, std::vector<int>> readers;
  for (const schema::Stage &stage : manifest.stages())
    for (const schema::Weight &weight : stage.weights())
      if (weight.kind() != schema::CONSTANT)
        readers[weight.name()].push_back(static_cast<int>(stage.index()));
  for (auto at = readers.begin(); at != readers.end();)
    at = at->second.size() < 2 ? readers.erase(at) : std::next(at);
  return readers;
}

std::string withCommas(uint64_t n) {
  std::string digits = std::to_string(n), text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % 3 == 0)
      text += ',';
    text += digits[i];
  }
  return text;
}

std::string format(const char *pattern, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, value);
  return buffer;
}

constexpr int kNamesShown = 12;

std::string nameList(const std::vector<std::string> &names,
                     const std::string &indent) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kNamesShown; ++i)
    text += indent + printable(names[i]) + "\n";
  if (names.size() > kNamesShown)
    text += indent + "... and " + std::to_string(names.size() - kNamesShown) +
            " more (--json lists all)\n";
  return text;
}

std::string flopText(double flops) {
  const char *units[] = {" MFLOP", " GFLOP", " TFLOP", " PFLOP"};
  double value = flops / 1e6;
  int unit = 0;
  while (value >= 999.5 && unit < 3) {
    value /= 1000;
    ++unit;
  }
  return format("%.3g", value) + units[unit];
}

std::string stageText(const schema::Manifest &manifest,
                      const schema::Stage &stage) {
  std::string modules;
  for (const std::string &module : stage.modules())
    modules += (modules.empty() ? "" : ", ") + printable(module);
  uint64_t elements = 0;
  std::vector<std::string> parameters, graphInputs, graphOutputs;
  for (const schema::Weight &weight : stage.weights()) {
    if (weight.kind() == schema::CONSTANT)
      continue;
    std::string name = weight.name() + "  " + typeOf(weight.type()).str();
    for (const std::string &alias : weight.aliases())
      name += "  = " + alias;
    if (weight.kind() == schema::BUFFER)
      name += "  (buffer)";
    else
      elements += typeOf(weight.type()).numElements();
    if (weight.unread())
      name += "  (not read)";
    parameters.push_back(std::move(name));
  }
  std::string text =
      "stage " + std::to_string(stage.index()) + ": " +
      (modules.empty() ? "(operations outside of any module)" : modules) + "\n";
  text += "    " + withCommas(elements) + " parameters, " +
          bytesText(parameterBytes(stage)) + ", " +
          flopText(stage.flops_size() ? double(stage.flops(0)) : 0) +
          " a microbatch\n";
  return text + nameList(parameters, "      ");
}

std::string transferText(const schema::Manifest &manifest) {
  if (!manifest.transfers_size())
    return "";
  std::string text = "crosses the cuts, for each microbatch:\n";
  for (const schema::Transfer &transfer : manifest.transfers()) {
    TensorType type = firstType(transfer.types());
    text += "    " + std::to_string(transfer.from()) + " -> " +
            std::to_string(transfer.to()) + "  " + printable(transfer.value()) +
            (transfer.producer().empty()
                 ? ""
                 : " (" + printable(transfer.producer()) + ")") +
            "  " + type.str() + ", " + bytesText(type.byteSize()) +
            (transfer.gradient() ? ", a gradient" : "") +
            (std::abs(int64_t(transfer.to()) - int64_t(transfer.from())) > 1
                 ? ", skips a stage"
                 : "") +
            "\n";
  }
  return text;
}

Json namesRead(const schema::Manifest &manifest, uint32_t stage) {
  Json names = Json::array();
  for (const schema::Transfer &transfer : manifest.transfers())
    if (transfer.to() == stage && !transfer.gradient())
      names.push_back(transfer.value());
  return names;
}

Json namesSent(const schema::Manifest &manifest, uint32_t stage) {
  Json names = Json::array();
  std::set<std::string> seen;
  for (const schema::Transfer &transfer : manifest.transfers())
    if (transfer.from() == stage && !transfer.gradient() &&
        seen.insert(transfer.value()).second)
      names.push_back(transfer.value());
  return names;
}

/// Parameters and buffers in the order of the stages that read them first.
Json weightsJson(const schema::Manifest &manifest) {
  Json list = Json::array();
  std::map<std::string, size_t> at;
  for (const schema::Stage &stage : manifest.stages())
    for (const schema::Weight &weight : stage.weights()) {
      if (weight.kind() == schema::CONSTANT)
        continue;
      auto [found, isNew] = at.emplace(weight.name(), list.size());
      if (isNew) {
        const TensorType type = typeOf(weight.type());
        list.push_back(
            {{"name", weight.name()},
             {"kind", weight.kind() == schema::BUFFER ? "buffer" : "parameter"},
             {"dtype", std::string(dtypeName(type.dtype))},
             {"shape", type.shape},
             {"bytes", type.byteSize()},
             {"tied", Json::array()},
             {"stages", Json::array()}});
      }
      Json &entry = list[found->second];
      if (weight.unread())
        entry["unread"] = true;
      for (const std::string &alias : weight.aliases())
        if (isNew)
          entry["tied"].push_back(alias);
      entry["stages"].push_back(stage.index());
    }
  return list;
}

/// Without a schedule each stage is a rank.
int64_t rankOf(const schema::Manifest &manifest, uint32_t stage) {
  const schema::Schedule &schedule = manifest.training().schedule();
  return static_cast<int>(stage) < schedule.rank_of_stage_size()
             ? schedule.rank_of_stage(static_cast<int>(stage))
             : stage;
}

Json stageJson(const schema::Manifest &manifest, const schema::Stage &stage) {
  Json parameters = Json::array(), buffers = Json::array();
  for (const schema::Weight &weight : stage.weights()) {
    if (weight.kind() == schema::PARAMETER)
      parameters.push_back(weight.name());
    else if (weight.kind() == schema::BUFFER)
      buffers.push_back(weight.name());
  }
  return {{"index", stage.index()},
          {"rank", rankOf(manifest, stage.index())},
          {"modules", std::vector<std::string>(stage.modules().begin(),
                                               stage.modules().end())},
          {"parameters", parameters},
          {"buffers", buffers},
          {"parameter_bytes", parameterBytes(stage)},
          {"flops", stage.flops_size() ? stage.flops(0) : 0},
          {"inputs", namesRead(manifest, stage.index())},
          {"outputs", namesSent(manifest, stage.index())},
          {"backward", stage.backward_input() || stage.backward_weight()}};
}

} // namespace

std::string bytesText(uint64_t bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return format(unit && value < 100 ? "%.1f " : "%.0f ", value) + units[unit];
}

std::string textReport(const schema::Manifest &manifest,
                       const ReportContext &context) {
  std::string text = printable(manifest.model()) + ": " +
                     std::to_string(manifest.stages_size()) +
                     (manifest.stages_size() == 1 ? " stage" : " stages");
  std::string rows;
  for (const schema::Variant &variant : manifest.variants())
    if (variant.microbatch_rows())
      rows += (rows.empty() ? "" : " or ") +
              std::to_string(variant.microbatch_rows());
  text += rows.empty() ? "\n"
                       : ", microbatches of " + rows +
                             (rows == "1" ? " row\n" : " rows\n");
  if (manifest.has_training()) {
    const schema::Schedule &schedule = manifest.training().schedule();
    text +=
        "to train: schedule " + printable(schedule.name()) + ", " +
        std::to_string(schedule.microbatches()) +
        (schedule.microbatches() == 1 ? " microbatch, " : " microbatches, ") +
        std::to_string(schedule.ranks_size()) +
        (schedule.ranks_size() == 1 ? " rank\n" : " ranks\n");
  }
  for (const schema::Stage &stage : manifest.stages())
    text += stageText(manifest, stage);
  text += transferText(manifest);
  auto shared = sharedWeights(manifest);
  if (!shared.empty()) {
    text += "read in several stages (one copy in each):\n";
    for (const auto &[name, stages] : shared) {
      text += "    " + printable(name) + ": stages";
      for (int stage : stages)
        text += " " + std::to_string(stage);
      text += "\n";
    }
  }
  if (manifest.batch_mixes_size())
    text +=
        "mixes the rows of the batch, so that microbatches give other "
        "results than the whole batch:\n" +
        nameList({manifest.batch_mixes().begin(), manifest.batch_mixes().end()},
                 "    ");
  return text;
}

std::string jsonReport(const schema::Manifest &manifest,
                       const ReportContext &context) {
  Json report;
  report["model"] = manifest.model();
  report["stages"] = Json::array();
  for (const schema::Stage &stage : manifest.stages())
    report["stages"].push_back(stageJson(manifest, stage));
  report["weights"] = weightsJson(manifest);
  report["transfers"] = Json::array();
  for (const schema::Transfer &transfer : manifest.transfers()) {
    TensorType type = firstType(transfer.types());
    report["transfers"].push_back(
        {{"value", transfer.value()},
         {"producer", transfer.producer()},
         {"from", transfer.from()},
         {"to", transfer.to()},
         {"shape", type.shape},
         {"dtype", std::string(dtypeName(type.dtype))},
         {"bytes", type.byteSize()},
         {"gradient", transfer.gradient()}});
  }
  report["shared_weights"] = Json::array();
  for (const auto &[name, stages] : sharedWeights(manifest))
    report["shared_weights"].push_back({{"name", name}, {"stages", stages}});
  report["batch_mixes"] = Json::array();
  for (const std::string &mix : manifest.batch_mixes())
    report["batch_mixes"].push_back(mix);
  Prediction p = predict(manifest, context);
  const bool training = manifest.has_training();
  report["schedule"] =
      training ? manifest.training().schedule().name() : "inference";
  report["microbatches"] = training
                               ? manifest.training().schedule().microbatches()
                               : context.microbatches;
  report["predicted"] = {{"step_seconds", p.stepSeconds},
                         {"bubble", p.bubble},
                         {"memory_bytes", p.memoryBytes}};
  report["lower_bound_seconds"] = p.lowerBound;
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace pipec

// The stage table and its JSON twin, both from one summary.
// Tests: test/unit/compiler/ReportTest.cpp, test/e2e/cli/inspect.test.
#include "compiler/Report.h"

#include "pipec/tensor.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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

uint64_t weightBytes(const schema::Stage &stage) {
  uint64_t bytes = 0;
  for (const schema::Weight &weight : stage.weights())
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

struct Prediction {
  double stepSeconds = 0, bubble = 0, lowerBound = 0;
  std::vector<uint64_t> memoryBytes;
};

/// A package for training has its schedule's.
int64_t microbatchesOf(const schema::Manifest &manifest,
                       const ReportContext &context) {
  return manifest.has_training() ? manifest.training().schedule().microbatches()
                                 : context.microbatches;
}

/// Fill and drain of one step: the slowest stage paces m microbatches. A
/// backward is taken for twice the forward. What training keeps between the two
/// is not in the memory.
Prediction predict(const schema::Manifest &manifest,
                   const ReportContext &context) {
  Prediction p;
  double total = 0, slowest = 0;
  for (const schema::Stage &stage : manifest.stages()) {
    double seconds =
        stage.estimated_seconds_size() ? stage.estimated_seconds(0) : 0;
    total += seconds;
    slowest = std::max(slowest, seconds);
    size_t s = stage.index();
    uint64_t arena = s < context.arenaBytes.size() ? context.arenaBytes[s] : 0;
    uint64_t transfers = 0;
    for (const schema::Transfer &transfer : manifest.transfers())
      if (transfer.to() == stage.index())
        transfers += 2 * firstType(transfer.types()).byteSize();
    p.memoryBytes.push_back(arena + transfers + weightBytes(stage));
  }
  int stages = std::max(manifest.stages_size(), 1);
  const int64_t microbatches = microbatchesOf(manifest, context);
  const double passes = manifest.has_training() ? 3 : 1;
  p.stepSeconds = passes * (total + (microbatches - 1) * slowest);
  p.lowerBound = passes * total * microbatches / stages;
  if (p.stepSeconds > 0)
    p.bubble = 1 - p.lowerBound / p.stepSeconds;
  return p;
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
    text += indent + names[i] + "\n";
  if (names.size() > kNamesShown)
    text += indent + "... and " + std::to_string(names.size() - kNamesShown) +
            " more (--json lists all)\n";
  return text;
}

std::string stageText(const schema::Manifest &manifest,
                      const schema::Stage &stage) {
  std::string modules;
  for (const std::string &module : stage.modules())
    modules += (modules.empty() ? "" : ", ") + module;
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
    parameters.push_back(std::move(name));
  }
  std::string text =
      "stage " + std::to_string(stage.index()) + ": " +
      (modules.empty() ? "(operations outside of any module)" : modules) + "\n";
  text += "    " + withCommas(elements) + " parameters, " +
          bytesText(parameterBytes(stage)) + ", " +
          format("%.3g", stage.flops_size() ? stage.flops(0) / 1e6 : 0) +
          " MFLOP a microbatch\n";
  return text + nameList(parameters, "      ");
}

bool skipsStage(const schema::Transfer &transfer) {
  const int64_t from = transfer.from(), to = transfer.to();
  return std::abs(to - from) > 1;
}

std::string transferText(const schema::Manifest &manifest) {
  if (!manifest.transfers_size())
    return "";
  std::string text = "crosses the cuts, for each microbatch:\n";
  for (const schema::Transfer &transfer : manifest.transfers()) {
    TensorType type = firstType(transfer.types());
    text +=
        "    " + std::to_string(transfer.from()) + " -> " +
        std::to_string(transfer.to()) + "  " + transfer.value() +
        (transfer.producer().empty() ? "" : " (" + transfer.producer() + ")") +
        "  " + type.str() + ", " + bytesText(type.byteSize()) +
        (skipsStage(transfer) ? ", skips a stage" : "") + "\n";
  }
  return text;
}

Json namesRead(const schema::Manifest &manifest, uint32_t stage) {
  Json names = Json::array();
  for (const schema::Transfer &transfer : manifest.transfers())
    if (transfer.to() == stage)
      names.push_back(transfer.value());
  return names;
}

Json namesSent(const schema::Manifest &manifest, uint32_t stage) {
  Json names = Json::array();
  std::set<std::string> seen;
  for (const schema::Transfer &transfer : manifest.transfers())
    if (transfer.from() == stage && seen.insert(transfer.value()).second)
      names.push_back(transfer.value());
  return names;
}

int64_t rankOf(const schema::Manifest &manifest, uint32_t stage) {
  const auto &ranks = manifest.training().schedule().rank_of_stage();
  return static_cast<int>(stage) < ranks.size() ? ranks[stage] : stage;
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
  std::string text = manifest.model() + ": " +
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
  if (manifest.has_training())
    text +=
        "for training: " + std::to_string(microbatchesOf(manifest, context)) +
        " microbatches a step, schedule " +
        manifest.training().schedule().name() + ", on " +
        std::to_string(manifest.training().schedule().ranks_size()) +
        " ranks\n";
  for (const schema::Stage &stage : manifest.stages())
    text += stageText(manifest, stage);
  text += transferText(manifest);
  auto shared = sharedWeights(manifest);
  if (!shared.empty()) {
    text += "read in several stages (one copy in each):\n";
    for (const auto &[name, stages] : shared) {
      text += "    " + name + ": stages";
      for (int stage : stages)
        text += " " + std::to_string(stage);
      text += "\n";
    }
  }
  return text;
}

std::string jsonReport(const schema::Manifest &manifest,
                       const ReportContext &context) {
  Json report;
  report["model"] = manifest.model();
  report["stages"] = Json::array();
  for (const schema::Stage &stage : manifest.stages())
    report["stages"].push_back(stageJson(manifest, stage));
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
  Prediction p = predict(manifest, context);
  report["schedule"] = manifest.has_training()
                           ? manifest.training().schedule().name()
                           : "inference";
  report["microbatches"] = microbatchesOf(manifest, context);
  report["predicted"] = {{"step_seconds", p.stepSeconds},
                         {"bubble", p.bubble},
                         {"memory_bytes", p.memoryBytes}};
  report["lower_bound_seconds"] = p.lowerBound;
  return report.dump(2) + "\n";
}

} // namespace pipec

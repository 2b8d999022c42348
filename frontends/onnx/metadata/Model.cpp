// Opening of a model file: see Model.h.
//
// In: the mapped file. Out: a Model. Order: scan, parse, versions, order of
// nodes, tensors, paths, graph, interface. Tests:
// test/unit/frontends/OpenTest.cpp.
#include "frontends/onnx/metadata/Model.h"

#include "frontends/FileKind.h"

#include "frontends/common/Text.h"
#include "runtime/base/printable.h"

#include "llvm/Support/JSON.h"

#include <climits>
#include <filesystem>

namespace pipec::onnx {

std::string Model::where(int node) const {
  const Origin &origin = origins[node];
  std::vector<std::string> parts{origin.op};
  if (!origin.module.empty())
    parts.push_back("module " + origin.module);
  if (!origin.file.empty())
    parts.push_back(origin.file + ":" + std::to_string(origin.line));
  return path + ": node '" + origin.node + "' (" + joined(parts) + ")";
}

constexpr char kSignature[] =
    "pkg.torch.export.ExportedProgram.graph_signature";

static const std::string *signatureOf(const Model &model) {
  return findMetadata(model.graph().metadata_props(), kSignature);
}

/// Names go into packages, reports and messages, all of which are UTF-8.
static Status checkNames(const Model &model) {
  auto check = [&](const std::string &name, const std::string &what) -> Status {
    if (llvm::json::isUTF8(name))
      return Status();
    return dataLoss(model.path + ": the name of " + what + ", '" +
                    printable(name) + "', is not UTF-8");
  };
  const auto &graph = model.graph();
  if (const std::string *text = signatureOf(model))
    if (!llvm::json::isUTF8(*text))
      return dataLoss(model.path + ": the graph's metadata '" + kSignature +
                      "' is not UTF-8: the file is damaged");
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto &node = graph.node(i);
    const std::string which = "node " + std::to_string(i);
    PIPEC_RETURN_IF_ERROR(check(node.name(), which));
    PIPEC_RETURN_IF_ERROR(check(node.op_type(), which + "'s operator"));
    PIPEC_RETURN_IF_ERROR(check(node.domain(), which + "'s domain"));
    for (const auto &name : node.input())
      PIPEC_RETURN_IF_ERROR(check(name, "an input of " + which));
    for (const auto &name : node.output())
      PIPEC_RETURN_IF_ERROR(check(name, "an output of " + which));
  }
  for (const auto &tensor : graph.initializer())
    PIPEC_RETURN_IF_ERROR(check(tensor.name(), "an initializer"));
  for (const auto *ports : {&graph.input(), &graph.output()})
    for (const auto &port : *ports)
      PIPEC_RETURN_IF_ERROR(check(port.name(), "an input or output"));
  return Status();
}

static void readOrigins(Model &model) {
  std::vector<NodeMetadata> metadata;
  for (const auto &node : model.graph().node())
    metadata.push_back(readNodeMetadata(node));
  std::vector<std::string> modules = completeModulePaths(metadata);
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const auto &node = model.graph().node(i);
    Origin origin;
    origin.module = llvm::json::fixUTF8(modules[i]);
    origin.node = node.name();
    if (origin.node.empty())
      origin.node =
          node.output_size() ? node.output(0) : "#" + std::to_string(i);
    origin.op = node.op_type();
    origin.file = llvm::json::fixUTF8(metadata[i].file);
    origin.line = metadata[i].line;
    origin.index = i;
    model.origins.push_back(std::move(origin));
    model.calls.push_back(std::move(metadata[i].call));
  }
  if (const std::string *text = signatureOf(model))
    model.signature = parseGraphSignature(*text);
  model.folded = readFoldedValues(model.graph());
}

/// Nodes may stand in any order that has no cycle: ONNX Runtime's float16
/// converter appends its casts. What was scanned goes by their positions.
static void orderNodes(Model &model, ScannedModel &scanned) {
  std::vector<int> order = sortNodes(*model.proto.mutable_graph());
  model.reordered = !order.empty();
  if (order.empty())
    return;
  std::vector<int> positions(order.size());
  for (size_t to = 0; to < order.size(); ++to)
    positions[order[to]] = static_cast<int>(to);
  std::map<std::pair<int, int>, Payload> attributes;
  for (const auto &[place, payload] : scanned.attributes)
    attributes[{positions[place.first], place.second}] = payload;
  scanned.attributes = std::move(attributes);
}

static Status readTensors(Model &model, const ScannedModel &scanned,
                          std::shared_ptr<const MappedFile> file) {
  TensorFiles files(std::filesystem::path(model.path).parent_path().string(),
                    std::move(file));
  const auto &graph = model.graph();
  for (int i = 0; i < graph.initializer_size(); ++i) {
    const auto &tensor = graph.initializer(i);
    std::string what = model.path + ": initializer '" + tensor.name() + "'";
    if (tensor.name().empty())
      return dataLoss(model.path + ": initializer " + std::to_string(i) +
                      " has no name");
    auto payload = scanned.initializers.find(i);
    auto source = files.locate(tensor, payload == scanned.initializers.end()
                                           ? nullptr
                                           : &payload->second);
    if (!source.ok())
      return source.status().withPrefix(what);
    if (!model.initializerByName.emplace(tensor.name(), i).second)
      return dataLoss(what + " is there twice");
    model.initializers.push_back({tensor.name(), std::move(*source)});
  }
  for (int n = 0; n < graph.node_size(); ++n)
    for (int a = 0; a < graph.node(n).attribute_size(); ++a) {
      const auto &attribute = graph.node(n).attribute(a);
      if (!attribute.has_t())
        continue;
      auto payload = scanned.attributes.find({n, a});
      auto source = files.locate(
          attribute.t(),
          payload == scanned.attributes.end() ? nullptr : &payload->second);
      if (!source.ok())
        return source.status().withPrefix(model.where(n) + ": attribute '" +
                                          attribute.name() + "'");
      model.attributeTensors[{n, a}] = std::move(*source);
    }
  return Status();
}

/// The TorchScript-based exporter stores equal initializers once and names the
/// others by Identity nodes.
static void readAliasNodes(Model &model) {
  const auto &graph = model.graph();
  model.aliasNode.assign(graph.node_size(), false);
  if (!model.signature.empty())
    return;
  for (int n = 0; n < graph.node_size(); ++n) {
    const auto &node = graph.node(n);
    if (node.op_type() != "Identity" || !node.domain().empty() ||
        node.input_size() != 1 || node.output_size() != 1)
      continue;
    auto found = model.initializerByName.find(node.input(0));
    const std::string &name = node.output(0);
    if (found == model.initializerByName.end() || name.empty() ||
        name[0] == '/' || model.initializerByName.count(name))
      continue;
    model.initializerByName[name] = static_cast<int>(model.initializers.size());
    model.initializers.push_back(
        {name, model.initializers[found->second].source});
    model.aliasNode[n] = true;
  }
}

/// Names of initializers complete the paths, so this comes after all of them.
static void restorePaths(Model &model) {
  if (!model.signature.empty())
    return;
  const auto &graph = model.graph();
  std::map<std::string, std::string> merged; // second name -> the first
  for (int n = 0; n < graph.node_size(); ++n)
    if (model.aliasNode[n])
      merged[graph.node(n).output(0)] = graph.node(n).input(0);
  std::vector<std::string> paths;
  std::vector<std::vector<std::string>> reads(graph.node_size());
  for (int n = 0; n < graph.node_size(); ++n) {
    paths.push_back(model.origins[n].module);
    for (const std::string &name : graph.node(n).input()) {
      if (model.aliasNode[n] || !model.initializerByName.count(name))
        continue;
      auto first = merged.find(name);
      bool nameless = startsWith(name, "onnx::");
      reads[n].push_back(nameless && first != merged.end() ? first->second
                                                           : name);
    }
  }
  restoreContainers(paths, reads);
  for (int n = 0; n < graph.node_size(); ++n)
    model.origins[n].module = paths[n];
}

/// `why` it cannot be read, or what it is instead, where that is known.
static Status notOnnx(const MappedFile &file, const Status &why) {
  const std::string other = describeOtherFile(file.data(), file.size());
  return (other.empty() ? why : dataLoss("no ONNX file: it is " + other))
      .withPrefix(file.path());
}

StatusOr<std::unique_ptr<Model>>
openModel(std::shared_ptr<const MappedFile> file) {
  auto model = std::make_unique<Model>();
  model->path = file->path();
  auto scanned = scanModel(file->data(), file->size());
  if (!scanned.ok())
    return notOnnx(*file, scanned.status());
  if (scanned->pruned.size() > INT_MAX)
    return unsupported(model->path +
                       ": the graph without its weights is larger than 2 GiB");
  if (!model->proto.ParseFromArray(scanned->pruned.data(),
                                   static_cast<int>(scanned->pruned.size())))
    return notOnnx(*file, dataLoss("not a valid ONNX file: the message does "
                                   "not parse"));
  scanned->pruned.clear();
  scanned->pruned.shrink_to_fit();
  if (!model->proto.has_graph() && model->proto.ir_version() == 0)
    PIPEC_RETURN_IF_ERROR(
        notOnnx(*file, dataLoss("not a valid ONNX file: it has no graph")));
  PIPEC_RETURN_IF_ERROR(checkVersions(*model));
  for (const auto &opset : model->proto.opset_import())
    if (opset.domain().empty() || opset.domain() == "ai.onnx")
      model->opset = opset.version();
  PIPEC_RETURN_IF_ERROR(checkNames(*model));
  orderNodes(*model, *scanned);
  readOrigins(*model);
  PIPEC_RETURN_IF_ERROR(readTensors(*model, *scanned, std::move(file)));
  readAliasNodes(*model);
  PIPEC_RETURN_IF_ERROR(restoreRemovedBiases(*model));
  restorePaths(*model);
  PIPEC_RETURN_IF_ERROR(checkGraph(*model));
  PIPEC_ASSIGN_OR_RETURN(model->interface, readInterface(*model));
  return model;
}

StatusOr<std::unique_ptr<Model>> openModel(const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(auto file, MappedFile::open(path));
  return openModel(std::move(file));
}

} // namespace pipec::onnx

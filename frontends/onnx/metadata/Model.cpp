// Opening of a model file: see Model.h.
//
// In: the mapped file. Out: a Model. Order: the message, origins of nodes,
// tensors, paths, graph, interface. Tests: test/unit/frontends/OpenTest.cpp.
#include "frontends/onnx/metadata/Model.h"

#include "frontends/common/Text.h"

#include "llvm/Support/JSON.h"

namespace pipec::onnx {

constexpr char kSignature[] =
    "pkg.torch.export.ExportedProgram.graph_signature";

static const std::string *signatureOf(const Model &model) {
  return findMetadata(model.graph().metadata_props(), kSignature);
}

static Status readOrigins(Model &model) {
  const std::string *signature = signatureOf(model);
  if (signature && !llvm::json::isUTF8(*signature))
    return dataLoss(model.path + ": the graph's metadata '" + kSignature +
                    "' is not UTF-8: the file is damaged");
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
    model.origins.push_back(std::move(origin));
    model.calls.push_back(std::move(metadata[i].call));
  }
  if (signature)
    model.signature = parseGraphSignature(*signature);
  model.folded = readFoldedValues(model.graph());
  return {};
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

StatusOr<std::unique_ptr<Model>>
openModel(std::shared_ptr<const MappedFile> file) {
  auto model = std::make_unique<Model>();
  PIPEC_ASSIGN_OR_RETURN(ScannedModel scanned, parseFile(*file, *model));
  PIPEC_RETURN_IF_ERROR(readOrigins(*model));
  PIPEC_RETURN_IF_ERROR(locateTensors(*model, scanned, std::move(file)));
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

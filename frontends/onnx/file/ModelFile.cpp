// Reading of an ONNX file: see ModelFile.h.
//
// In: the mapped file. Out: a ModelFile. Order: scan, parse, versions, names,
// order of nodes; tensors. Tests: test/unit/frontends/OpenTest.cpp.
#include "frontends/onnx/file/ModelFile.h"

#include "runtime/base/printable.h"

#include "llvm/Support/JSON.h"

#include <climits>
#include <filesystem>

namespace pipec::onnx {

/// Names go into packages, reports and messages, all of which are UTF-8.
static Status checkNames(const ModelFile &model) {
  auto check = [&](const std::string &name, const std::string &what) -> Status {
    if (llvm::json::isUTF8(name))
      return Status();
    return dataLoss(model.path + ": the name of " + what + ", '" +
                    printable(name) + "', is not UTF-8");
  };
  const auto &graph = model.graph();
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

/// Nodes may stand in any order that has no cycle: ONNX Runtime's float16
/// converter appends its casts. What was scanned goes by their positions.
static void orderNodes(ModelFile &model, ScannedModel &scanned) {
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

Status locateTensors(ModelFile &model, const ScannedModel &scanned,
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

/// The message as it is, whatever it says. Errors: DataLoss where it is none,
/// Unsupported where it is too large.
static StatusOr<ScannedModel> parse(const MappedFile &file,
                                    ::onnx::ModelProto &proto) {
  auto scanned = scanModel(file.data(), file.size());
  if (!scanned.ok())
    return scanned;
  if (scanned->pruned.size() > INT_MAX)
    return unsupported("the graph without its weights is larger than 2 GiB");
  if (!proto.ParseFromArray(scanned->pruned.data(),
                            static_cast<int>(scanned->pruned.size())))
    return dataLoss("not a valid ONNX file: the message does not parse");
  scanned->pruned.clear();
  scanned->pruned.shrink_to_fit();
  return scanned;
}

bool isOnnx(const MappedFile &file) {
  ::onnx::ModelProto proto;
  const auto scanned = parse(file, proto);
  if (!scanned.ok())
    return scanned.status().getCode() == StatusCode::Unsupported;
  return proto.has_graph() || proto.ir_version() != 0;
}

StatusOr<ScannedModel> parseFile(const MappedFile &file, ModelFile &model) {
  model.path = file.path();
  auto scanned = parse(file, model.proto);
  if (!scanned.ok())
    return scanned.status().withPrefix(model.path);
  PIPEC_RETURN_IF_ERROR(checkVersions(model));
  for (const auto &opset : model.proto.opset_import())
    if (opset.domain().empty() || opset.domain() == "ai.onnx")
      model.opset = opset.version();
  PIPEC_RETURN_IF_ERROR(checkNames(model));
  orderNodes(model, *scanned);
  return scanned;
}

} // namespace pipec::onnx

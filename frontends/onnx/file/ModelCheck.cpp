// Checks of a parsed model before anything is imported: see ModelFile.h.
//
// In: a ModelFile with its proto, tensors and origins. Out: ok, or the first
// fault with its place. Tests: test/unit/frontends/OpenTest.cpp.
#include "frontends/onnx/file/ModelFile.h"

#include "frontends/common/Text.h"

#include <set>

namespace pipec::onnx {

Status checkVersions(const ModelFile &model) {
  const auto &proto = model.proto;
  if (!proto.has_graph())
    return dataLoss(model.path + ": not a valid ONNX file: it has no graph");
  if (proto.ir_version() < 3 || proto.ir_version() > ::onnx::IR_VERSION)
    return unsupported(model.path + ": ONNX IR version " +
                       std::to_string(proto.ir_version()) +
                       " is not supported; pipec reads 3 to " +
                       std::to_string(::onnx::IR_VERSION));
  int64_t opset = -1;
  for (const auto &entry : proto.opset_import())
    if (entry.domain().empty() || entry.domain() == "ai.onnx")
      opset = entry.version();
  if (opset < 0)
    return dataLoss(model.path +
                    ": the file names no opset of the default domain");
  if (opset < kOldestOpset || opset > kNewestOpset)
    return unsupported(model.path + ": opset " + std::to_string(opset) +
                       " is not supported; pipec reads " +
                       std::to_string(kOldestOpset) + " to " +
                       std::to_string(kNewestOpset) +
                       ": export again with opset_version=18");
  if (proto.functions_size())
    return unsupported(model.path + ": model-local functions ('" +
                       proto.functions(0).name() +
                       "') are not supported; inline them first, with "
                       "onnx.inliner.inline_local_functions");
  if (proto.graph().sparse_initializer_size())
    return unsupported(
        model.path +
        ": sparse initializers are not supported; store them dense");
  return Status();
}

namespace {

/// Single assignment and order of definition, over one graph.
class GraphCheck {
public:
  explicit GraphCheck(const ModelFile &model) : model(model) {}
  Status run();

private:
  Status define(const std::string &name, const std::string &what);
  Status checkNode(int index);
  Status checkReserved() const;
  Status undefined(int node, const std::string &name) const;

  const ModelFile &model;
  std::set<std::string> defined;
};

Status GraphCheck::define(const std::string &name, const std::string &what) {
  if (name.empty())
    return dataLoss(what + " has no name");
  if (!defined.insert(name).second)
    return dataLoss(what + " defines '" + name + "', which is defined already");
  return Status();
}

Status GraphCheck::undefined(int node, const std::string &name) const {
  for (int later = node; later < model.graph().node_size(); ++later)
    for (const std::string &output : model.graph().node(later).output())
      if (output == name)
        return dataLoss(
            model.where(node) + " reads '" + name + "' before node '" +
            model.origins[later].node +
            "' makes it, and no other order is right: the graph has a cycle");
  return dataLoss(model.where(node) + " reads '" + name +
                  "', which no input, initializer or node defines");
}

Status GraphCheck::checkNode(int index) {
  const auto &node = model.graph().node(index);
  if (node.op_type().empty())
    return dataLoss(model.where(index) + " has no operator");
  std::set<std::string> names;
  for (const auto &attribute : node.attribute()) {
    if (attribute.name().empty() || !names.insert(attribute.name()).second)
      return dataLoss(model.where(index) + ": attribute '" + attribute.name() +
                      "' is unnamed or there twice");
    if (!attribute.ref_attr_name().empty())
      return dataLoss(
          model.where(index) + ": attribute '" + attribute.name() +
          "' refers to a function's attribute outside of a function");
  }
  for (const std::string &input : node.input())
    if (!input.empty() && !defined.count(input))
      return undefined(index, input);
  if (model.aliasNode[index])
    return Status();
  for (const std::string &output : node.output())
    if (!output.empty())
      PIPEC_RETURN_IF_ERROR(define(output, model.where(index)));
  return Status();
}

/// What is stored under its name must have one that safetensors can hold.
Status GraphCheck::checkReserved() const {
  auto refuse = [&](const std::string &name, const char *what) {
    return name != kReservedName
               ? Status()
               : unsupported(model.path + ": " + what + " is named '" +
                             kReservedName +
                             "', which safetensors files keep for themselves: "
                             "give it another name");
  };
  for (const auto &input : model.graph().input())
    PIPEC_RETURN_IF_ERROR(refuse(input.name(), "a graph input"));
  for (const auto &output : model.graph().output())
    PIPEC_RETURN_IF_ERROR(refuse(output.name(), "a graph output"));
  for (const Initializer &initializer : model.initializers)
    PIPEC_RETURN_IF_ERROR(refuse(initializer.name, "an initializer"));
  return Status();
}

Status GraphCheck::run() {
  for (const Initializer &initializer : model.initializers)
    PIPEC_RETURN_IF_ERROR(
        define(initializer.name, model.path + ": an initializer"));
  std::set<std::string> inputs;
  for (const auto &input : model.graph().input()) {
    if (!inputs.insert(input.name()).second)
      return dataLoss(model.path + ": graph input '" + input.name() +
                      "' is there twice");
    if (!model.initializerByName.count(input.name()))
      PIPEC_RETURN_IF_ERROR(
          define(input.name(), model.path + ": a graph input"));
  }
  for (int i = 0; i < model.graph().node_size(); ++i)
    PIPEC_RETURN_IF_ERROR(checkNode(i));
  for (const auto &output : model.graph().output())
    if (!defined.count(output.name()))
      return dataLoss(model.path + ": graph output '" + output.name() +
                      "' is defined by nothing");
  if (model.graph().output().empty())
    return dataLoss(model.path + ": the graph has no output");
  return checkReserved();
}

StatusOr<ModelInterface::Port> readPort(const ModelFile &model,
                                        const ::onnx::ValueInfoProto &info,
                                        const char *kind) {
  std::string what = model.path + ": graph " + kind + " '" + info.name() + "'";
  ModelInterface::Port port;
  port.name = info.name();
  if (info.type().value_case() == ::onnx::TypeProto::VALUE_NOT_SET)
    return dataLoss(what + " has no type; export the model again, or let "
                           "onnx.shape_inference complete the file");
  if (!info.type().has_tensor_type())
    return unsupported(what +
                       " is no dense tensor (sequences, maps, optionals "
                       "and sparse tensors are not supported): " +
                       (kind == std::string("input") ? "take" : "return") +
                       " the tensors themselves");
  const auto &tensor = info.type().tensor_type();
  auto dtype = dtypeFromOnnx(tensor.elem_type());
  if (!dtype.ok())
    return dtype.status().withPrefix(what);
  port.dtype = *dtype;
  port.hasShape = tensor.has_shape();
  for (const auto &dim : tensor.shape().dim()) {
    ModelInterface::Dim size;
    if (dim.has_dim_value()) {
      size.size = dim.dim_value();
      if (size.size < -1 || size.size > (int64_t(1) << 62))
        return dataLoss(what + " has a dimension of " +
                        std::to_string(size.size));
    } else {
      size.symbol = dim.dim_param();
    }
    port.shape.push_back(std::move(size));
  }
  return port;
}

} // namespace

Status checkGraph(const ModelFile &model) { return GraphCheck(model).run(); }

StatusOr<ModelInterface> readInterface(const ModelFile &model) {
  ModelInterface interface;
  for (const auto &input : model.graph().input()) {
    if (model.initializerByName.count(input.name()))
      continue;
    PIPEC_ASSIGN_OR_RETURN(auto port, readPort(model, input, "input"));
    interface.inputs.push_back(std::move(port));
  }
  // An exporter lists what a model returns twice two times; outputs are stored
  // by name, so one of it is all there is.
  std::set<std::string> seen;
  for (const auto &output : model.graph().output()) {
    if (!seen.insert(output.name()).second)
      continue;
    PIPEC_ASSIGN_OR_RETURN(auto port, readPort(model, output, "output"));
    interface.outputs.push_back(std::move(port));
  }
  return interface;
}

} // namespace pipec::onnx

// See CallOperands.h.
#include "frontends/onnx/metadata/CallOperands.h"

#include "frontends/common/Text.h"

#include <algorithm>

namespace pipec::onnx {

/// Where the ATen operators of a family have their matrix, weight, bias, mean
/// and variance; -1: nowhere. Input is what the weight is multiplied with.
struct TargetForm {
  const char *name; // part of the names of all of them
  int input, weight, bias, mean, variance;
  enum Kind { Product, Convolution, Norm, Other } kind;
  /// Scale and shift are vectors that the exporter stretches to [C, 1, 1] or
  /// [1, C, 1, 1].
  bool stretches = false;
};

namespace {

// The first that fits.
constexpr TargetForm kTargets[] = {
    {"aten.linear.", 0, 1, 2, -1, -1, TargetForm::Product},
    {"aten.addmm.", 1, 2, 0, -1, -1, TargetForm::Product},
    {"aten.bilinear.", 0, 2, 3, -1, -1, TargetForm::Other},
    {"aten.conv", 0, 1, 2, -1, -1, TargetForm::Convolution},
    {"aten._conv", 0, 1, 2, -1, -1, TargetForm::Convolution},
    {"layer_norm.", 0, 2, 3, -1, -1, TargetForm::Norm},
    {"rms_norm.", 0, 2, -1, -1, -1, TargetForm::Norm},
    {"native_group_norm.", 0, 1, 2, -1, -1, TargetForm::Norm, true},
    {"group_norm.", 0, 2, 3, -1, -1, TargetForm::Norm, true},
    {"instance_norm.", 0, 1, 2, 3, 4, TargetForm::Norm, true},
    {"batch_norm", 0, 1, 2, 3, 4, TargetForm::Norm, true},
    {"aten.embedding.", -1, 0, -1, -1, -1, TargetForm::Other},
    {"aten.index.", -1, 0, -1, -1, -1, TargetForm::Other},
    {"prelu", 0, 1, -1, -1, -1, TargetForm::Other, true},
};

const TargetForm *formOfTarget(const std::string &target) {
  for (const TargetForm &form : kTargets)
    if (target.find(form.name) != std::string::npos)
      return &form;
  return nullptr;
}

bool isOneOf(const std::string &op, std::initializer_list<const char *> ops) {
  return std::any_of(ops.begin(), ops.end(),
                     [&](const char *name) { return op == name; });
}

bool hasSetFlag(const ::onnx::NodeProto &node, const char *name) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [&](const auto &attribute) {
                       return attribute.name() == name && attribute.i() != 0;
                     });
}

/// Nodes that move elements and compute nothing.
bool isMove(const std::string &op) {
  return isOneOf(op, {"Cast", "Concat", "Constant", "Expand", "Gather",
                      "GatherElements", "GatherND", "Identity", "Range",
                      "Reshape", "Shape", "Slice", "Squeeze", "Tile",
                      "Transpose", "Unsqueeze"});
}

} // namespace

CallOperands::CallOperands(const Model &model) : model(model) {
  for (int n = 0; n < model.graph().node_size(); ++n)
    if (!model.calls[n].result.empty())
      nodesByCall[model.calls[n].result].push_back(n);
}

std::vector<std::string> CallOperands::parametersOf(int node) const {
  std::vector<std::string> names;
  for (const std::string &reference : model.calls[node].references) {
    auto found = model.signature.byPlaceholder.find(reference);
    if (found == model.signature.byPlaceholder.end())
      continue;
    const std::string &name = model.signature.entries[found->second].target;
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return names;
}

const std::vector<int> &CallOperands::nodesOfCall(int node) const {
  static const std::vector<int> kNone;
  auto found = nodesByCall.find(model.calls[node].result);
  return found == nodesByCall.end() ? kNone : found->second;
}

/// The argument that stands at the place of `role`, by position or keyword.
Operand CallOperands::argument(const FxCall &call, Role role,
                               const TargetForm &form) const {
  struct Place {
    int position;
    const char *keyword;
  };
  const Place places[] = {{-1, ""},
                          {form.input, "input"},
                          {form.weight, "weight"},
                          {form.bias, "bias"},
                          {form.mean, "running_mean"},
                          {form.variance, "running_var"}};
  const Place &place = places[static_cast<int>(role)];
  if (role == Role::None)
    return Operand();
  std::string text;
  if (place.position >= 0 &&
      place.position < static_cast<int>(call.args.size()))
    text = call.args[place.position];
  else if (auto found = call.keywords.find(place.keyword);
           found != call.keywords.end())
    text = found->second;
  if (text.empty() || text[0] != '%')
    return Operand(Operand::Kind::Constant);
  auto found = model.signature.byPlaceholder.find(text.substr(1));
  if (found == model.signature.byPlaceholder.end())
    return Operand(Operand::Kind::Value, text.substr(1));
  return Operand(Operand::Kind::Named,
                 model.signature.entries[found->second].target);
}

/// In a norm that the exporter wrote as several nodes: the role of the place
/// where the tensor ends up, moved.
CallOperands::Role CallOperands::roleInNorm(Reader reader) const {
  const auto &graph = model.graph();
  while (isMove(graph.node(reader.node).op_type())) {
    if (reader.input != 0 || graph.node(reader.node).output_size() == 0)
      return Role::None;
    const std::string &made = graph.node(reader.node).output(0);
    Reader next{-1, -1};
    for (int n : nodesOfCall(reader.node))
      for (int k = 0; k < graph.node(n).input_size() && next.node < 0; ++k)
        if (n > reader.node && graph.node(n).input(k) == made)
          next = {n, k};
    if (next.node < 0)
      return Role::None;
    reader = next;
  }
  const std::string &op = graph.node(reader.node).op_type();
  if (isOneOf(op, {"LayerNormalization", "InstanceNormalization",
                   "BatchNormalization", "GroupNormalization",
                   "RMSNormalization"})) {
    constexpr Role kRoles[] = {Role::None, Role::Weight, Role::Bias, Role::Mean,
                               Role::Variance};
    return reader.input < 5 ? kRoles[reader.input] : Role::None;
  }
  return op == "Mul" ? Role::Weight : op == "Add" ? Role::Bias : Role::None;
}

CallOperands::Role CallOperands::roleOf(Reader reader,
                                        const TargetForm &form) const {
  if (form.kind == TargetForm::Norm)
    return roleInNorm(reader);
  const std::string &op = model.graph().node(reader.node).op_type();
  if (isOneOf(op, {"Conv", "ConvTranspose", "Gemm", "MatMul"})) {
    const bool matrices = op == "Gemm" || op == "MatMul";
    return reader.input == 0 && matrices ? Role::Input
           : reader.input == 1           ? Role::Weight
           : reader.input == 2           ? Role::Bias
                                         : Role::None;
  }
  if (op == "Add")
    return Role::Bias;
  // aten.prelu's slope; a table; a weight that is still to be moved.
  if (op == "PRelu" ? reader.input == 1 : isMove(op) && reader.input == 0)
    return Role::Weight;
  return Role::None;
}

static bool isStretchedVector(const TensorType &type) {
  return type.rank() > 1 &&
         *std::max_element(type.shape.begin(), type.shape.end()) ==
             type.numElements();
}

/// aten.index brings the axes that have indices to the front: [1, 0, 2] of
/// "[None, %i]" and rank 3. Nothing where that is no permutation.
static Permutation orderOfIndexed(const std::string &indices, int64_t rank) {
  Permutation front, back;
  int64_t axis = 0;
  for (size_t pos = indices.find_first_of("%N"); pos != std::string::npos;
       pos = indices.find_first_of("%N", indices.find(',', pos)))
    (indices[pos] == '%' ? front : back).push_back(axis++);
  for (; axis < rank; ++axis)
    back.push_back(axis);
  front.insert(front.end(), back.begin(), back.end());
  return static_cast<int64_t>(front.size()) == rank ? front : Permutation();
}

void CallOperands::setForm(Operand &operand, const TensorType &type,
                           Reader reader, Role role,
                           const TargetForm &form) const {
  const auto &node = model.graph().node(reader.node);
  const std::string target = form.name;
  if (role != Role::Weight && role != Role::Bias)
    return;
  if (target == "aten.bilinear." && role == Role::Weight) {
    operand.form = Form::Bilinear;
  } else if (target == "aten.linear." && role == Role::Weight &&
             (node.op_type() == "MatMul" ||
              (node.op_type() == "Gemm" && !hasSetFlag(node, "transB")))) {
    operand.form = Form::Moved;
    operand.moved = {1, 0};
  } else if (target == "aten.index.") {
    const auto &args = model.calls[reader.node].args;
    operand.moved = orderOfIndexed(args.size() > 1 ? args[1] : "", type.rank());
    if (operand.moved.empty())
      operand.kind = Operand::Kind::Unknown;
    operand.form = Form::Moved;
  } else if (form.stretches && isStretchedVector(type)) {
    operand.form = Form::Stretched;
  }
}

Operand CallOperands::at(const Initializer &tensor, Reader reader) const {
  const FxCall &call = model.calls[reader.node];
  const TargetForm *form = formOfTarget(call.target);
  if (!form)
    return Operand();
  const std::string &op = model.graph().node(reader.node).op_type();
  const TensorType &type = tensor.source.type;
  const bool norm = form->kind == TargetForm::Norm;
  // The exporter writes group_norm as InstanceNormalization with made-up ones
  // and zeros, then Mul and Add.
  if (std::string(form->name).find("group_norm") != std::string::npos &&
      op == "InstanceNormalization")
    return Operand(Operand::Kind::Constant);
  // Literals of a decomposition (eps, an exponent) are scalars; parameters of
  // these operators are not.
  if (type.rank() == 0 || !isFloat(type.dtype))
    return norm ? Operand(Operand::Kind::Constant) : Operand();
  const Role role = roleOf(reader, *form);
  Operand operand = argument(call, role, *form);
  // A convolution gets zeros for the bias that it does not have; elsewhere the
  // place of a node's input does not settle which argument it is.
  const bool settled = norm || form->kind == TargetForm::Convolution ||
                       (op == "Gemm" && reader.input == 2);
  if (operand.kind == Operand::Kind::Constant && !settled)
    return Operand();
  setForm(operand, type, reader, role, *form);
  return operand;
}

std::optional<std::string> CallOperands::biasOf(int node) const {
  const FxCall &call = model.calls[node];
  const TargetForm *form = formOfTarget(call.target);
  if (!form || (form->kind != TargetForm::Convolution &&
                form->kind != TargetForm::Product))
    return std::nullopt;
  Operand operand = argument(call, Role::Bias, *form);
  return operand.kind == Operand::Kind::Named ? std::optional(operand.name)
                                              : std::nullopt;
}

bool CallOperands::isLayer(int node) const {
  const TargetForm *form = formOfTarget(model.calls[node].target);
  return form && form->name != std::string("aten.addmm.");
}

} // namespace pipec::onnx

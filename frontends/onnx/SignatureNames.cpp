// Names of weights in files of torch.onnx.export(dynamo=True): see
// WeightTable.h.
//
// The graph signature lists all parameters and buffers; the fx node of each
// ONNX node shows which of them it reads. So an initializer under a made-up
// name (val_110), or one that stands for several equal parameters, is matched
// by the node that reads it. In: Model. Out: WeightTable. Tests:
// test/unit/frontends/WeightTableTest.cpp, ModelNamesTest.cpp.
#include "frontends/onnx/WeightTable.h"

#include "frontends/onnx/Text.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

enum class Role { None, Weight, Bias, Mean, Variance };

/// Where an ATen operator has its weight, bias, mean and variance; -1: nowhere.
struct TargetForm {
  const char *name;
  int weight, bias, mean, variance;
};
constexpr TargetForm kTargets[] = {
    {"aten.linear.", 1, 2, -1, -1},
    {"aten.addmm.", 2, 0, -1, -1},
    {"aten.conv1d.", 1, 2, -1, -1},
    {"aten.conv2d.", 1, 2, -1, -1},
    {"aten.conv3d.", 1, 2, -1, -1},
    {"aten.convolution.", 1, 2, -1, -1},
    {"aten._convolution.", 1, 2, -1, -1},
    {"aten.conv_transpose1d.", 1, 2, -1, -1},
    {"aten.conv_transpose2d.", 1, 2, -1, -1},
    {"aten.conv_transpose3d.", 1, 2, -1, -1},
    {"aten.layer_norm.", 2, 3, -1, -1},
    {"aten.native_layer_norm.", 2, 3, -1, -1},
    {"aten.rms_norm.", 2, -1, -1, -1},
    {"aten._fused_rms_norm.", 2, -1, -1, -1},
    {"aten.group_norm.", 2, 3, -1, -1},
    {"aten.native_group_norm.", 1, 2, -1, -1},
    {"aten.batch_norm.", 1, 2, 3, 4},
    {"aten.instance_norm.", 1, 2, 3, 4},
    {"aten._native_batch_norm_legit_no_training.", 1, 2, 3, 4},
    {"aten._native_batch_norm_legit_functional.", 1, 2, 3, 4},
    {"aten._native_batch_norm_legit.", 1, 2, 3, 4},
    {"aten.native_batch_norm.", 1, 2, 3, 4},
    {"aten.cudnn_batch_norm.", 1, 2, 3, 4},
    {"aten.miopen_batch_norm.", 1, 2, 3, 4},
    {"aten._batch_norm_with_update.", 1, 2, 3, 4},
    {"aten._batch_norm_with_update_functional.", 1, 2, 3, 4},
    {"aten._batch_norm_no_update.", 1, 2, 3, 4},
    {"aten.embedding.", 0, -1, -1, -1},
    {"aten.prelu.", 1, -1, -1, -1},
    {"aten._prelu_kernel.", 1, -1, -1, -1},
    {"aten.bilinear.", 2, 3, -1, -1},
};

/// What an fx call says of one operand of a node.
struct Operand {
  enum class Kind {
    Unknown,  // not by its position
    Constant, // no argument stands there: the exporter made the tensor up
    Named
  };
  Kind kind = Kind::Unknown;
  std::string name; // state_dict name
};

bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

Role roleOf(const std::string &op, int input) {
  auto oneOf = [&](std::initializer_list<const char *> ops) {
    return std::any_of(ops.begin(), ops.end(),
                       [&](const char *name) { return op == name; });
  };
  if (oneOf({"LayerNormalization", "InstanceNormalization",
             "BatchNormalization", "GroupNormalization", "RMSNormalization"})) {
    constexpr Role kNormRoles[] = {Role::None, Role::Weight, Role::Bias,
                                   Role::Mean, Role::Variance};
    return input < 5 ? kNormRoles[input] : Role::None;
  }
  if (oneOf({"Conv", "ConvTranspose"}))
    return input == 1 ? Role::Weight : input == 2 ? Role::Bias : Role::None;
  if (op == "Gemm")
    return input == 2 ? Role::Bias : Role::Weight;
  if (oneOf({"MatMul", "Mul", "PRelu"}))
    return Role::Weight;
  if (oneOf({"Gather", "GatherND", "GatherElements", "Transpose", "Reshape",
             "Unsqueeze", "Expand"}))
    return input == 0 ? Role::Weight : Role::None;
  return op == "Add" ? Role::Bias : Role::None;
}

/// Matches the initializers of one model.
class SignatureNaming {
public:
  explicit SignatureNaming(const Model &model)
      : model(model), readers(readersOf(model)) {
    for (int n = 0; n < model.graph().node_size(); ++n) {
      made.insert(model.graph().node(n).output().begin(),
                  model.graph().node(n).output().end());
      made.insert(model.calls[n].result);
      for (const std::string &name : parametersOf(n))
        named.insert(name);
    }
  }
  WeightTable run();

private:
  std::optional<std::string> match(int initializer, Reader reader) const;
  Operand operandAt(int initializer, Reader reader,
                    const TargetForm &form) const;
  Operand operandOf(const FxCall &call, Role role,
                    const TargetForm &form) const;
  Role roleInNorm(Reader reader) const;
  std::optional<std::string> matchByExclusion(int initializer,
                                              Reader reader) const;
  std::vector<std::string> parametersOf(int node) const;
  std::optional<std::string> matchByConsumers(int initializer,
                                              int reader) const;
  std::optional<std::string> matchTransposed(int initializer,
                                             Reader reader) const;
  bool isOneOperation(int node) const;
  bool isNumber(int initializer, const FxCall &call) const;
  bool inStateDict(const std::string &name) const;
  bool isFlatBilinear(int initializer, const std::string &name,
                      Reader reader) const;
  bool toBilinear(WeightDecl &decl, Reader reader) const;
  void nameInitializer(int initializer);
  WeightUse declareFor(int initializer, const std::string &name, Reader reader);
  bool storedTransposed(int initializer, const std::string &name,
                        Reader reader) const;

  const Model &model;
  std::vector<std::vector<Reader>> readers;
  std::set<std::string> made;  // values of ONNX nodes and of fx calls
  std::set<std::string> named; // parameters and buffers that a call reads
  WeightTable table;
};

/// state_dict names among the references of the node's fx call.
std::vector<std::string> SignatureNaming::parametersOf(int node) const {
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

/// The argument that stands at the place of `role`, by position or keyword.
Operand SignatureNaming::operandOf(const FxCall &call, Role role,
                                   const TargetForm &form) const {
  struct Place {
    int position;
    const char *keyword;
  };
  const Place places[] = {{-1, ""},
                          {form.weight, "weight"},
                          {form.bias, "bias"},
                          {form.mean, "running_mean"},
                          {form.variance, "running_var"}};
  const Place &place = places[static_cast<int>(role)];
  if (role == Role::None)
    return {};
  std::string argument;
  if (place.position >= 0 &&
      place.position < static_cast<int>(call.args.size()))
    argument = call.args[place.position];
  else if (auto found = call.keywords.find(place.keyword);
           found != call.keywords.end())
    argument = found->second;
  if (argument.empty() || argument[0] != '%')
    return {Operand::Kind::Constant, ""};
  auto found = model.signature.byPlaceholder.find(argument.substr(1));
  if (found == model.signature.byPlaceholder.end())
    return {};
  return {Operand::Kind::Named, model.signature.entries[found->second].target};
}

/// The role of an input in a norm that the exporter wrote as several nodes:
/// that of the place where the tensor ends up, reshaped.
Role SignatureNaming::roleInNorm(Reader reader) const {
  static const std::set<std::string> kForms{"Cast",      "Expand",   "Identity",
                                            "Reshape",   "Squeeze",  "Tile",
                                            "Transpose", "Unsqueeze"};
  const auto &graph = model.graph();
  while (kForms.count(graph.node(reader.node).op_type())) {
    if (reader.input != 0 || graph.node(reader.node).output_size() == 0)
      return Role::None;
    const std::string &made = graph.node(reader.node).output(0);
    const std::string &result = model.calls[reader.node].result;
    Reader next{-1, -1};
    for (int n = reader.node + 1; n < graph.node_size() && next.node < 0; ++n)
      for (int k = 0; k < graph.node(n).input_size(); ++k)
        if (graph.node(n).input(k) == made && model.calls[n].result == result)
          next = {n, k};
    if (next.node < 0)
      return Role::None;
    reader = next;
  }
  return roleOf(graph.node(reader.node).op_type(), reader.input);
}

/// What stands at a node's input by the position in the fx call. The exporter's
/// optimizer keeps one of several equal tensors, so the initializer that the
/// node reads may be any of them: ones of a norm without a weight are a fresh
/// parameter of another module.
Operand SignatureNaming::operandAt(int initializer, Reader reader,
                                   const TargetForm &form) const {
  const FxCall &call = model.calls[reader.node];
  const std::string &op = model.graph().node(reader.node).op_type();
  const TensorType &type = model.initializers[initializer].source.type;
  const bool norm = isNormTarget(form.name);
  // The exporter writes group_norm as InstanceNormalization with made-up ones
  // and zeros, then Mul and Add.
  if (contains(form.name, "group_norm") && op == "InstanceNormalization")
    return {Operand::Kind::Constant, ""};
  // Literals of a decomposition (eps, an exponent) are scalars; parameters of
  // these operators are not.
  if (type.rank() == 0 || !isFloat(type.dtype))
    return norm ? Operand{Operand::Kind::Constant, ""} : Operand{};
  Operand operand = operandOf(
      call, norm ? roleInNorm(reader) : roleOf(op, reader.input), form);
  // A convolution gets zeros for the bias that it does not have; elsewhere the
  // place of a node's input does not settle which argument it is.
  const bool settled = norm || contains(form.name, "conv") ||
                       (op == "Gemm" && reader.input == 2);
  if (operand.kind == Operand::Kind::Constant && !settled)
    return {};
  return operand;
}

/// The call is one operation of its arguments as they are. Where it is several
/// (logaddexp: Exp, Add, Log) or has factors (alpha), a tensor without a name
/// may be the result of one of them on a parameter: exp(v), not v.
bool SignatureNaming::isOneOperation(int node) const {
  const FxCall &call = model.calls[node];
  if (!call.keywords.empty())
    return false;
  static const std::set<std::string> kForms{
      "Cast",     "Concat",    "Constant", "Expand", "Gather",
      "Identity", "Range",     "Reshape",  "Shape",  "Slice",
      "Squeeze",  "Transpose", "Unsqueeze"};
  int operations = 0;
  for (int n = 0; n < model.graph().node_size(); ++n)
    operations += !call.result.empty() &&
                  model.calls[n].result == call.result &&
                  kForms.count(model.graph().node(n).op_type()) == 0;
  return operations <= 1;
}

/// For other operators: the one parameter of the fx call that no other input of
/// the node is.
std::optional<std::string>
SignatureNaming::matchByExclusion(int initializer, Reader reader) const {
  const Initializer &tensor = model.initializers[initializer];
  // Folded values carry the name of their fx node (zeros, unsqueeze_1); only
  // val_N may be a parameter in another form.
  const bool inSignature = model.signature.contains(tensor.name);
  const bool scalar = tensor.source.type.rank() == 0;
  bool madeUp = inSignature || (startsWith(tensor.name, "val_") && !scalar);
  if (!madeUp || !isFloat(tensor.source.type.dtype) ||
      (!inSignature && !isOneOperation(reader.node)))
    return std::nullopt;
  const auto &node = model.graph().node(reader.node);
  std::vector<std::string> left;
  for (const std::string &name : parametersOf(reader.node))
    if (std::find(node.input().begin(), node.input().end(), name) ==
        node.input().end())
      left.push_back(name);
  std::vector<int> unnamed;
  for (int k = 0; k < node.input_size(); ++k) {
    auto found = model.initializerByName.find(node.input(k));
    if (found == model.initializerByName.end())
      continue;
    const TensorType &type = model.initializers[found->second].source.type;
    if (isFloat(type.dtype) && (type.rank() > 0 || scalar))
      unnamed.push_back(k);
  }
  if (left.size() == 1 && unnamed.size() == 1)
    return left[0];
  auto at = std::find(unnamed.begin(), unnamed.end(), reader.input);
  if (left.size() == unnamed.size() && at != unnamed.end())
    return left[at - unnamed.begin()];
  return std::nullopt;
}

/// A node that the optimizer wrote (a Split) says nothing of the parameter that
/// it reads. Where the initializer stands for several equal ones, that is the
/// one of the module that reads the node's values, unless a call reads that.
std::optional<std::string> SignatureNaming::matchByConsumers(int initializer,
                                                             int reader) const {
  const Initializer &tensor = model.initializers[initializer];
  const auto &graph = model.graph();
  if (!model.signature.contains(tensor.name))
    return std::nullopt;
  // Larger tensors are not merged: theirs are ties.
  constexpr int64_t kMostMerged = 1024;
  if (tensor.source.type.numElements() > kMostMerged ||
      !named.count(tensor.name))
    return tensor.name;
  const auto &values = graph.node(reader).output();
  for (int n = reader + 1; n < graph.node_size(); ++n) {
    const auto &inputs = graph.node(n).input();
    if (std::find_first_of(inputs.begin(), inputs.end(), values.begin(),
                           values.end()) == inputs.end())
      continue;
    const std::string &module = model.origins[n].module;
    std::string name = inModule(module, leafName(tensor.name));
    if (name == tensor.name)
      return name;
    if (model.signature.contains(name) && !named.count(name) &&
        !model.initializerByName.count(name))
      return name;
  }
  return tensor.name;
}

/// x @ self.w.T: the call reads `permute`, which the exporter computed, and
/// says nothing of w. The line of Python does, and that nothing else is w.
std::optional<std::string>
SignatureNaming::matchTransposed(int initializer, Reader reader) const {
  const Initializer &tensor = model.initializers[initializer];
  const FxCall &call = model.calls[reader.node];
  const std::string stem = tensor.name.substr(0, tensor.name.rfind('_'));
  auto isTransposition = [](const std::string &name) {
    return name == "permute" || name == "transpose" || name == "t" ||
           name == "numpy_t";
  };
  const auto &references = call.references;
  if (tensor.source.type.rank() != 2 || !isFloat(tensor.source.type.dtype) ||
      !(isTransposition(tensor.name) || isTransposition(stem)) ||
      std::find(references.begin(), references.end(), tensor.name) ==
          references.end())
    return std::nullopt;
  auto what = transposedInLine(call.sourceLine);
  if (!what)
    return std::nullopt;
  const std::string name = inModule(model.origins[reader.node].module, *what);
  const bool free = model.signature.contains(name) && !named.count(name) &&
                    !model.initializerByName.count(name);
  return free ? std::optional(name) : std::nullopt;
}

/// The call has a number, or a tensor made of numbers, where its node reads the
/// initializer of a parameter that happens to equal it: 2 in x ** 2 and a fresh
/// temperature. A value that nothing makes may be the parameter in another
/// form, though.
bool SignatureNaming::isNumber(int initializer, const FxCall &call) const {
  if (call.target.empty())
    return false;
  bool numbers = false;
  for (const std::string &name : call.references) {
    const bool known =
        made.count(name) || model.signature.placeholders.count(name);
    if (!known && !isMadeOfNumbers(name))
      return false;
    numbers |= !known || startsWith(name, "c_");
  }
  return numbers ||
         model.initializers[initializer].source.type.numElements() == 1;
}

std::optional<std::string> SignatureNaming::match(int initializer,
                                                  Reader reader) const {
  const std::string &own = model.initializers[initializer].name;
  const FxCall &call = model.calls[reader.node];
  if (call.target.empty())
    return matchByConsumers(initializer, reader.node);
  std::vector<std::string> candidates = parametersOf(reader.node);
  std::optional<std::string> ownName;
  if (model.signature.contains(own))
    ownName = own;
  // A convolution that stands for a batch_norm has the norm folded into its
  // weight: another tensor under the old name.
  const std::string &op = model.graph().node(reader.node).op_type();
  if (contains(call.target, "batch_norm") && op != "BatchNormalization" &&
      (startsWith(op, "Conv") || op == "Gemm" || op == "MatMul"))
    return std::nullopt;
  const bool ownArgument =
      ownName &&
      std::find(candidates.begin(), candidates.end(), own) != candidates.end();
  for (const TargetForm &form : kTargets)
    if (contains(call.target, form.name)) {
      Operand operand = operandAt(initializer, reader, form);
      if (operand.kind == Operand::Kind::Constant)
        return std::nullopt;
      const bool byName = ownArgument && !isNormTarget(form.name);
      return operand.kind == Operand::Kind::Named && !byName ? operand.name
                                                             : ownName;
    }
  if (ownArgument)
    return ownName;
  auto found = matchByExclusion(initializer, reader);
  if (!found)
    found = matchTransposed(initializer, reader);
  if (found || !ownName || !isNumber(initializer, call))
    return found ? found : ownName;
  return std::nullopt;
}

/// nn.Linear's weight is [out, in]; MatMul reads it as [in, out].
bool SignatureNaming::storedTransposed(int initializer, const std::string &name,
                                       Reader reader) const {
  const Initializer &tensor = model.initializers[initializer];
  if (reader.input < 0)
    return false;
  const auto &node = model.graph().node(reader.node);
  if (matchTransposed(initializer, reader) == name)
    return true;
  if (tensor.name == name || tensor.source.type.rank() != 2 ||
      model.signature.contains(tensor.name) ||
      !contains(model.calls[reader.node].target, "aten.linear."))
    return false;
  bool transB = false;
  for (const auto &attribute : node.attribute())
    transB |= attribute.name() == "transB" && attribute.i() != 0;
  return reader.input == 1 &&
         (node.op_type() == "MatMul" || (node.op_type() == "Gemm" && !transB));
}

/// Scale and shift of a norm, and PReLU's slope, are vectors that the exporter
/// stretched to [C, 1, 1] or [1, C, 1, 1].
static bool isStretched(const Initializer &tensor, const std::string &name,
                        const std::string &target) {
  const TensorType &type = tensor.source.type;
  if (type.rank() < 2 || tensor.name == name)
    return false;
  if (contains(target, "prelu"))
    return *std::max_element(type.shape.begin(), type.shape.end()) ==
           type.numElements();
  return isNormTarget(target) && type.shape[0] == type.numElements();
}

/// nn.Bilinear's weight [out, in1, in2] is in the file [in1, out * in2].
bool SignatureNaming::isFlatBilinear(int initializer, const std::string &name,
                                     Reader reader) const {
  const Initializer &tensor = model.initializers[initializer];
  return reader.input == 1 && tensor.name != name &&
         tensor.source.type.rank() == 2 &&
         contains(model.calls[reader.node].target, "aten.bilinear.");
}

/// The sizes stand in the Reshape behind the product: [batch, out, in2]. False
/// where they do not.
bool SignatureNaming::toBilinear(WeightDecl &decl, Reader reader) const {
  const std::string &product = model.graph().node(reader.node).output(0);
  for (int n = reader.node + 1; n < model.graph().node_size(); ++n) {
    const auto &node = model.graph().node(n);
    if (node.op_type() != "Reshape" || node.input_size() != 2 ||
        node.input(0) != product)
      continue;
    auto sizes = model.initializerByName.find(node.input(1));
    if (sizes == model.initializerByName.end())
      return false;
    const TensorSource &source = model.initializers[sizes->second].source;
    if (source.type.dtype != DType::I64 || source.type.rank() != 1 ||
        source.type.numElements() != 3)
      return false;
    auto loaded = source.load();
    if (!loaded.ok())
      return false;
    const auto *size = static_cast<const int64_t *>(loaded->data());
    const std::vector<int64_t> &flat = decl.type.shape;
    if (size[1] <= 0 || size[2] <= 0 || flat[1] % size[1] != 0 ||
        flat[1] / size[1] != size[2])
      return false;
    decl.type.shape = {size[1], flat[0], size[2]};
    decl.permutation = {1, 0, 2};
    return true;
  }
  return false;
}

/// The declaration of `name`, made or found: a parameter that the file stores
/// twice is declared once.
WeightUse SignatureNaming::declareFor(int initializer, const std::string &name,
                                      Reader reader) {
  bool buffer =
      model.signature.entries[model.signature.byTarget.at(name)].kind ==
      GraphSignature::Kind::Buffer;
  std::vector<int64_t> permutation;
  if (storedTransposed(initializer, name, reader))
    permutation = {1, 0};
  WeightTable made;
  declare(model, made, initializer, name,
          buffer ? WeightKind::Buffer : WeightKind::Parameter, permutation);
  WeightDecl decl = std::move(made.decls[0]);
  std::string target = reader.input < 0 ? "" : model.calls[reader.node].target;
  if (isStretched(model.initializers[initializer], name, target))
    decl.type.shape = {decl.type.numElements()};
  bool unclear =
      isFlatBilinear(initializer, name, reader) && !toBilinear(decl, reader);
  WeightUse use;
  use.permutation = inversePermutation(decl.permutation);
  use.decl = table.find(name);
  // Another place reads the tensor as a constant that equals the parameter.
  if (use.decl >= 0 && table.decls[use.decl].kind == WeightKind::Constant)
    use.decl = -1;
  if (!unclear && use.decl >= 0 && table.decls[use.decl].type == decl.type)
    return use;
  if (unclear || use.decl >= 0) {
    decl.name = model.initializers[initializer].name;
    decl.kind = WeightKind::Constant;
    decl.type = model.initializers[initializer].source.type;
    decl.permutation.clear();
    use.permutation.clear();
  }
  use.decl = static_cast<int>(table.decls.size());
  table.decls.push_back(std::move(decl));
  return use;
}

/// Parameters and persistent buffers; other buffers are constants.
bool SignatureNaming::inStateDict(const std::string &name) const {
  auto found = model.signature.byTarget.find(name);
  return found != model.signature.byTarget.end() &&
         model.signature.entries[found->second].kind !=
             GraphSignature::Kind::Temporary;
}

void SignatureNaming::nameInitializer(int initializer) {
  const Initializer &tensor = model.initializers[initializer];
  WeightUse constant;
  for (Reader reader : readers[initializer]) {
    auto name = match(initializer, reader);
    if (name && !inStateDict(*name))
      name.reset();
    if (!name && constant.decl < 0)
      constant.decl =
          declare(model, table, initializer, tensor.name, WeightKind::Constant);
    WeightUse use = name ? declareFor(initializer, *name, reader) : constant;
    table.defaults.emplace(initializer, use);
    table.uses[{reader.node, reader.input}] = std::move(use);
  }
  if (!readers[initializer].empty())
    return;
  if (inStateDict(tensor.name))
    constant = declareFor(initializer, tensor.name, Reader{0, -1});
  else
    constant.decl =
        declare(model, table, initializer, tensor.name, WeightKind::Constant);
  table.defaults.emplace(initializer, constant);
}

WeightTable SignatureNaming::run() {
  for (int i = 0; i < static_cast<int>(model.initializers.size()); ++i)
    nameInitializer(i);
  return std::move(table);
}

} // namespace

WeightTable namesBySignature(const Model &model) {
  return SignatureNaming(model).run();
}

} // namespace pipec::onnx

// Names of weights in files of torch.onnx.export(dynamo=True): see
// WeightTable.h.
//
// The graph signature lists all parameters and buffers; the fx call of each
// ONNX node shows which of them it reads, and where (CallOperands.h); of what
// the exporter's optimizer computed, the file says from what (Model::folded).
// So an initializer under a made-up name (val_110), or one that stands for
// several equal parameters, is matched by the node that reads it. A name is
// given where the place, or the bytes, prove it. In: Model. Out: WeightTable.
// Tests: test/unit/frontends/WeightTableTest.cpp, ModelNamesTest.cpp.
#include "frontends/common/Text.h"
#include "frontends/common/WeightTableBuilder.h"
#include "frontends/onnx/metadata/CallOperands.h"
#include "frontends/onnx/names/Names.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

/// The operator of an fx name: "permute" of "permute_12".
std::string withoutNumber(const std::string &name) {
  const size_t end = name.find_last_not_of("0123456789");
  return end != std::string::npos && end > 0 && name[end] == '_' &&
                 end + 1 < name.size()
             ? name.substr(0, end)
             : name;
}

/// A permute may move nothing.
bool isTransposition(const std::string &fxName) {
  static const std::set<std::string> kNames{"adjoint", "mT",       "mt",
                                            "numpy_t", "numpy_T",  "swapaxes",
                                            "t",       "transpose"};
  return kNames.count(withoutNumber(fxName)) != 0;
}

bool isArithmetic(const std::string &fxName) {
  static const std::set<std::string> kNames{"add", "div", "exp", "mul", "sub"};
  return kNames.count(withoutNumber(fxName)) != 0;
}

/// An operator that may leave every element where it is.
bool isMaybeNothing(const std::string &fxName) {
  static const std::set<std::string> kNames{
      "alias",   "clone",      "contiguous", "convert_element_type",
      "detach",  "dropout",    "expand",     "flatten",
      "reshape", "slice",      "squeeze",    "to",
      "to_copy", "unsqueeze",  "view",       "_to_copy",
      "view_as", "expand_as",  "narrow",     "unsafe_view",
      "type_as", "reshape_as", "identity",   "_unsafe_view"};
  return kNames.count(withoutNumber(fxName)) != 0;
}

/// The exporter merges equal tensors of at most so many elements.
constexpr int64_t kMostMerged = 1024;

/// Matches the initializers of one model.
class SignatureNaming {
public:
  SignatureNaming(const Model &model, const ImportOptions &options)
      : model(model), operands(model), readers(readersOf(model)),
        table(model.initializers, options) {
    for (int n = 0; n < model.graph().node_size(); ++n) {
      made.insert(model.graph().node(n).output().begin(),
                  model.graph().node(n).output().end());
      made.insert(model.calls[n].result);
      for (const std::string &name : operands.parametersOf(n))
        named.insert(name);
    }
  }
  WeightTable run();

private:
  std::optional<Claim> match(int initializer, Reader reader);
  std::optional<std::string> matchOwnName(int initializer, Reader reader);
  std::optional<Claim> matchFolded(int initializer, Reader reader);
  std::optional<std::string> matchByExclusion(int initializer,
                                              Reader reader) const;
  std::nullopt_t refuted(int initializer);
  std::optional<std::string> matchByConsumers(int initializer,
                                              int reader) const;
  std::optional<bool> isOddlyTransposed(int initializer, Reader reader) const;
  bool hasFusedNorm(Reader reader) const;
  bool isMoved(int initializer, const Operand &operand) const;
  bool isNumber(int initializer, const FxCall &call) const;
  bool readsComputed(const FxCall &call) const;
  bool mayBeAnother(int initializer, const FxCall &call,
                    const Operand &operand) const;
  void suspect(int initializer, Reader reader);
  Claim claim(int initializer, const std::string &name) const;
  Claim claimOperand(int initializer, const Operand &operand) const;
  std::optional<Claim> claimBilinear(int initializer, const std::string &name,
                                     Reader reader) const;
  std::vector<int64_t> sizesOf(const std::string &value) const;
  void nameInitializer(int initializer);

  const Model &model;
  const CallOperands operands;
  const std::vector<std::vector<Reader>> readers;
  std::set<std::string> made;  // values of ONNX nodes and of fx calls
  std::set<std::string> named; // parameters and buffers that a call reads
  WeightTableBuilder table;
};

/// For other operators: the parameters of the fx call that its node does not
/// read stand for the tensors that it reads, in their order.
std::optional<std::string>
SignatureNaming::matchByExclusion(int initializer, Reader reader) const {
  const auto &node = model.graph().node(reader.node);
  const TensorType &own = model.initializers[initializer].source.type;
  std::vector<std::string> left;
  for (const std::string &name : operands.parametersOf(reader.node))
    if (std::find(node.input().begin(), node.input().end(), name) ==
        node.input().end())
      left.push_back(name);
  std::vector<int> unnamed;
  for (int k = 0; k < node.input_size(); ++k) {
    auto found = model.initializerByName.find(node.input(k));
    if (found == model.initializerByName.end())
      continue;
    const TensorType &type = model.initializers[found->second].source.type;
    if (isFloat(type.dtype) && (type.rank() > 0 || own.rank() == 0))
      unnamed.push_back(k);
  }
  auto at = std::find(unnamed.begin(), unnamed.end(), reader.input);
  return left.size() == unnamed.size() && at != unnamed.end()
             ? std::optional(left[at - unnamed.begin()])
             : std::nullopt;
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

/// A convolution that stands for a batch_norm has the norm folded into its
/// weight: another tensor under the old name.
bool SignatureNaming::hasFusedNorm(Reader reader) const {
  const std::string &op = model.graph().node(reader.node).op_type();
  return model.calls[reader.node].target.find("batch_norm") !=
             std::string::npos &&
         (startsWith(op, "Conv") || op == "Gemm" || op == "MatMul");
}

/// Which parameter a node reads where it reads the tensor of one: the
/// exporter's optimizer keeps one of several equal tensors.
std::optional<std::string> SignatureNaming::matchOwnName(int initializer,
                                                         Reader reader) {
  const std::string &own = model.initializers[initializer].name;
  const FxCall &call = model.calls[reader.node];
  if (call.target.empty())
    return matchByConsumers(initializer, reader.node);
  if (hasFusedNorm(reader))
    return std::nullopt;
  const Operand operand = operands.at(model.initializers[initializer], reader);
  if (operand.kind == Operand::Kind::Constant ||
      (operand.kind == Operand::Kind::Value && isMadeOfNumbers(operand.name)))
    return std::nullopt;
  if (operand.kind == Operand::Kind::Named)
    return operand.name;
  const std::vector<std::string> read = operands.parametersOf(reader.node);
  if (std::find(read.begin(), read.end(), own) != read.end())
    return own;
  if (operand.kind != Operand::Kind::Value) {
    if (auto found = matchByExclusion(initializer, reader))
      return found;
    if (isNumber(initializer, call))
      return std::nullopt;
  }
  return mayBeAnother(initializer, call, operand) ? refuted(initializer)
                                                  : std::optional(own);
}

std::nullopt_t SignatureNaming::refuted(int initializer) {
  table.refute(initializer, model.initializers[initializer].name);
  return std::nullopt;
}

/// A node that the optimizer wrote (a Split) says nothing of the parameter that
/// it reads. Where the initializer stands for several equal ones, that is the
/// one of the module that reads the node's values, unless a call reads that.
std::optional<std::string> SignatureNaming::matchByConsumers(int initializer,
                                                             int reader) const {
  const Initializer &tensor = model.initializers[initializer];
  const auto &graph = model.graph();
  const auto &values = graph.node(reader).output();
  // Larger tensors are not merged: theirs are ties.
  if (tensor.source.type.numElements() > kMostMerged ||
      !named.count(tensor.name))
    return tensor.name;
  for (int n = reader + 1; n < graph.node_size(); ++n) {
    const auto &inputs = graph.node(n).input();
    const std::string name =
        inModule(model.origins[n].module, leafName(tensor.name));
    if (std::find_first_of(inputs.begin(), inputs.end(), values.begin(),
                           values.end()) != inputs.end() &&
        (name == tensor.name ||
         (model.signature.contains(name) && !named.count(name) &&
          !model.initializerByName.count(name))))
      return name;
  }
  return tensor.name;
}

/// The call reads a value that nothing makes: it was computed at export.
bool SignatureNaming::readsComputed(const FxCall &call) const {
  return std::any_of(call.references.begin(), call.references.end(),
                     [&](const std::string &name) {
                       return !made.count(name) &&
                              !model.signature.placeholders.count(name) &&
                              !isMadeOfNumbers(name) && !isMaybeNothing(name);
                     });
}

/// The call reads a value that was computed at export and equals the parameter:
/// w.t() of a symmetric w, zeros, or g * v / |v| of a fresh weight_norm. Many
/// different values that stay the same in no other order are the parameter
/// itself, where no arithmetic made them.
bool SignatureNaming::mayBeAnother(int initializer, const FxCall &call,
                                   const Operand &operand) const {
  const TensorSource &source = model.initializers[initializer].source;
  if (!readsComputed(call) || source.type.numElements() > kMostMerged)
    return false;
  return (operand.kind == Operand::Kind::Value && isArithmetic(operand.name)) ||
         !isDistinctive(source) ||
         permutationsTo({source, source.type.shape}, source, {}).size() > 1;
}

/// All that was done to make the tensor of its one source is transpositions of
/// a matrix, the last of which its name says, or where it has none what
/// aten.linear does itself: whether their number is odd.
std::optional<bool> SignatureNaming::isOddlyTransposed(int initializer,
                                                       Reader reader) const {
  const Initializer &tensor = model.initializers[initializer];
  const bool last = isTransposition(tensor.name) ||
                    (startsWith(tensor.name, "val_") &&
                     operands.at(tensor, reader).moved == Permutation{1, 0});
  bool odd = true;
  for (const std::string &name : model.folded.at(tensor.name)) {
    if (model.signature.contains(name))
      continue;
    if (!isTransposition(name))
      return std::nullopt;
    odd = !odd;
  }
  return last && tensor.source.type.rank() == 2 ? std::optional(odd)
                                                : std::nullopt;
}

/// A tensor that was computed from one parameter alone: the parameter moved,
/// where the file still has it and the bytes say how, or where the operators'
/// names do.
std::optional<Claim> SignatureNaming::matchFolded(int initializer,
                                                  Reader reader) {
  const std::vector<std::string> sources =
      stateSourcesOf(model, model.initializers[initializer].name);
  // A value that the call does not read stands for an equal one of another
  // source: of equal tensors the exporter keeps one.
  const std::string &value = model.initializers[initializer].name;
  const auto &read = model.calls[reader.node].references;
  const bool isRead = startsWith(value, "val_") ||
                      std::find(read.begin(), read.end(), value) != read.end();
  if (sources.size() != 1 || !isRead)
    return std::nullopt;
  const std::string &name = sources[0];
  auto kept = model.initializerByName.find(name);
  if (kept != model.initializerByName.end())
    return table.claimCopy(initializer, name, kept->second);
  const auto odd = isOddlyTransposed(initializer, reader);
  if (!odd)
    return std::nullopt;
  Claim made = claim(initializer, name);
  return *odd ? made.moved({1, 0}) : made;
}

/// Whether the tensor is the argument, moved as its form says: nothing else
/// went into it, as far as the file says what did.
bool SignatureNaming::isMoved(int initializer, const Operand &operand) const {
  const auto folded = model.folded.find(model.initializers[initializer].name);
  if (folded == model.folded.end())
    return true;
  if (stateSourcesOf(model, model.initializers[initializer].name).size() != 1)
    return false;
  return operand.form != Form::Moved || folded->second.size() == 1;
}

std::optional<Claim> SignatureNaming::match(int initializer, Reader reader) {
  const Initializer &tensor = model.initializers[initializer];
  if (model.signature.contains(tensor.name)) {
    auto name = matchOwnName(initializer, reader);
    return name && model.signature.isState(*name)
               ? std::optional(claim(initializer, *name))
               : std::nullopt;
  }
  if (!isFloat(tensor.source.type.dtype) || hasFusedNorm(reader))
    return std::nullopt;
  const Operand operand = operands.at(tensor, reader);
  if (operand.kind == Operand::Kind::Constant)
    return std::nullopt;
  if (operand.kind == Operand::Kind::Named &&
      model.signature.isState(operand.name) && isMoved(initializer, operand))
    return operand.form == Form::Bilinear
               ? claimBilinear(initializer, operand.name, reader)
               : std::optional(claimOperand(initializer, operand));
  if (model.folded.count(tensor.name)) {
    auto found = matchFolded(initializer, reader);
    return found && model.signature.isState(found->name) ? found : std::nullopt;
  }
  if (!model.folded.empty())
    return std::nullopt;
  // A file that says nothing of what was computed.
  auto copy = table.claimCopyOfAny(initializer);
  if (!copy)
    suspect(initializer, reader);
  return copy;
}

/// It stands for a value that was computed at export, or for what a part of the
/// call made of a parameter: which, the file does not say.
void SignatureNaming::suspect(int initializer, Reader reader) {
  const std::vector<std::string> read = operands.parametersOf(reader.node);
  const bool number = isNumber(initializer, model.calls[reader.node]);
  if (readsComputed(model.calls[reader.node]) || (!read.empty() && !number))
    table.refute(initializer, read.empty() ? "" : read[0]);
}

Claim SignatureNaming::claim(int initializer, const std::string &name) const {
  const auto &entry =
      model.signature.entries[model.signature.byTarget.at(name)];
  return claimOf(model.initializers, initializer, name,
                 entry.kind == GraphSignature::Kind::Buffer
                     ? WeightKind::Buffer
                     : WeightKind::Parameter);
}

Claim SignatureNaming::claimOperand(int initializer,
                                    const Operand &operand) const {
  Claim made = claim(initializer, operand.name);
  if (operand.form == Form::Moved &&
      static_cast<int64_t>(operand.moved.size()) == made.type.rank())
    return made.moved(operand.moved);
  if (operand.form == Form::Stretched)
    made.type.shape = {made.type.numElements()};
  return made;
}

/// Sizes that the file gives a value; none where it does not.
std::vector<int64_t> SignatureNaming::sizesOf(const std::string &value) const {
  std::vector<int64_t> sizes;
  for (const auto &info : model.graph().value_info())
    if (info.name() == value)
      for (const auto &dim : info.type().tensor_type().shape().dim())
        sizes.push_back(dim.dim_value());
  return sizes;
}

/// nn.Bilinear's weight [out, in1, in2] is in the file [in1, out, in2], or
/// [in1, out * in2]: then the product is reshaped to [rows, out, in2]. Nothing
/// where the file does not say these sizes.
std::optional<Claim> SignatureNaming::claimBilinear(int initializer,
                                                    const std::string &name,
                                                    Reader reader) const {
  Claim made = claim(initializer, name);
  std::vector<int64_t> stored = made.type.shape;
  for (int n : operands.nodesOfCall(reader.node)) {
    if (stored.size() != 2 || model.graph().node(n).op_type() != "Reshape")
      continue;
    const std::vector<int64_t> sizes = sizesOf(model.graph().node(n).output(0));
    if (sizes.size() == 3 && sizes[1] > 0 && stored[1] % sizes[1] == 0 &&
        stored[1] / sizes[1] == sizes[2])
      stored = {stored[0], sizes[1], sizes[2]};
  }
  if (stored.size() != 3)
    return std::nullopt;
  made.declared = {1, 0, 2};
  made.type.shape = {stored[1], stored[0], stored[2]};
  return made;
}

void SignatureNaming::nameInitializer(int initializer) {
  for (Reader reader : readers[initializer])
    table.read(initializer, reader, match(initializer, reader));
  if (!readers[initializer].empty())
    return;
  const std::string &name = model.initializers[initializer].name;
  if (model.signature.isState(name))
    table.keep(initializer, claim(initializer, name));
  else
    table.keep(initializer, std::nullopt);
}

/// Those that have their names first: others may be copies of them.
WeightTable SignatureNaming::run() {
  const int count = static_cast<int>(model.initializers.size());
  for (bool own : {true, false})
    for (int i = 0; i < count; ++i)
      if (model.signature.contains(model.initializers[i].name) == own)
        nameInitializer(i);
  return table.take();
}

} // namespace

WeightTable namesBySignature(const Model &model, const ImportOptions &options) {
  return SignatureNaming(model, options).run();
}

} // namespace pipec::onnx

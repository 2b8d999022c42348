// From an opened model to a module with one `pipe.graph`: see Importer.h.
//
// In: a Model, the table of its weights, import options. Out: the MLIR module.
// Steps: sizes of inputs, declarations of weights, then node by node. Tests:
// test/unit/frontends/ImportTest.cpp, ModelNamesTest.cpp.
#include "frontends/onnx/import/Importer.h"

#include "frontends/common/InputShapes.h"
#include "frontends/common/Text.h"
#include "frontends/onnx/names/StoppedGradients.h"
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"
#include "ir/PipeOps.h"
#include "ir/UserText.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

/// Builds one module.
class Importer {
public:
  Importer(mlir::MLIRContext &context, const Model &model,
           const WeightTable &weights, const ImportOptions &options,
           const Notice &notice)
      : context(context), model(model), weights(weights), options(options),
        notice(notice), location(mlir::UnknownLoc::get(&context)) {
    for (const auto &node : model.graph().node())
      read.insert(node.input().begin(), node.input().end());
    for (const auto &output : model.graph().output())
      read.insert(output.name());
    if (options.training)
      stopped = findStoppedGradients(model);
  }
  StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> run();

private:
  void makeGraph(const std::vector<TensorType> &inputs);
  void declareWeights();
  void declareWeight(const WeightDecl &decl, const std::string &symbol);
  std::string freshSymbol(const std::string &wanted);
  mlir::Value loadWeight(int decl);
  Val weightValue(const WeightUse &use);
  Val initializerValue(int initializer, const WeightUse &use);
  Val constantValue(int initializer, int decl);
  std::vector<Val> inputsOf(int index, std::vector<Val> &transposed);
  void stopGradients(int index, std::vector<Val> &inputs) const;
  std::map<int, Sequence> sequencesOf(int index) const;
  Status keepResults(int index, const NodeContext &nodeContext);
  Status importNode(int index);
  Status finishGraph();
  Status checkOutput(const ModelInterface::Port &port,
                     const TensorType &got) const;
  bool sizesAreAsDeclared(const std::vector<TensorType> &inputs) const;
  void noticeOtherShape(const ModelInterface::Port &port,
                        const TensorType &got) const;
  void noticeRepeatedOutputs() const;
  void noticeUnclearStops() const;
  void noticeLeftOut() const;
  Status verify();

  mlir::MLIRContext &context;
  const Model &model;
  const WeightTable &weights;
  const ImportOptions &options;
  const Notice &notice;
  mlir::Location location;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  pipe::GraphOp graph;
  std::unique_ptr<Emitter> emitter;
  std::vector<std::string> symbols; // by declaration; "" until declared
  std::vector<mlir::Value> loads;   // by declaration
  std::set<std::string> usedSymbols;
  std::set<std::string> read; // names that a node or a graph output reads
  std::map<std::string, Val>
      values; // by ONNX name; initializers are read through their uses
  std::map<std::string, Sequence> sequences; // by ONNX name
  StoppedGradients stopped;
  int64_t walked = 0;      // nodes; what #pipe.origin numbers
  bool asDeclared = false; // inputs have the sizes that the file gives
};

std::string Importer::freshSymbol(const std::string &wanted) {
  std::string symbol = wanted;
  for (int i = 1; !usedSymbols.insert(symbol).second; ++i)
    symbol = wanted + "#" + std::to_string(i);
  return symbol;
}

void Importer::declareWeight(const WeightDecl &decl,
                             const std::string &symbol) {
  if (symbol == kReservedName ||
      llvm::is_contained(decl.aliases, kReservedName))
    return emitter->fail(unsupported(
        model.path + ": a parameter or buffer is named '" + kReservedName +
        "', which safetensors files keep for themselves: give it another "
        "name"));
  const TensorSource &source = model.initializers[decl.initializer].source;
  std::string file = pipe::ConstantPool::kFileName;
  uint64_t offset = source.offset, length = source.type.byteSize();
  // Typed fields hold most element types widened: what was decoded of them
  // lies in the pool.
  if (source.inFile())
    file = source.file->path();
  else
    offset = pipe::ConstantPool::get(&context).add(source.inlined);
  constexpr pipe::WeightKind kKinds[] = {pipe::WeightKind::parameter,
                                         pipe::WeightKind::buffer,
                                         pipe::WeightKind::constant};
  mlir::OpBuilder builder(graph);
  llvm::SmallVector<llvm::StringRef> aliases(decl.aliases.begin(),
                                             decl.aliases.end());
  mlir::ArrayAttr aliasAttr =
      aliases.empty() ? mlir::ArrayAttr() : builder.getStrArrayAttr(aliases);
  pipe::WeightOp::create(
      builder, location, builder.getStringAttr(symbol),
      pipe::WeightKindAttr::get(&context, kKinds[static_cast<int>(decl.kind)]),
      mlir::TypeAttr::get(pipe::fromTensorType(&context, decl.type)),
      pipe::SourceAttr::get(&context, file, offset, length, decl.permutation),
      aliasAttr, mlir::StringAttr());
}

/// Parameters and buffers are declared whether they are read or not; constants
/// where they are first read.
void Importer::declareWeights() {
  symbols.resize(weights.decls.size());
  loads.resize(weights.decls.size());
  usedSymbols.insert("main");
  for (const WeightDecl &decl : weights.decls)
    if (decl.kind != WeightKind::Constant) {
      std::string &symbol = symbols[&decl - weights.decls.data()];
      symbol = freshSymbol(decl.name);
      declareWeight(decl, symbol);
    }
}

mlir::Value Importer::loadWeight(int index) {
  const WeightDecl &decl = weights.decls[index];
  if (symbols[index].empty()) {
    symbols[index] = freshSymbol(decl.name);
    declareWeight(decl, symbols[index]);
  }
  if (!loads[index])
    loads[index] = pipe::LoadWeightOp::create(
        emitter->at(), emitter->currentLocation(),
        pipe::fromTensorType(&context, decl.type),
        mlir::FlatSymbolRefAttr::get(&context, symbols[index]));
  return loads[index];
}

/// A constant of the file: known where it is small, else loaded where it is
/// first read.
Val Importer::constantValue(int initializer, int decl) {
  const TensorSource &source = model.initializers[initializer].source;
  auto state = std::make_shared<Val::State>();
  state->type = source.type;
  // Literals are small enough for the IR (PIPE-I5); the others stay references
  // to the file.
  constexpr int64_t kLiteralElements = 16;
  if (source.type.numElements() > kLiteralElements)
    state->make = [this, decl] { return loadWeight(decl); };
  if (source.type.byteSize() <= Emitter::kFoldLimit)
    state->load = [this, initializer, &source]() -> std::optional<Tensor> {
      auto tensor = source.load();
      if (tensor.ok())
        return *tensor;
      // Whoever asked for it adds the file and the node.
      emitter->fail(tensor.status().withPrefix(
          "initializer '" + model.initializers[initializer].name + "'"));
      return std::nullopt;
    };
  return Val(std::move(state));
}

Val Importer::weightValue(const WeightUse &use) {
  auto state = std::make_shared<Val::State>();
  state->type = weights.decls[use.decl].type;
  state->make = [this, decl = use.decl] { return loadWeight(decl); };
  return Val(std::move(state));
}

/// The initializer as the file has it: the declared weight, transposed and
/// reshaped back.
Val Importer::initializerValue(int initializer, const WeightUse &use) {
  if (weights.decls[use.decl].kind == WeightKind::Constant)
    return constantValue(initializer, use.decl);
  Val value = weightValue(use);
  if (!use.permutation.empty())
    value = emitter->transpose(value, use.permutation);
  return emitter->reshape(value,
                          model.initializers[initializer].source.type.shape);
}

/// Inputs of a node. Where the file has a matrix transposed, the node gets the
/// declared weight beside it, and the transposed form is made only when the
/// node's importer asks for it.
std::vector<Val> Importer::inputsOf(int index, std::vector<Val> &transposed) {
  const auto &node = model.graph().node(index);
  const bool matrixProduct =
      node.op_type() == "MatMul" || node.op_type() == "Gemm";
  std::vector<Val> inputs(node.input_size());
  transposed.assign(node.input_size(), Val());
  for (int k = 0; k < node.input_size(); ++k) {
    const std::string &name = node.input(k);
    if (name.empty())
      continue;
    auto initializer = model.initializerByName.find(name);
    if (initializer == model.initializerByName.end()) {
      inputs[k] = values[name];
      continue;
    }
    const WeightUse &use = weights.uses.at({index, k});
    const TensorType &stored =
        model.initializers[initializer->second].source.type;
    bool onlyTransposed = use.permutation == std::vector<int64_t>{1, 0} &&
                          stored.rank() == 2 &&
                          weights.decls[use.decl].type.shape ==
                              Shape{stored.shape[1], stored.shape[0]};
    if (matrixProduct && onlyTransposed) {
      transposed[k] = weightValue(use);
      auto state = std::make_shared<Val::State>();
      state->type = stored;
      state->make = [this, weight = transposed[k]] {
        return emitter->materialize(emitter->transpose(weight, {1, 0}));
      };
      inputs[k] = Val(std::move(state));
    } else {
      inputs[k] = initializerValue(initializer->second, use);
    }
  }
  return inputs;
}

void Importer::stopGradients(int index, std::vector<Val> &inputs) const {
  for (size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k] && isFloat(inputs[k].dtype()) &&
        stopped.inputs.count({index, static_cast<int>(k)}))
      inputs[k] = emitter->unary("stop_gradient", inputs[k]);
}

std::map<int, Sequence> Importer::sequencesOf(int index) const {
  std::map<int, Sequence> lists;
  const auto &node = model.graph().node(index);
  for (int k = 0; k < node.input_size(); ++k)
    if (auto found = sequences.find(node.input(k)); found != sequences.end())
      lists[k] = found->second;
  return lists;
}

Status Importer::keepResults(int index, const NodeContext &nodeContext) {
  const auto &node = model.graph().node(index);
  for (int k = 0; k < node.output_size(); ++k) {
    if (node.output(k).empty())
      continue;
    if (k == 0 && nodeContext.madeSequence()) {
      sequences[node.output(k)] = *nodeContext.madeSequence();
      continue;
    }
    // Exporters name outputs that nothing reads, such as a Dropout's mask.
    if (!nodeContext.results()[k] && !read.count(node.output(k)))
      continue;
    if (!nodeContext.results()[k])
      return unsupported(model.where(index) + ": output " + std::to_string(k) +
                         " ('" + node.output(k) + "') " +
                         nodeContext.whyMissing(k));
    values[node.output(k)] = nodeContext.results()[k];
  }
  return Status();
}

Status Importer::importNode(int index) {
  Origin origin = model.origins[index];
  origin.index = walked++; // of a node that makes no op too
  if (model.aliasNode[index])
    return Status();
  const auto &node = model.graph().node(index);
  emitter->setLocation(pipe::makeOriginLocation(&context, origin));
  std::vector<Val> transposed;
  std::vector<Val> inputs = inputsOf(index, transposed);
  stopGradients(index, inputs);
  stopGradients(index, transposed);
  NodeContext nodeContext(model, index, *emitter, std::move(inputs),
                          options.training);
  nodeContext.setTransposedWeights(std::move(transposed));
  if (emitter->ok())
    nodeContext.setSequences(sequencesOf(index));
  if (emitter->ok())
    findImporter(node.op_type(), model.opset)(nodeContext);
  nodeContext.refuseUnreadAttributes();
  if (!emitter->ok()) {
    const std::string &message = emitter->status().message();
    // Errors of type inference know the op but not the node.
    return startsWith(message, model.path)
               ? emitter->status()
               : emitter->status().withPrefix(model.where(index));
  }
  return keepResults(index, nodeContext);
}

void Importer::makeGraph(const std::vector<TensorType> &inputs) {
  mlir::OpBuilder builder(&context);
  module = mlir::ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Attribute> attributes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    types.push_back(pipe::fromTensorType(&context, inputs[i]));
    const std::string &name = model.interface.inputs[i].name;
    mlir::NamedAttrList list;
    list.set(pipe::PipeDialect::kNameAttr, builder.getStringAttr(name));
    if (std::find(options.wholeInputs.begin(), options.wholeInputs.end(),
                  name) != options.wholeInputs.end())
      list.set("pipe.whole", builder.getUnitAttr());
    attributes.push_back(list.getDictionary(&context));
  }
  mlir::OperationState state(location, pipe::GraphOp::getOperationName());
  mlir::NamedAttrList properties;
  properties.set("sym_name", builder.getStringAttr("main"));
  properties.set("function_type",
                 mlir::TypeAttr::get(builder.getFunctionType(types, {})));
  if (!attributes.empty())
    properties.set("arg_attrs", builder.getArrayAttr(attributes));
  state.propertiesAttr = properties.getDictionary(&context);
  mlir::Block &body = state.addRegion()->emplaceBlock();
  for (mlir::Type type : types)
    body.addArgument(type, location);
  graph = mlir::cast<pipe::GraphOp>(builder.create(state));
  emitter = std::make_unique<Emitter>(&context, &graph.getBody().front());
  for (size_t i = 0; i < inputs.size(); ++i)
    values[model.interface.inputs[i].name] =
        emitter->fromIr(graph.getBody().getArgument(i));
}

Status Importer::checkOutput(const ModelInterface::Port &port,
                             const TensorType &got) const {
  bool rankDiffers =
      port.hasShape && static_cast<int64_t>(port.shape.size()) != got.rank();
  if (port.dtype == got.dtype && !rankDiffers)
    return Status();
  return dataLoss(
      model.path + ": graph output '" + port.name + "' is declared as " +
      std::string(dtypeName(port.dtype)) +
      (port.hasShape ? " of rank " + std::to_string(port.shape.size()) : "") +
      ", the nodes make " + got.str());
}

Status Importer::finishGraph() {
  mlir::OpBuilder &builder = emitter->at();
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<mlir::Attribute> attributes;
  for (const ModelInterface::Port &port : model.interface.outputs) {
    auto initializer = model.initializerByName.find(port.name);
    if (auto list = sequences.find(port.name); list != sequences.end())
      return unsupported(model.path + ": graph output '" + port.name +
                         "' is a list of " +
                         std::to_string(list->second.parts.size()) +
                         " tensors; return the tensors themselves");
    Val value =
        initializer == model.initializerByName.end()
            ? values[port.name]
            : initializerValue(initializer->second,
                               weights.defaults.at(initializer->second));
    if (!emitter->ok())
      return emitter->status().withPrefix(model.path);
    PIPEC_RETURN_IF_ERROR(checkOutput(port, value.type()));
    noticeOtherShape(port, value.type());
    results.push_back(emitter->materialize(value));
    mlir::NamedAttrList list;
    list.set(pipe::PipeDialect::kNameAttr, builder.getStringAttr(port.name));
    attributes.push_back(list.getDictionary(&context));
  }
  pipe::OutputOp::create(builder, location, results);
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value result : results)
    types.push_back(result.getType());
  graph.setFunctionType(
      builder.getFunctionType(graph.getFunctionType().getInputs(), types));
  graph.setResAttrsAttr(builder.getArrayAttr(attributes));
  return emitter->ok() ? Status() : emitter->status().withPrefix(model.path);
}

/// A microbatch may be smaller than a batch of a size that the file fixes.
bool Importer::sizesAreAsDeclared(const std::vector<TensorType> &inputs) const {
  const auto &ports = model.interface.inputs;
  for (size_t i = 0; i < inputs.size() && i < ports.size(); ++i)
    for (size_t k = 0; k < ports[i].shape.size(); ++k)
      if (ports[i].shape[k].size >= 0 &&
          ports[i].shape[k].size != inputs[i].shape[k])
        return false;
  return true;
}

/// Exporters write sizes of the example now and then, and other runtimes take
/// what the nodes make, so it is no error; but it may be another model than was
/// meant.
void Importer::noticeOtherShape(const ModelInterface::Port &port,
                                const TensorType &got) const {
  if (!asDeclared || !notice || !port.hasShape)
    return;
  std::vector<int64_t> declared = got.shape;
  for (size_t k = 0; k < declared.size(); ++k)
    if (port.shape[k].size >= 0)
      declared[k] = port.shape[k].size;
  if (declared != got.shape)
    notice("warning: output '" + port.name + "' is declared as " +
           shapeText(declared) + " in the file, its nodes make " +
           shapeText(got.shape));
}

void Importer::noticeUnclearStops() const {
  auto tell = [&](const std::vector<int> &readers, const char *what) {
    constexpr size_t kShown = 3;
    std::vector<std::string> names(readers.size());
    std::transform(readers.begin(), readers.end(), names.begin(),
                   [&](int node) { return model.graph().node(node).name(); });
    const size_t count = names.size();
    if (count > kShown) {
      names.resize(kShown);
      names.push_back("..");
    }
    notice("warning: " + std::string(what) + " (" + std::to_string(count) +
           (count == 1 ? " node reads one: " : " nodes read them: ") +
           joined(names) +
           "): gradients may be others than PyTorch's; export with "
           "optimize=False");
  };
  if (!stopped.unclear.empty())
    tell(stopped.unclear,
         "the model calls .detach(), and the exporter's optimizer merged or "
         "took away values");
  else if (!stopped.merged.empty())
    tell(stopped.merged,
         "the exporter's optimizer merged or took away values, behind which a "
         ".detach() or an equal parameter may lie");
}

void Importer::noticeRepeatedOutputs() const {
  std::map<std::string, int> counts;
  for (const auto &output : model.graph().output())
    ++counts[output.name()];
  for (const auto &[name, count] : counts)
    if (count > 1 && notice)
      notice("output '" + name + "' is listed " + std::to_string(count) +
             " times in the file; it is there once here, by its name");
}

/// Arguments that the exporter of torch.export leaves out of its nodes; what
/// the call was stands in the metadata.
struct LeftOut {
  const char *op;
  const char *target;
  const char *name;
  size_t place; // among the arguments
  const char *advice;
};
constexpr LeftOut kLeftOut[] = {
    {"SoftmaxCrossEntropyLoss", "aten.cross_entropy_loss.default",
     "label_smoothing", 5,
     "train with --loss cross_entropy --label-smoothing, or write the "
     "smoothing in the model"},
    {"AveragePool", "aten.avg_pool2d.default", "divisor_override", 6,
     "write the division in the model"},
    {"AveragePool", "aten.avg_pool3d.default", "divisor_override", 6,
     "write the division in the model"}};

/// Where other nodes are of the call, too, they may hold the argument.
void Importer::noticeLeftOut() const {
  std::map<std::string, int> nodesOf;
  for (const FxCall &call : model.calls)
    ++nodesOf[call.result];
  for (int n = 0; notice && n < model.graph().node_size(); ++n) {
    const FxCall &call = model.calls[n];
    for (const LeftOut &argument : kLeftOut) {
      if (model.graph().node(n).op_type() != argument.op ||
          call.target != std::string("torch.ops.") + argument.target ||
          nodesOf[call.result] > 1)
        continue;
      auto named = call.keywords.find(argument.name);
      const std::string value = named != call.keywords.end() ? named->second
                                : call.args.size() > argument.place
                                    ? call.args[argument.place]
                                    : "";
      if (!value.empty() && std::strtod(value.c_str(), nullptr) != 0)
        notice("warning: " + model.where(n) + ": the exporter left " +
               argument.name + "=" + value +
               " out of the file, so that it computes another result than the "
               "model does; " +
               argument.advice);
    }
  }
}

Status Importer::verify() {
  std::string message;
  Origin node; // which the message is about
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (message.empty())
          node = pipe::originOf(diagnostic.getLocation());
        message +=
            (message.empty() ? "" : "; ") + pipe::userText(diagnostic.str());
        return mlir::success();
      });
  const bool valid = mlir::succeeded(mlir::verify(*module));
  if (!valid && node.index >= 0)
    return dataLoss(placeOf(model.path, node) + ": " + message);
  if (!valid)
    return internalError(model.path +
                         ": the imported graph is not valid: " + message);
  return Status();
}

StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Importer::run() {
  context.loadDialect<pipe::PipeDialect>();
  PIPEC_ASSIGN_OR_RETURN(std::vector<TensorType> inputs,
                         bindInputs(model.path, model.interface, options));
  if (notice)
    for (const std::string &text : weights.notices)
      notice(text);
  if (notice)
    for (const auto &[initializer, name] : weights.copies)
      notice((options.training ? "warning: " : "") +
             model.initializers[initializer].name + " is the same data as " +
             name + ": tied; --untie " + model.initializers[initializer].name +
             " keeps them apart");
  if (notice && options.training)
    for (const std::string &text : weights.trainingWarnings)
      notice("warning: " + text);
  if (notice && model.reordered)
    notice("the file's nodes are not in topological order; they were sorted");
  if (notice)
    noticeUnclearStops();
  noticeRepeatedOutputs();
  noticeLeftOut();
  asDeclared = sizesAreAsDeclared(inputs);
  makeGraph(inputs);
  declareWeights();
  PIPEC_RETURN_IF_ERROR(emitter->status());
  for (int n = 0; n < model.graph().node_size(); ++n)
    PIPEC_RETURN_IF_ERROR(importNode(n));
  PIPEC_RETURN_IF_ERROR(finishGraph());
  PIPEC_RETURN_IF_ERROR(verify());
  return std::move(module);
}

} // namespace

StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext &context, const Model &model,
            const WeightTable &weights, const ImportOptions &options,
            const Notice &notice) {
  return Importer(context, model, weights, options, notice).run();
}

} // namespace pipec::onnx

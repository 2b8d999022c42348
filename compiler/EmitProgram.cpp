// One stage's program: values with their places, instructions in order.
// Tests: test/unit/compiler/CompilerTest.cpp; every end-to-end test runs what
// this writes.
#include "compiler/Emit.h"

#include "ir/ConstantPool.h"
#include "ir/OpDescs.h"
#include "passes/lower/Passes.h"

using namespace mlir;

namespace pipec {
namespace {

/// Constants up to this size travel in the program itself.
constexpr size_t kLiteralBytes = 1024;

void setAttribute(schema::Attribute *message, const std::string &name,
                  const AttrValue &value) {
  message->set_name(name);
  if (auto *i = std::get_if<int64_t>(&value))
    message->set_i(*i);
  else if (auto *f = std::get_if<double>(&value))
    message->set_f(*f);
  else if (auto *s = std::get_if<std::string>(&value))
    message->set_s(*s);
  else if (auto *b = std::get_if<bool>(&value))
    message->set_b(*b);
  else if (auto *ints = std::get_if<std::vector<int64_t>>(&value))
    *message->mutable_ints()->mutable_values() = {ints->begin(), ints->end()};
  else if (auto *floats = std::get_if<std::vector<double>>(&value))
    *message->mutable_floats()->mutable_values() = {floats->begin(),
                                                    floats->end()};
  else
    message->set_dtype(static_cast<schema::DType>(std::get<DType>(value)));
}

void setOrigin(schema::Origin *message, const Origin &origin) {
  message->set_module(origin.module);
  message->set_node(origin.node);
  message->set_op(origin.op);
  message->set_file(origin.file);
  message->set_line(origin.line);
  message->set_index(origin.index);
}

class ProgramEmitter {
public:
  ProgramEmitter(pipe::StageOp stage, const ProgramLinks &links,
                 EmittedWeights &weights)
      : stage(stage), links(links), weights(weights) {}

  StatusOr<schema::Program> run() {
    addInputs();
    Block &body = stage.getBody().front();
    for (Operation &op : body.without_terminator())
      PIPEC_RETURN_IF_ERROR(addOp(&op));
    PIPEC_RETURN_IF_ERROR(
        addOutputs(cast<pipe::YieldOp>(body.getTerminator())));
    auto bytes = stage->getAttrOfType<IntegerAttr>(pipe::kArenaBytesAttr);
    program.set_arena_bytes(bytes ? bytes.getInt() : 0);
    return std::move(program);
  }

private:
  pipe::StageOp stage;
  const ProgramLinks &links;
  EmittedWeights &weights;
  schema::Program program;
  llvm::DenseMap<Value, uint32_t> indices;

  schema::Value *addValue(Value value) {
    indices[value] = program.values_size();
    schema::Value *message = program.add_values();
    setType(message->mutable_type(), pipe::toTensorType(value.getType()));
    return message;
  }

  void addInputs() {
    auto kept =
        stage->getAttrOfType<DenseI64ArrayAttr>(pipe::kContextOffsetsAttr);
    for (auto [i, argument] : llvm::enumerate(stage.getBody().getArguments())) {
      int64_t offset = kept ? kept[i] : -1;
      if (readsTransferFirst(i))
        addInput(argument, stage.getInputs()[i], offset);
      if (offset >= 0)
        addValue(argument)->set_context_offset(offset);
      else
        addValue(argument)->set_input(program.inputs_size() - 1);
    }
  }

  /// Whether input `i` enters the stage with this program: residuals and what
  /// came for an earlier phase are there already.
  bool readsTransferFirst(unsigned i) {
    Operation *producer = stage.getInputs()[i].getDefiningOp();
    if (!producer)
      return true; // of the graph: bound for every program
    if (isa<pipe::StageOp>(producer))
      return false;
    return llvm::none_of(producer->getUsers(), [&](Operation *user) {
      auto other = dyn_cast<pipe::StageOp>(user);
      return other && other.getIndex() == stage.getIndex() &&
             other.getPhase() < stage.getPhase();
    });
  }

  void addInput(Value argument, Value operand, int64_t contextOffset) {
    schema::ProgramInput *input = program.add_inputs();
    setType(input->mutable_type(), pipe::toTensorType(argument.getType()));
    if (Operation *transfer = operand.getDefiningOp()) {
      uint32_t index = links.transfers.lookup(transfer);
      input->set_transfer(index);
      input->set_name(links.transferNames[index]);
    } else {
      uint32_t index = links.graphInputs.lookup(operand);
      input->set_graph_input(index);
      input->set_name(links.inputNames[index]);
    }
    if (contextOffset >= 0) {
      input->set_in_context(true);
      input->set_context_offset(contextOffset);
    }
  }

  Status addConstant(pipe::ConstantOp op) {
    std::optional<Tensor> tensor = pipe::constantTensor(op);
    if (!tensor)
      return internalError("a pipe.constant has no tensor");
    schema::Value *value = addValue(op.getResult());
    if (tensor->byteSize() <= kLiteralBytes) {
      value->set_literal(tensor->data(), tensor->byteSize());
      return {};
    }
    uint64_t offset = pipe::ConstantPool::get(op.getContext()).add(*tensor);
    // The pool keeps equal bytes once, whatever their type.
    std::string name =
        "constant." + tensor->type().str() + "." + std::to_string(offset);
    while (SymbolTable::lookupSymbolIn(op->getParentOfType<ModuleOp>(), name))
      name += "#"; // a weight of the file has it
    value->set_weight(weights.indexOf(name, *tensor));
    return {};
  }

  Status addOp(Operation *op) {
    if (auto constant = dyn_cast<pipe::ConstantOp>(op))
      return addConstant(constant);
    if (auto load = dyn_cast<pipe::LoadWeightOp>(op)) {
      PIPEC_ASSIGN_OR_RETURN(uint32_t weight, indexOf(load));
      addValue(load.getResult())->set_weight(weight);
      return {};
    }
    OpDesc desc = pipe::describe(op);
    schema::Instruction *instruction = program.add_instructions();
    instruction->set_op(desc.name);
    for (const auto &[name, value] : desc.attrs)
      setAttribute(instruction->add_attributes(), name, value);
    setOrigin(instruction->mutable_origin(), desc.origin);
    for (Value operand : op->getOperands())
      instruction->add_inputs(indices.lookup(operand));
    auto offsets =
        op->getAttrOfType<DenseI64ArrayAttr>(pipe::kArenaOffsetsAttr);
    if (!offsets || offsets.size() != static_cast<int64_t>(op->getNumResults()))
      return internalError(desc.name + " has no place in the arena");
    auto kept = op->getAttrOfType<DenseI64ArrayAttr>(pipe::kContextOffsetsAttr);
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      if (kept && kept[i] >= 0)
        addValue(result)->set_context_offset(kept[i]);
      else
        addValue(result)->set_arena_offset(offsets[i]);
      instruction->add_outputs(indices.lookup(result));
    }
    return {};
  }

  Status addOutputs(pipe::YieldOp yield) {
    for (auto [value, result] :
         llvm::zip(yield.getOperands(), stage.getResults())) {
      for (OpOperand &use : result.getUses())
        PIPEC_RETURN_IF_ERROR(addOutput(indices.lookup(value), use));
    }
    return {};
  }

  Status addOutput(uint32_t value, OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<pipe::StageOp>(user))
      return {}; // a residual: it lies in the context
    schema::ProgramOutput *output = program.add_outputs();
    output->set_value(value);
    if (isa<pipe::TransferOp>(user)) {
      output->set_transfer(links.transfers.lookup(user));
    } else if (isa<pipe::GradientOp>(user)) {
      output->set_gradient_site(links.sites.lookup(user));
    } else if (auto buffer = bufferOf(use)) {
      PIPEC_ASSIGN_OR_RETURN(uint32_t weight, weights.indexOf(buffer));
      output->set_buffer(weight);
    } else {
      output->set_graph_output(use.getOperandNumber());
    }
    return {};
  }

  /// The buffer whose new value a graph result is; null for an output.
  pipe::WeightOp bufferOf(OpOperand &use) {
    auto graph = stage->getParentOfType<pipe::GraphOp>();
    auto name = graph.getResultAttrOfType<StringAttr>(
        use.getOperandNumber(), pipe::PipeDialect::kBufferAttr);
    return name ? links.weights->lookup<pipe::WeightOp>(name)
                : pipe::WeightOp();
  }

  StatusOr<uint32_t> indexOf(pipe::LoadWeightOp load) {
    auto weight = links.weights->lookup<pipe::WeightOp>(load.getWeight());
    if (!weight)
      return internalError("weight '" + load.getWeight().str() +
                           "' is not declared");
    return weights.indexOf(weight);
  }
};

} // namespace

void setType(schema::TensorType *message, const TensorType &type) {
  message->set_dtype(static_cast<schema::DType>(type.dtype));
  *message->mutable_shape() = {type.shape.begin(), type.shape.end()};
}

StatusOr<uint32_t> EmittedWeights::indexOf(pipe::WeightOp weight) {
  auto [at, isNew] = indices.insert(
      {weight.getSymName(), static_cast<uint32_t>(messages.size())});
  if (!isNew)
    return at->second;
  schema::Weight message;
  message.set_name(weight.getSymName().str());
  message.set_kind(static_cast<schema::WeightKind>(weight.getKind()));
  setType(message.mutable_type(), pipe::toTensorType(weight.getType()));
  if (ArrayAttr aliases = weight.getAliasesAttr())
    for (Attribute alias : aliases)
      message.add_aliases(cast<StringAttr>(alias).str());
  pipe::SourceAttr source = weight.getSource();
  WeightSource bytes;
  if (source.getFile() == pipe::ConstantPool::kFileName) {
    PIPEC_ASSIGN_OR_RETURN(
        bytes.inMemory,
        pipe::ConstantPool::get(weight.getContext())
            .tensor(source.getOffset(), pipe::toTensorType(weight.getType())));
  } else {
    bytes.file = source.getFile().str();
    bytes.offset = source.getOffset();
    bytes.length = source.getLength();
  }
  bytes.permutation.assign(source.getPermutation().begin(),
                           source.getPermutation().end());
  messages.push_back(std::move(message));
  sources.push_back(std::move(bytes));
  return at->second;
}

uint32_t EmittedWeights::indexOf(const std::string &name,
                                 const Tensor &constant) {
  ownedNames.push_back(std::make_unique<std::string>(name));
  auto [at, isNew] = indices.insert(
      {*ownedNames.back(), static_cast<uint32_t>(messages.size())});
  if (!isNew)
    return at->second;
  schema::Weight message;
  message.set_name(name);
  message.set_kind(schema::CONSTANT);
  setType(message.mutable_type(), constant.type());
  messages.push_back(std::move(message));
  WeightSource bytes;
  bytes.inMemory = constant;
  sources.push_back(std::move(bytes));
  return at->second;
}

StatusOr<schema::Program> emitProgram(pipe::StageOp stage,
                                      const ProgramLinks &links,
                                      EmittedWeights &weights) {
  return ProgramEmitter(stage, links, weights).run();
}

} // namespace pipec

// Creation and evaluation of ops: see Emitter.h.
//
// In: op names, operands, attributes. Out: Vals. Types are inferred before an
// op exists, so that a wrong model gives an error and never an invalid op.
// Tests: test/unit/frontends/ImportTest.cpp.
#include "frontends/common/Emitter.h"

#include "ir/UserText.h"
#include "runtime/kernels/kernel.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace pipec::frontend {

const TensorType &Val::type() const {
  static const TensorType none;
  return state ? state->type : none;
}

const Tensor *Val::known() const {
  if (!state)
    return nullptr;
  if (!state->known && state->load) {
    state->known = state->load();
    state->load = nullptr;
  }
  return state->known ? &*state->known : nullptr;
}

// ---- attributes

Attrs &Attrs::set(llvm::StringRef name, mlir::Attribute value) {
  list.set(name, value);
  return *this;
}
Attrs &Attrs::ints(llvm::StringRef name, const Shape &value) {
  return set(name, builder.getDenseI64ArrayAttr(value));
}
Attrs &Attrs::doubles(llvm::StringRef name, const std::vector<double> &value) {
  return set(name, builder.getDenseF64ArrayAttr(value));
}
Attrs &Attrs::i64(llvm::StringRef name, int64_t value) {
  return set(name, builder.getI64IntegerAttr(value));
}
Attrs &Attrs::f64(llvm::StringRef name, double value) {
  return set(name, builder.getF64FloatAttr(value));
}
Attrs &Attrs::boolean(llvm::StringRef name, bool value) {
  return set(name, builder.getBoolAttr(value));
}
Attrs &Attrs::flag(llvm::StringRef name, bool value) {
  return value ? set(name, builder.getUnitAttr()) : *this;
}
Attrs &Attrs::segments(const std::vector<int32_t> &sizes) {
  return set("operandSegmentSizes", builder.getDenseI32ArrayAttr(sizes));
}

// ---- creation

Emitter::Emitter(mlir::MLIRContext *context, mlir::Block *body)
    : builder(context), location(mlir::UnknownLoc::get(context)) {
  builder.setInsertionPointToEnd(body);
}

void Emitter::fail(Status status) {
  if (error.ok())
    error = std::move(status);
}

Val Emitter::make(const TensorType &type) {
  auto state = std::make_shared<Val::State>();
  state->type = type;
  return Val(std::move(state));
}

Val Emitter::fromIr(mlir::Value value) {
  Val result = make(pipe::toTensorType(value.getType()));
  result.get()->ir = value;
  return result;
}

Val Emitter::constant(const Tensor &tensor) {
  Val result = make(tensor.type());
  result.get()->known = tensor;
  return result;
}

mlir::Value Emitter::materialize(const Val &value) {
  Val::State *state = value.get();
  if (state->ir || !ok())
    return state->ir;
  if (state->make)
    return state->ir = state->make();
  const Tensor *tensor = value.known();
  if (!tensor) {
    fail(internalError("a value is neither computed nor known"));
    return state->ir;
  }
  return state->ir = pipe::materializeConstant(builder, location, *tensor);
}

/// Properties of an op that does not exist yet, filled from attributes.
namespace {
class ScratchProperties {
public:
  ScratchProperties(mlir::OperationName name, mlir::DictionaryAttr attributes,
                    llvm::function_ref<mlir::InFlightDiagnostic()> emitError)
      : name(name),
        bytes(name.getOpPropertyByteSize() / sizeof(std::max_align_t) + 1) {
    if (!name.getOpPropertyByteSize())
      return;
    properties = mlir::OpaqueProperties(bytes.data());
    name.initOpProperties(properties, mlir::OpaqueProperties(nullptr));
    valid = mlir::succeeded(name.setOpPropertiesFromAttribute(
        name, properties, attributes, emitError));
  }
  ~ScratchProperties() {
    if (properties)
      name.destroyOpProperties(properties);
  }
  mlir::OperationName name;
  std::vector<std::max_align_t> bytes;
  mlir::OpaqueProperties properties{nullptr};
  bool valid = true;
};
} // namespace

bool Emitter::inferTypes(mlir::OperationName name, mlir::ValueRange operands,
                         mlir::DictionaryAttr attributes,
                         llvm::SmallVectorImpl<mlir::Type> &types) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      context(), [&](mlir::Diagnostic &diagnostic) {
        message +=
            (message.empty() ? "" : "; ") + pipe::userText(diagnostic.str());
        return mlir::success();
      });
  auto *interface = name.getInterface<mlir::InferTypeOpInterface>();
  if (!interface) {
    fail(internalError("op " + name.getStringRef().str() + " infers no types"));
    return false;
  }
  ScratchProperties properties(name, attributes,
                               [&] { return mlir::emitError(location); });
  if (!properties.valid || mlir::failed(interface->inferReturnTypes(
                               context(), location, operands, attributes,
                               properties.properties, {}, types))) {
    failInvalid(message.empty()
                    ? "operands do not fit " + name.getStringRef().str()
                    : message);
    return false;
  }
  for (mlir::Type type : types)
    if (auto bytes = checkedByteSize(pipe::toTensorType(type)); !bytes.ok()) {
      fail(bytes.status());
      return false;
    }
  return true;
}

mlir::Operation *Emitter::create(const std::string &name,
                                 mlir::ValueRange operands,
                                 mlir::TypeRange types,
                                 mlir::DictionaryAttr attributes) {
  mlir::OperationState state(location, "pipe." + name);
  state.addOperands(operands);
  state.addTypes(types);
  // Ops without properties refuse even an empty dictionary.
  if (state.name.getOpPropertyByteSize())
    state.propertiesAttr = attributes;
  return builder.create(state);
}

std::optional<std::vector<Val>>
Emitter::fold(const std::string &name, const std::vector<Val> &operands,
              mlir::DictionaryAttr attributes,
              const std::vector<mlir::Type> &results) {
  // Larger constants are left to run time: folding them would cost more than it
  // saves.
  constexpr size_t kOperandLimit = 16 * kFoldLimit;
  size_t bytes = 0;
  for (mlir::Type type : results)
    bytes += pipe::toTensorType(type).byteSize();
  std::vector<Tensor> inputs;
  OpDesc desc;
  for (const Val &operand : operands) {
    if (operand.type().byteSize() > kOperandLimit || !operand.known())
      return std::nullopt;
    inputs.push_back(*operand.known());
  }
  if (bytes > kFoldLimit)
    return std::nullopt;
  mlir::Block scratch;
  llvm::SmallVector<mlir::Value> arguments;
  for (const Val &operand : operands)
    arguments.push_back(scratch.addArgument(
        pipe::fromTensorType(context(), operand.type()), location));
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&scratch);
  auto evaluated = evaluate(
      pipe::describe(create(name, arguments, results, attributes)), inputs);
  if (!evaluated.ok())
    return std::nullopt;
  std::vector<Val> values;
  for (const Tensor &tensor : *evaluated)
    values.push_back(constant(tensor));
  return values;
}

std::vector<Val> Emitter::emit(const std::string &name,
                               const std::vector<Val> &operands,
                               mlir::DictionaryAttr attributes,
                               size_t results) {
  std::vector<Val> none(results);
  for (const Val &operand : operands)
    if (!operand)
      return none;
  if (!ok())
    return none;
  // Types are inferred on stand-ins, so that constants become ops only where
  // they are read.
  mlir::Block scratch;
  llvm::SmallVector<mlir::Value> arguments;
  for (const Val &operand : operands)
    arguments.push_back(scratch.addArgument(
        pipe::fromTensorType(context(), operand.type()), location));
  mlir::OperationName opName("pipe." + name, context());
  llvm::SmallVector<mlir::Type> types;
  if (!inferTypes(opName, arguments, attributes, types))
    return none;
  if (auto folded =
          fold(name, operands, attributes, {types.begin(), types.end()}))
    return *folded;
  llvm::SmallVector<mlir::Value> values;
  for (const Val &operand : operands)
    values.push_back(materialize(operand));
  if (!ok())
    return none;
  mlir::Operation *op = create(name, values, types, attributes);
  std::vector<Val> made;
  for (mlir::Value result : op->getResults())
    made.push_back(fromIr(result));
  return made;
}

Val Emitter::emit1(const std::string &name, const std::vector<Val> &operands,
                   Attrs attributes) {
  return emit(name, operands, attributes.dictionary())[0];
}

Val Emitter::convert(const Val &x, DType dtype) {
  if (!x || !ok() || x.dtype() == dtype)
    return x;
  TensorType type{dtype, x.shape()};
  mlir::Type result = pipe::fromTensorType(context(), type);
  mlir::DictionaryAttr none = builder.getDictionaryAttr({});
  if (auto folded = fold("convert", {x}, none, {result}))
    return (*folded)[0];
  mlir::Value operand = materialize(x);
  return ok() ? fromIr(
                    create("convert", {operand}, {result}, none)->getResult(0))
              : Val();
}

Val Emitter::iota(const TensorType &type, int64_t dim) {
  if (!ok())
    return Val();
  auto bytes = checkedByteSize(type);
  if (!bytes.ok() || dim < 0 || dim >= type.rank()) {
    failInvalid("iota of " + type.str() + " along dimension " +
                std::to_string(dim));
    return Val();
  }
  mlir::Type result = pipe::fromTensorType(context(), type);
  mlir::DictionaryAttr attributes = attrs().i64("dim", dim).dictionary();
  if (auto folded = fold("iota", {}, attributes, {result}))
    return (*folded)[0];
  return fromIr(create("iota", {}, {result}, attributes)->getResult(0));
}

} // namespace pipec::frontend

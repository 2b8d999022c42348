// Between MLIR and the runtime: types, origins, op descriptions, constants.
// In: verified ops of the dialect. Out: OpDesc and Tensor of runtime/base.
// Tests: test/unit/ir/OpDescsTest.cpp.
#include "ir/OpDescs.h"
#include "ir/PipeOps.h"
#include "runtime/kernels/kernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cstring>

using namespace mlir;

namespace pipec::pipe {

// ---- types

std::optional<DType> toDType(Type type) {
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return isUnsigned ? std::nullopt : std::optional(DType::Bool);
  case 8:
    return isUnsigned ? DType::U8 : DType::I8;
  case 16:
    return isUnsigned ? DType::U16 : DType::I16;
  case 32:
    return isUnsigned ? DType::U32 : DType::I32;
  case 64:
    return isUnsigned ? DType::U64 : DType::I64;
  default:
    return std::nullopt;
  }
}

Type fromDType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::Bool:
    return IntegerType::get(context, 1);
  default:
    break;
  }
  unsigned width = static_cast<unsigned>(byteSize(dtype) * 8);
  return IntegerType::get(context, width,
                          isUnsignedInt(dtype) ? IntegerType::Unsigned
                                               : IntegerType::Signless);
}

TensorType toTensorType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return {*toDType(tensor.getElementType()),
          std::vector<int64_t>(tensor.getShape())};
}

RankedTensorType fromTensorType(MLIRContext *context, const TensorType &type) {
  return RankedTensorType::get(type.shape, fromDType(context, type.dtype));
}

// ---- origins

Origin originOf(Location location) {
  Origin origin;
  location->walk([&](Location part) {
    if (auto fused = dyn_cast<FusedLocWith<OriginAttr>>(part);
        fused && origin.index < 0) {
      OriginAttr attr = fused.getMetadata();
      origin.index = attr.getIndex();
      origin.op = attr.getOp().str();
      origin.node = attr.getNode().str();
      origin.module = attr.getModule().str();
    }
    if (auto line = dyn_cast<FileLineColLoc>(part);
        line && origin.file.empty()) {
      origin.file = line.getFilename().str();
      origin.line = static_cast<int>(line.getLine());
    }
    return WalkResult::advance();
  });
  return origin;
}

Location makeOriginLocation(MLIRContext *context, const Origin &origin) {
  auto attr = OriginAttr::get(context, origin.index, origin.op, origin.node,
                              origin.module);
  Location inner = UnknownLoc::get(context);
  if (!origin.file.empty())
    inner = FileLineColLoc::get(context, origin.file,
                                static_cast<unsigned>(origin.line), 0);
  return FusedLoc::get(context, {inner}, attr);
}

// ---- descriptions

static std::string keyword(Attribute attr) {
  return llvm::TypeSwitch<Attribute, std::string>(attr)
      .Case<CompareKindAttr, ReduceKindAttr, ArgReduceKindAttr,
            CumulativeKindAttr, RemainderKindAttr, ChainKindAttr, PadModeAttr,
            ScatterKindAttr, ResizeModeAttr, ResizeCoordinatesAttr,
            ResizeRoundingAttr, WeightKindAttr>(
          [](auto e) { return stringifyEnum(e.getValue()).str(); })
      .Default([](Attribute) { return std::string(); });
}

// Nothing for attributes that a kernel does not read (literals, symbols).
static std::optional<AttrValue> toAttrValue(Attribute attr) {
  if (isa<UnitAttr>(attr))
    return AttrValue(true);
  if (auto value = dyn_cast<BoolAttr>(attr))
    return AttrValue(value.getValue());
  if (auto value = dyn_cast<IntegerAttr>(attr))
    return AttrValue(value.getInt());
  if (auto value = dyn_cast<FloatAttr>(attr))
    return AttrValue(value.getValueAsDouble());
  if (auto value = dyn_cast<StringAttr>(attr))
    return AttrValue(value.str());
  if (auto value = dyn_cast<DenseI64ArrayAttr>(attr))
    return AttrValue(std::vector<int64_t>(value.asArrayRef()));
  if (auto value = dyn_cast<DenseF64ArrayAttr>(attr))
    return AttrValue(std::vector<double>(value.asArrayRef()));
  if (std::string word = keyword(attr); !word.empty())
    return AttrValue(std::move(word));
  return std::nullopt;
}

// Names of the operands that are there, for ops that have optional ones.
static std::optional<std::string> operandNames(Operation *op) {
  llvm::SmallVector<StringRef> names;
  auto add = [&](StringRef name, Value value) {
    if (value)
      names.push_back(name);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<LayerNormOp, GroupNormOp>([&](auto norm) {
        add("operand", norm.getOperand());
        add("scale", norm.getScale());
        add("bias", norm.getBias());
      })
      .Case([&](RmsNormOp norm) {
        add("operand", norm.getOperand());
        add("scale", norm.getScale());
      })
      .Case([&](AttentionOp attention) {
        add("query", attention.getQuery());
        add("key", attention.getKey());
        add("value", attention.getValue());
        add("mask", attention.getMask());
      });
  if (names.empty())
    return std::nullopt;
  return llvm::join(names, ",");
}

OpDesc describe(Operation *op) {
  OpDesc desc;
  desc.name = op->getName().stripDialect().str();
  for (StringAttr name : op->getName().getAttributeNames()) {
    if (name == "operandSegmentSizes")
      continue;
    if (std::optional<Attribute> attr = op->getInherentAttr(name);
        attr && *attr)
      if (std::optional<AttrValue> value = toAttrValue(*attr))
        desc.attrs.emplace(name.str(), std::move(*value));
  }
  if (std::optional<std::string> names = operandNames(op))
    desc.attrs.emplace("operands", std::move(*names));
  for (Type type : op->getOperandTypes())
    desc.inputs.push_back(toTensorType(type));
  for (Type type : op->getResultTypes())
    desc.outputs.push_back(toTensorType(type));
  desc.origin = originOf(op->getLoc());
  return desc;
}

// ---- constants

static std::optional<Tensor> literalTensor(ConstantOp op) {
  auto value = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!value)
    return std::nullopt;
  StatusOr<Tensor> tensor = Tensor::allocate(toTensorType(op.getType()));
  if (!tensor.ok())
    return std::nullopt;
  auto *out = tensor->as<uint8_t>();
  if (tensor->dtype() == DType::Bool) {
    for (bool element : value.getValues<bool>())
      *out++ = element;
    return *tensor;
  }
  llvm::ArrayRef<char> raw = value.getRawData();
  if (raw.empty())
    return *tensor;
  size_t piece = value.isSplat() ? byteSize(tensor->dtype()) : raw.size();
  for (size_t at = 0, size = tensor->byteSize(); at < size; at += piece)
    std::memcpy(out + at, raw.data(), piece);
  return *tensor;
}

static std::optional<Tensor> poolTensor(LoadWeightOp op, WeightOp weight) {
  if (!weight || weight.getKind() != WeightKind::constant ||
      weight.getSource().getFile() != ConstantPool::kFileName ||
      !weight.getSource().getPermutation().empty())
    return std::nullopt;
  StatusOr<Tensor> tensor =
      ConstantPool::get(op.getContext())
          .tensor(weight.getSource().getOffset(), toTensorType(op.getType()));
  return tensor.ok() ? std::optional(*tensor) : std::nullopt;
}

static std::optional<Tensor>
constantTensor(Operation *op,
               llvm::function_ref<WeightOp(LoadWeightOp)> weightOf) {
  if (auto literal = dyn_cast_if_present<ConstantOp>(op))
    return literalTensor(literal);
  if (auto load = dyn_cast_if_present<LoadWeightOp>(op))
    return poolTensor(load, weightOf(load));
  return std::nullopt;
}

std::optional<Tensor> constantTensor(Operation *op) {
  return constantTensor(op, [](LoadWeightOp load) {
    return SymbolTable::lookupNearestSymbolFrom<WeightOp>(load,
                                                          load.getWeightAttr());
  });
}

std::optional<Tensor> constantTensor(Operation *op,
                                     const SymbolTable &weights) {
  return constantTensor(op, [&](LoadWeightOp load) {
    return weights.lookup<WeightOp>(load.getWeight());
  });
}

static bool isSplat(const Tensor &tensor) {
  size_t size = byteSize(tensor.dtype());
  const auto *bytes = tensor.as<uint8_t>();
  for (size_t at = size, end = tensor.byteSize(); at < end; at += size)
    if (std::memcmp(bytes, bytes + at, size) != 0)
      return false;
  return true;
}

static DenseElementsAttr toElements(RankedTensorType type, const Tensor &tensor,
                                    bool splat) {
  size_t count = splat && tensor.numElements() > 0 ? 1 : tensor.numElements();
  if (tensor.dtype() == DType::Bool) {
    llvm::SmallVector<bool> values;
    for (size_t i = 0; i < count; ++i)
      values.push_back(tensor.as<uint8_t>()[i] != 0);
    return DenseElementsAttr::get(type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(
      type,
      llvm::ArrayRef(tensor.as<char>(), count * byteSize(tensor.dtype())));
}

// A declaration for the pool's bytes at `offset`; equal ones share it.
static WeightOp declarePoolWeight(Operation *graph, Location location,
                                  RankedTensorType type, uint64_t offset,
                                  uint64_t length) {
  auto module = graph->getParentOfType<ModuleOp>();
  std::string stem = "constant." + std::to_string(offset);
  auto source = SourceAttr::get(graph->getContext(), ConstantPool::kFileName,
                                offset, length, {});
  for (unsigned suffix = 0;; ++suffix) {
    std::string name = stem + (suffix ? "." + std::to_string(suffix) : "");
    Operation *found = SymbolTable::lookupSymbolIn(module, name);
    if (!found) {
      OpBuilder builder(graph);
      return WeightOp::create(builder, location, name, WeightKind::constant,
                              type, source, nullptr, nullptr);
    }
    auto weight = dyn_cast<WeightOp>(found);
    if (weight && weight.getSource() == source && weight.getType() == type &&
        weight.getKind() == WeightKind::constant)
      return weight;
  }
}

Value materializeConstant(OpBuilder &builder, Location location,
                          const Tensor &tensor) {
  constexpr int64_t kMostElements = 16; // PIPE-I5
  auto type = fromTensorType(builder.getContext(), tensor.type());
  bool splat = isSplat(tensor);
  if (splat || tensor.numElements() <= kMostElements)
    return ConstantOp::create(builder, location,
                              toElements(type, tensor, splat));
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  Operation *graph = isa<GraphOp>(parent)
                         ? parent
                         : parent->getParentOfType<GraphOp>().getOperation();
  uint64_t offset = ConstantPool::get(builder.getContext()).add(tensor);
  WeightOp weight =
      declarePoolWeight(graph, location, type, offset, tensor.byteSize());
  return LoadWeightOp::create(builder, location, type, weight.getSymName());
}

std::optional<std::vector<Tensor>> evaluateConstantOp(Operation *op,
                                                      size_t maxBytes) {
  auto lookUp = [](Value value) {
    return constantTensor(value.getDefiningOp());
  };
  return evaluateWith(op, maxBytes, lookUp);
}

// Whether an op is small enough to run at compile time: results of at most
// `maxBytes`, operands and work in proportion, so that no model makes the
// compiler allocate or compute without bound.
static bool isCheap(CostInterface op, size_t maxBytes) {
  constexpr int64_t kOperandsPerResult = 64;
  constexpr int64_t kFlopsPerByte = 256;
  auto limit = static_cast<int64_t>(std::min<size_t>(maxBytes, INT64_MAX));
  int64_t bytes = 0;
  for (Type type : op->getResultTypes())
    bytes = saturatingSum({bytes, bytesOf(type)});
  return bytes <= limit &&
         op.getBytes() - bytes <=
             saturatingProduct({limit, kOperandsPerResult}) &&
         op.getFlops() <= saturatingProduct({limit, kFlopsPerByte});
}

std::optional<std::vector<Tensor>>
evaluateWith(Operation *op, size_t maxBytes,
             llvm::function_ref<std::optional<Tensor>(Value)> lookUp) {
  // Exactly the tensor ops have a cost.
  auto cost = dyn_cast<CostInterface>(op);
  if (!cost || !isCheap(cost, maxBytes))
    return std::nullopt;
  std::vector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Tensor> tensor = lookUp(operand);
    if (!tensor)
      return std::nullopt;
    operands.push_back(std::move(*tensor));
  }
  StatusOr<std::vector<Tensor>> results = evaluate(describe(op), operands);
  if (!results.ok())
    return std::nullopt;
  return std::move(*results);
}

} // namespace pipec::pipe

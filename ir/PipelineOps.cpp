// Graph, weights, stages and transfers: verifiers, and the assembly of graph
// and stage. Verifiers look at an op, its operands and its parent only; what
// spans a whole graph is checked by the gate passes.
// Tests: test/ir/pipeline-*.mlir.
#include "ir/PipelineOps.h"
#include "ir/OpDescs.h"
#include "ir/ShapeInference.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

#include "llvm/ADT/StringSet.h"

#include <limits>

using namespace mlir;
using namespace pipec::pipe;

#define GET_OP_CLASSES
#include "ir/PipelineOps.cpp.inc"

void PipeDialect::registerPipelineOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/PipelineOps.cpp.inc"
      >();
}

// ---- graph

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &result) {
  auto makeType = [](Builder &builder, ArrayRef<Type> inputs,
                     ArrayRef<Type> results,
                     function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), makeType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void GraphOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

StringRef GraphOp::getInputName(unsigned i) {
  auto name = getArgAttrOfType<StringAttr>(i, PipeDialect::kNameAttr);
  return name ? name.getValue() : StringRef();
}

StringRef GraphOp::getOutputName(unsigned i) {
  auto name = getResultAttrOfType<StringAttr>(i, PipeDialect::kNameAttr);
  return name ? name.getValue() : StringRef();
}

bool GraphOp::isWhole(unsigned i) {
  return getArgAttr(i, PipeDialect::kWholeAttr) != nullptr;
}

OutputOp GraphOp::getOutput() {
  return cast<OutputOp>(getBody().front().getTerminator());
}

static LogicalResult verifyBoundary(GraphOp graph, StringRef what,
                                    ArrayRef<Type> types,
                                    function_ref<Attribute(unsigned)> nameOf) {
  llvm::StringSet<> names;
  for (auto [i, type] : llvm::enumerate(types)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() ||
        !toDType(tensor.getElementType()))
      return graph.emitOpError(what)
             << " #" << i << " must be a tensor of static shape with a bool, "
             << "integer or float element type, got " << type;
    if (!sizeFits(tensor.getShape(), tensor.getElementType()))
      return graph.emitOpError(what)
             << " #" << i << " of type " << type << " exceeds 2^62 bytes";
    Attribute name = nameOf(i);
    if (!name)
      continue;
    auto text = dyn_cast<StringAttr>(name);
    if (!text)
      return graph.emitOpError(what)
             << " #" << i << ": 'pipe.name' must be a string, got " << name;
    if (!names.insert(text.getValue()).second)
      return graph.emitOpError("has two ")
             << what << "s named " << text << "; names must be distinct";
  }
  return success();
}

LogicalResult GraphOp::verify() {
  FunctionType type = getFunctionType();
  auto argName = [&](unsigned i) {
    return getArgAttr(i, PipeDialect::kNameAttr);
  };
  auto resultName = [&](unsigned i) {
    return getResultAttr(i, PipeDialect::kNameAttr);
  };
  if (failed(verifyBoundary(*this, "argument", type.getInputs(), argName)) ||
      failed(verifyBoundary(*this, "result", type.getResults(), resultName)))
    return failure();
  for (unsigned i = 0, e = type.getNumInputs(); i < e; ++i) {
    Attribute whole = getArgAttr(i, PipeDialect::kWholeAttr);
    if (whole && !isa<UnitAttr>(whole))
      return emitOpError("argument #")
             << i << ": 'pipe.whole' must be a unit attribute, got " << whole;
  }
  for (unsigned i = 0, e = type.getNumResults(); i < e; ++i)
    if (getResultAttr(i, PipeDialect::kWholeAttr))
      return emitOpError("result #")
             << i << " cannot carry 'pipe.whole'; it is for arguments";
  Block &block = getBody().front();
  if (block.empty() || !isa<OutputOp>(block.back()))
    return emitOpError("must end in 'pipe.output'");
  return success();
}

LogicalResult OutputOp::verify() {
  auto graph = cast<GraphOp>((*this)->getParentOp());
  ArrayRef<Type> expected = graph.getResultTypes();
  if (getOperands().size() != expected.size())
    return emitOpError("has ")
           << getOperands().size() << " operands, but the graph has "
           << expected.size() << " results";
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip(getOperands().getTypes(), expected))) {
    auto [got, want] = pair;
    if (got != want)
      return emitOpError("operand #")
             << i << " has type " << got << ", but the graph's result has type "
             << want;
  }
  return success();
}

// ---- weights

static LogicalResult verifySource(WeightOp weight, RankedTensorType type) {
  SourceAttr source = weight.getSource();
  if (source.getFile().empty())
    return weight.emitOpError("source names no file");
  auto bytes = static_cast<uint64_t>(bytesOf(type));
  if (source.getLength() != bytes)
    return weight.emitOpError("source has ")
           << source.getLength() << " bytes, but " << type << " needs "
           << bytes;
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  if (source.getOffset() > kMost - source.getLength())
    return weight.emitOpError("source range overflows: offset ")
           << source.getOffset() << ", length " << source.getLength();
  ArrayRef<int64_t> permutation = source.getPermutation();
  if (permutation.empty())
    return success();
  Shape sorted(permutation);
  llvm::sort(sorted);
  bool valid = static_cast<int64_t>(sorted.size()) == type.getRank();
  for (size_t i = 0; valid && i < sorted.size(); ++i)
    valid = sorted[i] == static_cast<int64_t>(i);
  if (!valid)
    return weight.emitOpError("source permutation must order ")
           << type.getRank() << " axes, got " << listStr(permutation);
  return success();
}

LogicalResult WeightOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!sizeFits(type.getShape(), type.getElementType()))
    return emitOpError("type ") << type << " exceeds 2^62 bytes";
  if (failed(verifySource(*this, type)))
    return failure();
  llvm::StringSet<> names;
  names.insert(getSymName());
  if (ArrayAttr aliases = getAliasesAttr())
    for (StringAttr alias : aliases.getAsRange<StringAttr>())
      if (alias.getValue().empty() || !names.insert(alias.getValue()).second)
        return emitOpError("aliases must be distinct, not empty, and differ "
                           "from the symbol, got ")
               << alias;
  return success();
}

// `weight` is declared, with `type`.
static LogicalResult verifyWeightUse(Operation *op, FlatSymbolRefAttr name,
                                     Type type,
                                     SymbolTableCollection &symbolTable) {
  auto weight = symbolTable.lookupNearestSymbolFrom<WeightOp>(op, name);
  if (!weight)
    return op->emitOpError("refers to ")
           << name << ", which no 'pipe.weight' declares";
  if (weight.getType() != type) {
    InFlightDiagnostic error = op->emitOpError("has type ")
                               << type << ", but the weight has type "
                               << weight.getType();
    error.attachNote(weight.getLoc()) << "declared here";
    return error;
  }
  return success();
}

LogicalResult
LoadWeightOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyWeightUse(*this, getWeightAttr(), getType(), symbolTable);
}

LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (failed(verifyWeightUse(*this, getWeightAttr(), getValue().getType(),
                             symbolTable)))
    return failure();
  auto weight =
      symbolTable.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (weight.getKind() != WeightKind::parameter)
    return emitOpError("is of a ") << stringifyWeightKind(weight.getKind())
                                   << "; only parameters have gradients";
  if (auto site = static_cast<int64_t>(getSite()); site < 0)
    return emitOpError("site must be at least 0, got ") << site;
  auto stage = getValue().getDefiningOp<StageOp>();
  if (!stage || stage.getPhase() == StagePhase::forward)
    return emitOpError("must take a result of a stage's backward phase");
  return success();
}

// ---- stages and transfers

// pipe.stage 0 (%a = %x : type, ...) -> (types) attributes {...} { body }
ParseResult StageOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  int64_t index = 0;
  if (parser.parseInteger(index))
    return failure();
  result.getOrAddProperties<StageOp::Properties>().setIndex(
      builder.getI64IntegerAttr(index));
  StringRef keyword;
  SMLoc keywordLoc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    std::optional<StagePhase> phase = symbolizeStagePhase(keyword);
    if (!phase)
      return parser.emitError(keywordLoc, "expected backward_input or "
                                          "backward_weight, got ")
             << keyword;
    result.getOrAddProperties<StageOp::Properties>().setPhase(
        StagePhaseAttr::get(builder.getContext(), *phase));
  }

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto parseInput = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()) ||
                   parser.parseColonType(argument.type) ||
                   parser.parseOptionalLocationSpecifier(argument.sourceLoc));
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseInput) ||
      parser.parseOptionalArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  SmallVector<Type> types;
  for (OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  return failure(
      parser.resolveOperands(operands, types, loc, result.operands) ||
      parser.parseRegion(*result.addRegion(), arguments));
}

void StageOp::print(OpAsmPrinter &printer) {
  printer << ' ' << static_cast<int64_t>(getIndex()) << ' ';
  if (getPhase() != StagePhase::forward)
    printer << stringifyStagePhase(getPhase()) << ' ';
  printer << '(';
  llvm::interleaveComma(
      llvm::zip_equal(getBody().getArguments(), getInputs()), printer,
      [&](auto pair) {
        auto [argument, input] = pair;
        printer << argument << " = " << input << " : " << input.getType();
        printer.printOptionalLocationSpecifier(argument.getLoc());
      });
  printer << ')';
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword(
      llvm::to_vector((*this)->getDiscardableAttrs()));
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

// Whether `producer` is an earlier phase of the stage.
static bool isEarlierPhase(Operation *producer, StageOp stage) {
  auto other = dyn_cast<StageOp>(producer);
  return other && other.getIndex() == stage.getIndex() &&
         other.getPhase() < stage.getPhase();
}

// Inputs come from the graph's arguments, by a transfer to this stage, or are
// residuals of its earlier phases.
static LogicalResult verifyStageInputs(StageOp stage) {
  auto index = static_cast<int64_t>(stage.getIndex());
  const bool isForward = stage.getPhase() == StagePhase::forward;
  for (auto [i, input] : llvm::enumerate(stage.getInputs())) {
    Operation *producer = input.getDefiningOp();
    if (!producer)
      continue;
    auto transfer = dyn_cast<TransferOp>(producer);
    if ((transfer && static_cast<int64_t>(transfer.getTo()) == index) ||
        isEarlierPhase(producer, stage))
      continue;
    InFlightDiagnostic error = stage.emitOpError("input #")
                               << i << " must be an argument of the graph"
                               << (isForward ? " or a" : ", a")
                               << " 'pipe.transfer' to " << index;
    if (!isForward)
      error << " or a result of an earlier phase of stage " << index;
    error.attachNote(producer->getLoc()) << "comes from here";
    return error;
  }
  return success();
}

LogicalResult StageOp::verify() {
  auto index = static_cast<int64_t>(getIndex());
  if (index < 0)
    return emitOpError("index must be at least 0, got ") << index;
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("has ")
           << getInputs().size() << " inputs of types ("
           << getInputs().getTypes() << "), but its body takes ("
           << block.getArgumentTypes() << ")";
  if (block.empty() || !isa<YieldOp>(block.back()))
    return emitOpError("must end in 'pipe.yield'");
  if (block.back().getOperandTypes() != getResultTypes())
    return emitOpError("has results (")
           << getResultTypes() << "), but its body yields ("
           << block.back().getOperandTypes() << ")";
  return verifyStageInputs(*this);
}

LogicalResult TransferOp::verify() {
  auto from = static_cast<int64_t>(getFrom());
  auto to = static_cast<int64_t>(getTo());
  if (from < 0 || to < 0 || (getGradient() ? from <= to : from >= to))
    return emitOpError("goes from a stage to ")
           << (getGradient() ? "an earlier" : "a later") << " one, got from "
           << from << " to " << to;
  auto stage = getValue().getDefiningOp<StageOp>();
  if (!stage)
    return emitOpError("must send a result of a 'pipe.stage'");
  if (static_cast<int64_t>(stage.getIndex()) != from) {
    InFlightDiagnostic error = emitOpError("sends from stage ")
                               << from << ", but stage "
                               << static_cast<int64_t>(stage.getIndex())
                               << " makes the value";
    error.attachNote(stage.getLoc()) << "made here";
    return error;
  }
  return success();
}

// Enumerations of the `pipe` dialect. Their keywords are also what travels in
// packages and what command-line flags accept: one source for each.
#ifndef PIPEC_IR_PIPEENUMS_TD
#define PIPEC_IR_PIPEENUMS_TD

include "ir/PipeDialect.td"
include "mlir/IR/EnumAttr.td"

class Pipe_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::pipec::pipe";
  let genSpecializedAttr = 0;
}
class Pipe_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Pipe_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Pipe_CompareKind : Pipe_Enum<"CompareKind", "elementwise comparison", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]>;
def Pipe_CompareKindAttr : Pipe_EnumAttr<Pipe_CompareKind, "compare_kind">;

def Pipe_ReduceKind : Pipe_Enum<"ReduceKind", "how elements are combined", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"prod", 2>,
  I32EnumAttrCase<"max", 3>, I32EnumAttrCase<"min", 4>]>;
def Pipe_ReduceKindAttr : Pipe_EnumAttr<Pipe_ReduceKind, "reduce_kind">;

def Pipe_ArgReduceKind : Pipe_Enum<"ArgReduceKind", "which element's position", [
  I32EnumAttrCase<"argmax", 0>, I32EnumAttrCase<"argmin", 1>]>;
def Pipe_ArgReduceKindAttr : Pipe_EnumAttr<Pipe_ArgReduceKind, "arg_reduce_kind">;

def Pipe_CumulativeKind : Pipe_Enum<"CumulativeKind", "running combination", [
  I32EnumAttrCase<"cumsum", 0>, I32EnumAttrCase<"cumprod", 1>]>;
def Pipe_CumulativeKindAttr : Pipe_EnumAttr<Pipe_CumulativeKind, "cumulative_kind">;

def Pipe_RemainderKind : Pipe_Enum<"RemainderKind", "whose sign a remainder takes", [
  I32EnumAttrCase<"trunc", 0>, I32EnumAttrCase<"floor", 1>]>;
def Pipe_RemainderKindAttr : Pipe_EnumAttr<Pipe_RemainderKind, "remainder_kind">;

def Pipe_PadMode : Pipe_Enum<"PadMode", "what padding holds", [
  I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"reflect", 1>,
  I32EnumAttrCase<"edge", 2>, I32EnumAttrCase<"wrap", 3>]>;
def Pipe_PadModeAttr : Pipe_EnumAttr<Pipe_PadMode, "pad_mode">;

def Pipe_ScatterKind : Pipe_Enum<"ScatterKind", "how an update meets what lies there", [
  I32EnumAttrCase<"set", 0>, I32EnumAttrCase<"add", 1>, I32EnumAttrCase<"mul", 2>,
  I32EnumAttrCase<"max", 3>, I32EnumAttrCase<"min", 4>]>;
def Pipe_ScatterKindAttr : Pipe_EnumAttr<Pipe_ScatterKind, "scatter_kind">;

def Pipe_ResizeMode : Pipe_Enum<"ResizeMode", "interpolation", [
  I32EnumAttrCase<"nearest", 0>, I32EnumAttrCase<"linear", 1>, I32EnumAttrCase<"cubic", 2>]>;
def Pipe_ResizeModeAttr : Pipe_EnumAttr<Pipe_ResizeMode, "resize_mode">;

def Pipe_ResizeCoordinates : Pipe_Enum<"ResizeCoordinates", "output position to input position, as ONNX Resize names them", [
  I32EnumAttrCase<"half_pixel", 0>, I32EnumAttrCase<"asymmetric", 1>,
  I32EnumAttrCase<"align_corners", 2>, I32EnumAttrCase<"pytorch_half_pixel", 3>,
  I32EnumAttrCase<"half_pixel_symmetric", 4>]>;
def Pipe_ResizeCoordinatesAttr : Pipe_EnumAttr<Pipe_ResizeCoordinates, "resize_coordinates">;

def Pipe_ResizeRounding : Pipe_Enum<"ResizeRounding", "which neighbour nearest takes", [
  I32EnumAttrCase<"round_prefer_floor", 0>, I32EnumAttrCase<"round_prefer_ceil", 1>,
  I32EnumAttrCase<"floor", 2>, I32EnumAttrCase<"ceil", 3>]>;
def Pipe_ResizeRoundingAttr : Pipe_EnumAttr<Pipe_ResizeRounding, "resize_rounding">;

def Pipe_WeightKind : Pipe_Enum<"WeightKind", "what a weight is to training", [
  I32EnumAttrCase<"parameter", 0>, I32EnumAttrCase<"buffer", 1>, I32EnumAttrCase<"constant", 2>]>;
def Pipe_WeightKindAttr : Pipe_EnumAttr<Pipe_WeightKind, "weight_kind">;

def Pipe_ChainKind : Pipe_Enum<"ChainKind", "how a gradient meets a local derivative", [
  I32EnumAttrCase<"mul", 0>, I32EnumAttrCase<"div", 1>]>;
def Pipe_ChainKindAttr : Pipe_EnumAttr<Pipe_ChainKind, "chain_kind">;

def Pipe_StagePhase : Pipe_Enum<"StagePhase", "which of a stage's programs", [
  I32EnumAttrCase<"forward", 0>, I32EnumAttrCase<"backward_input", 1>, I32EnumAttrCase<"backward_weight", 2>]>;
def Pipe_StagePhaseAttr : Pipe_EnumAttr<Pipe_StagePhase, "stage_phase">;

#endif

// Elementwise ops. Binary and ternary ones broadcast their operands as NumPy
// and ATen do: shapes are aligned at the right, a dimension of 1 stretches.
#ifndef PIPEC_IR_ELEMENTWISEOPS_TD
#define PIPEC_IR_ELEMENTWISEOPS_TD

include "ir/PipeOpBase.td"

// ---- unary: result type is the operand's --------------------------------------------------------

class Pipe_UnaryOp<string mnemonic, Type operandType, list<Trait> traits>
    : Pipe_TensorOp<mnemonic, traits> {
  let arguments = (ins operandType:$operand);
  let results = (outs operandType:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}
// One flop an element.
class Pipe_SimpleUnaryOp<string mnemonic, Type operandType, string what>
    : Pipe_UnaryOp<mnemonic, operandType, [Pipe_CostInterface]> {
  let summary = what;
}
// kTranscendentalFlops an element.
class Pipe_MathUnaryOp<string mnemonic, string what>
    : Pipe_UnaryOp<mnemonic, Pipe_FloatTensor, [Pipe_OwnCost]> {
  let summary = what;
}

def Pipe_AbsOp : Pipe_SimpleUnaryOp<"abs", Pipe_NumTensor, "absolute value; the least integer stays itself"> {
  let hasFolder = 1;
}
def Pipe_NegOp : Pipe_SimpleUnaryOp<"neg", Pipe_NumTensor, "negation; integers wrap"> {
  let hasFolder = 1;
}
def Pipe_SignOp : Pipe_SimpleUnaryOp<"sign", Pipe_NumTensor, "-1, 0 or 1; NaN stays NaN"> {
  let hasFolder = 1;
}
def Pipe_ReluOp : Pipe_SimpleUnaryOp<"relu", Pipe_NumTensor, "max(x, 0); NaN stays NaN"> {
  let hasFolder = 1;
}
def Pipe_FloorOp : Pipe_SimpleUnaryOp<"floor", Pipe_FloatTensor, "largest integer not above"> {
  let hasFolder = 1;
}
def Pipe_CeilOp : Pipe_SimpleUnaryOp<"ceil", Pipe_FloatTensor, "smallest integer not below"> {
  let hasFolder = 1;
}
def Pipe_RoundOp : Pipe_SimpleUnaryOp<"round", Pipe_FloatTensor, "nearest integer, halves to even"> {
  let hasFolder = 1;
}
def Pipe_SqrtOp : Pipe_SimpleUnaryOp<"sqrt", Pipe_FloatTensor, "square root, correctly rounded"> {
  let description = "`flat_at_zero`: its derivative is 0 where the result is 0 (the root of a norm), not infinite.";
  let arguments = (ins Pipe_FloatTensor:$operand, UnitAttr:$flat_at_zero);
}
def Pipe_ReciprocalOp : Pipe_SimpleUnaryOp<"reciprocal", Pipe_FloatTensor, "1 / x, correctly rounded">;
def Pipe_RsqrtOp : Pipe_SimpleUnaryOp<"rsqrt", Pipe_FloatTensor, "1 / sqrt(x), each step rounded">;
def Pipe_NotOp : Pipe_SimpleUnaryOp<"not", Pipe_BoolTensor, "logical negation"> {
  let hasFolder = 1;
}
def Pipe_BitwiseNotOp : Pipe_SimpleUnaryOp<"bitwise_not", Pipe_IntTensor, "complement of every bit"> {
  let hasFolder = 1;
}

def Pipe_ExpOp : Pipe_MathUnaryOp<"exp", "e^x">;
def Pipe_Expm1Op : Pipe_MathUnaryOp<"expm1", "e^x - 1, exact near 0">;
def Pipe_LogOp : Pipe_MathUnaryOp<"log", "natural logarithm">;
def Pipe_Log1pOp : Pipe_MathUnaryOp<"log1p", "log(1 + x), exact near 0">;
def Pipe_SinOp : Pipe_MathUnaryOp<"sin", "sine">;
def Pipe_CosOp : Pipe_MathUnaryOp<"cos", "cosine">;
def Pipe_TanOp : Pipe_MathUnaryOp<"tan", "tangent">;
def Pipe_AsinOp : Pipe_MathUnaryOp<"asin", "arc sine">;
def Pipe_AcosOp : Pipe_MathUnaryOp<"acos", "arc cosine">;
def Pipe_AtanOp : Pipe_MathUnaryOp<"atan", "arc tangent">;
def Pipe_SinhOp : Pipe_MathUnaryOp<"sinh", "hyperbolic sine">;
def Pipe_CoshOp : Pipe_MathUnaryOp<"cosh", "hyperbolic cosine">;
def Pipe_TanhOp : Pipe_MathUnaryOp<"tanh", "hyperbolic tangent">;
def Pipe_AsinhOp : Pipe_MathUnaryOp<"asinh", "inverse hyperbolic sine">;
def Pipe_AcoshOp : Pipe_MathUnaryOp<"acosh", "inverse hyperbolic cosine">;
def Pipe_AtanhOp : Pipe_MathUnaryOp<"atanh", "inverse hyperbolic tangent">;
def Pipe_ErfOp : Pipe_MathUnaryOp<"erf", "Gauss error function">;
def Pipe_SigmoidOp : Pipe_MathUnaryOp<"sigmoid", "1 / (1 + e^-x), without overflow">;
def Pipe_SiluOp : Pipe_MathUnaryOp<"silu", "x * sigmoid(x)">;
def Pipe_SoftplusOp : Pipe_MathUnaryOp<"softplus", "log(1 + e^x), without overflow">;

def Pipe_GeluOp : Pipe_UnaryOp<"gelu", Pipe_FloatTensor, [Pipe_OwnCost]> {
  let summary = "x * Phi(x), exact by erf or approximated by tanh as ATen's gelu does";
  let arguments = (ins Pipe_FloatTensor:$operand, DefaultValuedAttr<BoolAttr, "false">:$tanh_approximation);
}

class Pipe_PredicateOp<string mnemonic, string what> : Pipe_TensorOp<mnemonic, [Pipe_CostInterface]> {
  let summary = what;
  let arguments = (ins Pipe_FloatTensor:$operand);
  let results = (outs Pipe_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}
def Pipe_IsNanOp : Pipe_PredicateOp<"is_nan", "whether an element is NaN">;
def Pipe_IsInfOp : Pipe_PredicateOp<"is_inf", "whether an element is infinite, of the signs asked for"> {
  let arguments = (ins Pipe_FloatTensor:$operand, DefaultValuedAttr<BoolAttr, "true">:$detect_positive,
    DefaultValuedAttr<BoolAttr, "true">:$detect_negative);
}

def Pipe_ConvertOp : Pipe_Op<"convert", [Pure, Pipe_CostInterface]> {
  let summary = "conversion to another element type";
  let description = [{
    Between floats: round to nearest even, out of range becomes infinite. Float to integer: toward
    zero, as a C cast; a value out of range (or NaN) is converted through i64 with saturation and then
    truncated. Integer to integer: wraps. To bool: whether it differs from 0 (NaN is true). From bool: 0 or 1.

    Example: `%1 = pipe.convert %0 : (tensor<2xi64>) -> tensor<2xf32>`
  }];
  let arguments = (ins Pipe_Tensor:$operand);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

// ---- binary ------------------------------------------------------------------------------------

class Pipe_BinaryOp<string mnemonic, Type operandType, string what, list<Trait> traits = [Pipe_CostInterface]>
    : Pipe_TensorOp<mnemonic, traits> {
  let summary = what;
  let arguments = (ins operandType:$lhs, operandType:$rhs);
  let results = (outs operandType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Pipe_AddOp : Pipe_BinaryOp<"add", Pipe_NumTensor, "sum; integers wrap"> {
  let hasFolder = 1;
}
def Pipe_SubOp : Pipe_BinaryOp<"sub", Pipe_NumTensor, "difference; integers wrap"> {
  let hasFolder = 1;
}
def Pipe_MulOp : Pipe_BinaryOp<"mul", Pipe_NumTensor, "product; integers wrap"> {
  let hasFolder = 1;
}
def Pipe_DivOp : Pipe_BinaryOp<"div", Pipe_NumTensor, "quotient; integers toward zero, by 0 gives 0"> {
  let hasFolder = 1;
}
class Pipe_ExtremeOp<string mnemonic, string what> : Pipe_BinaryOp<mnemonic, Pipe_NumTensor, what> {
  let description = [{
    Of two equal operands each gets half of the gradient. With `bound`, rhs is a bound that lhs is cut off at (clamp): lhs
    gets a gradient only where it lies strictly inside.
  }];
  let arguments = (ins Pipe_NumTensor:$lhs, Pipe_NumTensor:$rhs, UnitAttr:$bound);
  let hasFolder = 1;
}
def Pipe_MaximumOp : Pipe_ExtremeOp<"maximum", "the larger; a NaN on either side wins">;
def Pipe_MinimumOp : Pipe_ExtremeOp<"minimum", "the smaller; a NaN on either side wins">;
def Pipe_PowOp : Pipe_BinaryOp<"pow", Pipe_NumTensor, "lhs to the power rhs; integers wrap, negative exponents give 0 unless the base is 1 or -1",
    [Pipe_OwnCost]> {
  let description = "`flat_at_zero`: the base gets no gradient where the result is 0 (the root of a norm).";
  let arguments = (ins Pipe_NumTensor:$lhs, Pipe_NumTensor:$rhs, UnitAttr:$flat_at_zero);
}
def Pipe_Atan2Op : Pipe_BinaryOp<"atan2", Pipe_FloatTensor, "angle of the point (rhs, lhs)",
    [Pipe_OwnCost]>;
def Pipe_AndOp : Pipe_BinaryOp<"and", Pipe_BoolTensor, "logical and"> {
  let hasFolder = 1;
}
def Pipe_OrOp : Pipe_BinaryOp<"or", Pipe_BoolTensor, "logical or"> {
  let hasFolder = 1;
}
def Pipe_XorOp : Pipe_BinaryOp<"xor", Pipe_BoolTensor, "logical exclusive or">;
def Pipe_BitwiseAndOp : Pipe_BinaryOp<"bitwise_and", Pipe_IntTensor, "and of every bit"> {
  let hasFolder = 1;
}
def Pipe_BitwiseOrOp : Pipe_BinaryOp<"bitwise_or", Pipe_IntTensor, "or of every bit"> {
  let hasFolder = 1;
}
def Pipe_BitwiseXorOp : Pipe_BinaryOp<"bitwise_xor", Pipe_IntTensor, "exclusive or of every bit">;
def Pipe_ShiftLeftOp : Pipe_BinaryOp<"shift_left", Pipe_IntTensor, "shift towards the high bits; by the width or more gives 0">;
def Pipe_ShiftRightOp : Pipe_BinaryOp<"shift_right", Pipe_IntTensor, "shift towards the low bits, arithmetic where signed; by the width or more gives 0 or -1">;

def Pipe_RemainderOp : Pipe_BinaryOp<"remainder", Pipe_NumTensor, "remainder of lhs / rhs: `trunc` has the sign of lhs (C's fmod), `floor` of rhs (Python's %); integers by 0 give 0"> {
  let arguments = (ins Pipe_NumTensor:$lhs, Pipe_NumTensor:$rhs, Pipe_RemainderKindAttr:$kind);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Pipe_CompareOp : Pipe_TensorOp<"compare", [Pipe_CostInterface]> {
  let summary = "elementwise comparison; with a NaN only `ne` holds";
  let arguments = (ins Pipe_CompareKindAttr:$kind, Pipe_Tensor:$lhs, Pipe_Tensor:$rhs);
  let results = (outs Pipe_BoolTensor:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Pipe_SelectOp : Pipe_TensorOp<"select", [Pipe_CostInterface]> {
  let hasFolder = 1;
  let summary = "on_true where the condition holds, else on_false; all three broadcast";
  let arguments = (ins Pipe_BoolTensor:$condition, Pipe_Tensor:$on_true, Pipe_Tensor:$on_false);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` functional-type(operands, results)";
}

#endif

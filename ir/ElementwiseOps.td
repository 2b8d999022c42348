// Elementwise ops. Binary and ternary ones broadcast their operands as NumPy
// and ATen do: shapes are aligned at the right, a dimension of 1 stretches.
#ifndef PIPEC_IR_ELEMENTWISEOPS_TD
#define PIPEC_IR_ELEMENTWISEOPS_TD

include "ir/PipeOpBase.td"

// Every description ends in an example, which test/docs runs. Of ops that differ in a word, a class writes it.
class Pipe_ElementwiseExample<string op, string lhs, string rest, string result> {
  string text = "\n\n```mlir\n%r = pipe." # op # " %x" # !if(!empty(rest), "", ", %y") # " : (tensor<2x3x" # lhs # ">"
    # !if(!empty(rest), "", ", tensor<" # rest # ">") # ") -> tensor<2x3x" # result # ">\n```\n";
}

// ---- unary: result type is the operand's --------------------------------------------------------

class Pipe_UnaryOp<string mnemonic, Type operandType, list<Trait> traits>
    : Pipe_TensorOp<mnemonic, traits> {
  let arguments = (ins operandType:$operand);
  let results = (outs operandType:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}
// One flop an element.
class Pipe_SimpleUnaryOp<string mnemonic, Type operandType, string what, string text, string element = "f32">
    : Pipe_UnaryOp<mnemonic, operandType, [Pipe_CostInterface]> {
  let summary = what;
  let description = text # Pipe_ElementwiseExample<mnemonic, element, "", element>.text;
}
// kTranscendentalFlops an element.
class Pipe_MathUnaryOp<string mnemonic, string what, string text>
    : Pipe_UnaryOp<mnemonic, Pipe_FloatTensor, [Pipe_OwnCost]> {
  let summary = what;
  let description = text # " Each element is computed alone, in f32 (in f64 for f64), and rounded once to the element type. "
    # "The result is the C library's, which need not be the nearest number." # Pipe_ElementwiseExample<mnemonic, "f32", "", "f32">.text;
}

def Pipe_AbsOp : Pipe_SimpleUnaryOp<"abs", Pipe_NumTensor, "absolute value; the least integer stays itself",
    "ATen `abs`, ONNX Abs. NaN stays NaN. The least integer of a signed type has no positive counterpart and stays itself."> {
  let hasFolder = 1;
}
def Pipe_NegOp : Pipe_SimpleUnaryOp<"neg", Pipe_NumTensor, "negation; integers wrap",
    "ATen `neg`, ONNX Neg. Of floats the sign bit is turned, so -0 comes of 0. Integers wrap: the least one of a signed type stays itself."> {
  let hasFolder = 1;
}
def Pipe_SignOp : Pipe_SimpleUnaryOp<"sign", Pipe_NumTensor, "-1, 0 or 1; NaN stays NaN",
    "ONNX Sign. The result is 0 for 0 and -0. ATen's `sign` differs in NaN alone, of which it makes 0. The derivative is 0."> {
  let hasFolder = 1;
}
def Pipe_ReluOp : Pipe_SimpleUnaryOp<"relu", Pipe_NumTensor, "max(x, 0); NaN stays NaN",
    "ATen `relu`, ONNX Relu. -0 stays -0. The gradient passes where x is above 0 or NaN, and not at 0, as in ATen."> {
  let hasFolder = 1;
}
def Pipe_FloorOp : Pipe_SimpleUnaryOp<"floor", Pipe_FloatTensor, "largest integer not above",
    "ATen `floor`, ONNX Floor. Infinities and NaN stay what they are. The derivative is 0."> {
  let hasFolder = 1;
}
def Pipe_CeilOp : Pipe_SimpleUnaryOp<"ceil", Pipe_FloatTensor, "smallest integer not below",
    "ATen `ceil`, ONNX Ceil. Infinities and NaN stay what they are. The derivative is 0."> {
  let hasFolder = 1;
}
def Pipe_RoundOp : Pipe_SimpleUnaryOp<"round", Pipe_FloatTensor, "nearest integer, halves to even",
    "ATen `round`, ONNX Round. 0.5 gives 0, 1.5 and 2.5 give 2. Infinities and NaN stay what they are. The derivative is 0."> {
  let hasFolder = 1;
}
def Pipe_SqrtOp : Pipe_SimpleUnaryOp<"sqrt", Pipe_FloatTensor, "square root, correctly rounded", ""> {
  let description = [{
    ATen `sqrt`, ONNX Sqrt. Of a number below 0 it is NaN. It is computed in f32 (in f64 for f64) and rounded once to the element type.

    `flat_at_zero`: its derivative is 0 where the result is 0 (the root of a norm), not infinite.

    ```mlir
    %r = pipe.sqrt %x {flat_at_zero} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$operand, UnitAttr:$flat_at_zero);
}
def Pipe_ReciprocalOp : Pipe_SimpleUnaryOp<"reciprocal", Pipe_FloatTensor, "1 / x, correctly rounded",
    "ATen `reciprocal`, ONNX Reciprocal. 0 gives infinity with the sign of the 0. It is computed in f32 (in f64 for f64) and rounded once to the element type.">;
def Pipe_RsqrtOp : Pipe_SimpleUnaryOp<"rsqrt", Pipe_FloatTensor, "1 / sqrt(x), each step rounded",
    "ATen `rsqrt`. The root is rounded, then the quotient, in f32 (in f64 for f64); the result is rounded once to the element type. 0 gives infinity, a number below 0 NaN.">;
def Pipe_NotOp : Pipe_SimpleUnaryOp<"not", Pipe_BoolTensor, "logical negation",
    "ATen `logical_not` of booleans, ONNX Not. The result is true where the operand is false.", "i1"> {
  let hasFolder = 1;
}
def Pipe_BitwiseNotOp : Pipe_SimpleUnaryOp<"bitwise_not", Pipe_IntTensor, "complement of every bit",
    "ATen `bitwise_not` of integers, ONNX BitwiseNot. Of a signed x the result is -x - 1.", "i32"> {
  let hasFolder = 1;
}

def Pipe_ExpOp : Pipe_MathUnaryOp<"exp", "e^x", "ATen `exp`, ONNX Exp. It is infinite where the result is too large for the type.">;
def Pipe_Expm1Op : Pipe_MathUnaryOp<"expm1", "e^x - 1, exact near 0", "ATen `expm1`. Near 0 no digits are lost, as they are in `exp` and `sub`.">;
def Pipe_LogOp : Pipe_MathUnaryOp<"log", "natural logarithm", "ATen `log`, ONNX Log. 0 gives -infinity, a number below 0 NaN.">;
def Pipe_Log1pOp : Pipe_MathUnaryOp<"log1p", "log(1 + x), exact near 0", "ATen `log1p`. Near 0 no digits are lost. -1 gives -infinity, a number below it NaN.">;
def Pipe_SinOp : Pipe_MathUnaryOp<"sin", "sine", "ATen `sin`, ONNX Sin, of radians. An infinity gives NaN.">;
def Pipe_CosOp : Pipe_MathUnaryOp<"cos", "cosine", "ATen `cos`, ONNX Cos, of radians. An infinity gives NaN.">;
def Pipe_TanOp : Pipe_MathUnaryOp<"tan", "tangent", "ATen `tan`, ONNX Tan, of radians. An infinity gives NaN.">;
def Pipe_AsinOp : Pipe_MathUnaryOp<"asin", "arc sine", "ATen `asin`, ONNX Asin, in radians. Outside of [-1, 1] it is NaN.">;
def Pipe_AcosOp : Pipe_MathUnaryOp<"acos", "arc cosine", "ATen `acos`, ONNX Acos, in radians. Outside of [-1, 1] it is NaN.">;
def Pipe_AtanOp : Pipe_MathUnaryOp<"atan", "arc tangent", "ATen `atan`, ONNX Atan, in radians from -pi/2 to pi/2.">;
def Pipe_SinhOp : Pipe_MathUnaryOp<"sinh", "hyperbolic sine", "ATen `sinh`, ONNX Sinh.">;
def Pipe_CoshOp : Pipe_MathUnaryOp<"cosh", "hyperbolic cosine", "ATen `cosh`, ONNX Cosh.">;
def Pipe_TanhOp : Pipe_MathUnaryOp<"tanh", "hyperbolic tangent", "ATen `tanh`, ONNX Tanh. Infinities give -1 and 1.">;
def Pipe_AsinhOp : Pipe_MathUnaryOp<"asinh", "inverse hyperbolic sine", "ATen `asinh`, ONNX Asinh.">;
def Pipe_AcoshOp : Pipe_MathUnaryOp<"acosh", "inverse hyperbolic cosine", "ATen `acosh`, ONNX Acosh. Below 1 it is NaN.">;
def Pipe_AtanhOp : Pipe_MathUnaryOp<"atanh", "inverse hyperbolic tangent", "ATen `atanh`, ONNX Atanh. -1 and 1 give infinities, a number outside of them NaN.">;
def Pipe_ErfOp : Pipe_MathUnaryOp<"erf", "Gauss error function", "ATen `erf`, ONNX Erf.">;
def Pipe_SigmoidOp : Pipe_MathUnaryOp<"sigmoid", "1 / (1 + e^-x), without overflow",
    "ATen `sigmoid`, ONNX Sigmoid. With e = exp(-|x|) it is 1 / (1 + e), or e / (1 + e) where x is below 0, so nothing overflows.">;
def Pipe_SiluOp : Pipe_MathUnaryOp<"silu", "x * sigmoid(x)", "ATen `silu`. The factor is computed as `sigmoid` does. -infinity gives NaN.">;
def Pipe_SoftplusOp : Pipe_MathUnaryOp<"softplus", "log(1 + e^x), without overflow",
    "ONNX Softplus, and ATen `softplus` with beta 1 but for its threshold. It is max(x, 0) + log1p(exp(-|x|)), so nothing overflows.">;

def Pipe_GeluOp : Pipe_UnaryOp<"gelu", Pipe_FloatTensor, [Pipe_OwnCost]> {
  let summary = "x * Phi(x), exact by erf or approximated by tanh as ATen's gelu does";
  let description = [{
    ATen `gelu`, ONNX Gelu. Without `tanh_approximation` it is 0.5 x (1 + erf(x / sqrt(2))); with it,
    0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). Each step is computed in f32 (in f64 for f64); the result is rounded once to the element type.

    ```mlir
    %r = pipe.gelu %x {tanh_approximation = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$operand, DefaultValuedAttr<BoolAttr, "false">:$tanh_approximation);
}

class Pipe_PredicateOp<string mnemonic, string what> : Pipe_TensorOp<mnemonic, [Pipe_CostInterface]> {
  let summary = what;
  let arguments = (ins Pipe_FloatTensor:$operand);
  let results = (outs Pipe_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}
def Pipe_IsNanOp : Pipe_PredicateOp<"is_nan", "whether an element is NaN"> {
  let description = "ATen `isnan`, ONNX IsNaN. Infinities are no NaN. The result has the operand's shape." # Pipe_ElementwiseExample<"is_nan", "f32", "", "i1">.text;
}
def Pipe_IsInfOp : Pipe_PredicateOp<"is_inf", "whether an element is infinite, of the signs asked for"> {
  let description = [{
    ONNX IsInf; with both signs, as without attributes, ATen `isinf`. With `detect_positive = false` infinity does not count, with
    `detect_negative = false` -infinity does not.

    ```mlir
    %r = pipe.is_inf %x {detect_negative = false} : (tensor<2x3xf32>) -> tensor<2x3xi1>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$operand, DefaultValuedAttr<BoolAttr, "true">:$detect_positive,
    DefaultValuedAttr<BoolAttr, "true">:$detect_negative);
}

def Pipe_ConvertOp : Pipe_Op<"convert", [Pure, Pipe_CostInterface]> {
  let summary = "conversion to another element type";
  let description = [{
    ATen `to` with a dtype, ONNX Cast. The shape stays. Between floats: round to nearest even, out of range becomes infinite. Float to integer: toward
    zero, as a C cast; a value out of range (or NaN) is converted through i64 with saturation and then
    truncated. Integer to float: rounds once. Integer to integer: wraps. To bool: whether it differs from 0 (NaN is true). From bool: 0 or 1.

    ```mlir
    %r = pipe.convert %x : (tensor<2xi64>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Pipe_Tensor:$operand);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

// ---- binary ------------------------------------------------------------------------------------

class Pipe_BinaryOp<string mnemonic, Type operandType, string what, string text, string element = "f32", list<Trait> traits = [Pipe_CostInterface]>
    : Pipe_TensorOp<mnemonic, traits> {
  let summary = what;
  let description = text # " The operands have one element type and broadcast."
    # Pipe_ElementwiseExample<mnemonic, element, "3x" # element, element>.text;
  let arguments = (ins operandType:$lhs, operandType:$rhs);
  let results = (outs operandType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Pipe_AddOp : Pipe_BinaryOp<"add", Pipe_NumTensor, "sum; integers wrap",
    "ATen `add` with alpha 1, ONNX Add. Floats round once. Integers wrap."> {
  let hasFolder = 1;
}
def Pipe_SubOp : Pipe_BinaryOp<"sub", Pipe_NumTensor, "difference; integers wrap",
    "ATen `sub` with alpha 1, ONNX Sub. Floats round once. Integers wrap."> {
  let hasFolder = 1;
}
def Pipe_MulOp : Pipe_BinaryOp<"mul", Pipe_NumTensor, "product; integers wrap",
    "ATen `mul`, ONNX Mul. Floats round once. Integers wrap."> {
  let hasFolder = 1;
}
def Pipe_DivOp : Pipe_BinaryOp<"div", Pipe_NumTensor, "quotient; integers toward zero, by 0 gives 0",
    "ONNX Div; of floats ATen `div`. Floats round once. Integers are rounded toward zero, and by 0 they give 0, where ONNX leaves it open."> {
  let hasFolder = 1;
}
class Pipe_ExtremeOp<string mnemonic, string what, string namesakes> : Pipe_BinaryOp<mnemonic, Pipe_NumTensor, what, ""> {
  let description = namesakes # [{ of two operands. The operands have one element type and broadcast.

Of two equal operands each gets half of the gradient. With `bound`, rhs is a bound that lhs is cut off at (clamp): lhs
gets a gradient only where it lies strictly inside.

```mlir
%r = pipe.}] # mnemonic # [{ %x, %y {bound} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
```
}];
  let arguments = (ins Pipe_NumTensor:$lhs, Pipe_NumTensor:$rhs, UnitAttr:$bound);
  let hasFolder = 1;
}
def Pipe_MaximumOp : Pipe_ExtremeOp<"maximum", "the larger; a NaN on either side wins", "ATen `maximum`, ONNX Max">;
def Pipe_MinimumOp : Pipe_ExtremeOp<"minimum", "the smaller; a NaN on either side wins", "ATen `minimum`, ONNX Min">;
def Pipe_PowOp : Pipe_BinaryOp<"pow", Pipe_NumTensor, "lhs to the power rhs; integers wrap, negative exponents give 0 unless the base is 1 or -1", "",
    "f32", [Pipe_OwnCost]> {
  let description = [{
    ATen `pow`, ONNX Pow. Floats are computed by the C library's `pow` in f32 (in f64 for f64) and rounded once to the element type, so anything to the power 0
    is 1. The operands have one element type and broadcast.

    `flat_at_zero`: the base gets no gradient where the result is 0 (the root of a norm).

    ```mlir
    %r = pipe.pow %x, %y {flat_at_zero} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Pipe_NumTensor:$lhs, Pipe_NumTensor:$rhs, UnitAttr:$flat_at_zero);
}
def Pipe_Atan2Op : Pipe_BinaryOp<"atan2", Pipe_FloatTensor, "angle of the point (rhs, lhs)",
    "ATen `atan2`, in radians from -pi to pi. The result is the C library's `atan2` in f32 (in f64 for f64), rounded once to the element type.",
    "f32", [Pipe_OwnCost]>;
def Pipe_AndOp : Pipe_BinaryOp<"and", Pipe_BoolTensor, "logical and", "ATen `logical_and` of booleans, ONNX And.", "i1"> {
  let hasFolder = 1;
}
def Pipe_OrOp : Pipe_BinaryOp<"or", Pipe_BoolTensor, "logical or", "ATen `logical_or` of booleans, ONNX Or.", "i1"> {
  let hasFolder = 1;
}
def Pipe_XorOp : Pipe_BinaryOp<"xor", Pipe_BoolTensor, "logical exclusive or", "ATen `logical_xor` of booleans, ONNX Xor.", "i1">;
def Pipe_BitwiseAndOp : Pipe_BinaryOp<"bitwise_and", Pipe_IntTensor, "and of every bit", "ATen `bitwise_and` of integers, ONNX BitwiseAnd.", "i32"> {
  let hasFolder = 1;
}
def Pipe_BitwiseOrOp : Pipe_BinaryOp<"bitwise_or", Pipe_IntTensor, "or of every bit", "ATen `bitwise_or` of integers, ONNX BitwiseOr.", "i32"> {
  let hasFolder = 1;
}
def Pipe_BitwiseXorOp : Pipe_BinaryOp<"bitwise_xor", Pipe_IntTensor, "exclusive or of every bit", "ATen `bitwise_xor` of integers, ONNX BitwiseXor.", "i32">;
def Pipe_ShiftLeftOp : Pipe_BinaryOp<"shift_left", Pipe_IntTensor, "shift towards the high bits; by the width or more gives 0",
    "ATen `bitwise_left_shift`, ONNX BitShift LEFT. rhs is the number of places; a negative one counts as more than the width.", "i32">;
def Pipe_ShiftRightOp : Pipe_BinaryOp<"shift_right", Pipe_IntTensor, "shift towards the low bits, arithmetic where signed; by the width or more gives 0 or -1",
    "ATen `bitwise_right_shift`, ONNX BitShift RIGHT. rhs is the number of places; a negative one counts as more than the width.", "i32">;

def Pipe_RemainderOp : Pipe_BinaryOp<"remainder", Pipe_NumTensor,
    "remainder of lhs / rhs: `trunc` has the sign of lhs (C's fmod), `floor` of rhs (Python's %); integers by 0 give 0", ""> {
  let description = [{
    `trunc` is ATen `fmod` and ONNX Mod with fmod = 1; `floor` is ATen `remainder` and ONNX Mod of integers. Of floats the remainder `trunc` is exact, and by 0 it is NaN. Of `floor`
    a remainder of 0 has the sign of rhs. The operands have one element type and broadcast.

    ```mlir
    %r = pipe.remainder floor %x, %y : (tensor<2x3xi64>, tensor<i64>) -> tensor<2x3xi64>
    ```
  }];
  let arguments = (ins Pipe_NumTensor:$lhs, Pipe_NumTensor:$rhs, Pipe_RemainderKindAttr:$kind);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Pipe_CompareOp : Pipe_TensorOp<"compare", [Pipe_CostInterface]> {
  let summary = "elementwise comparison; with a NaN only `ne` holds";
  let description = [{
    ATen `eq`, `ne`, `lt`, `le`, `gt` and `ge`, ONNX Equal, Less, LessOrEqual, Greater and GreaterOrEqual. The operands have one element type, which
    may be bool (false is below true), and broadcast. 0 and -0 are equal.

    ```mlir
    %r = pipe.compare lt %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    ```
  }];
  let arguments = (ins Pipe_CompareKindAttr:$kind, Pipe_Tensor:$lhs, Pipe_Tensor:$rhs);
  let results = (outs Pipe_BoolTensor:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Pipe_SelectOp : Pipe_TensorOp<"select", [Pipe_CostInterface]> {
  let hasFolder = 1;
  let summary = "on_true where the condition holds, else on_false; all three broadcast";
  let description = [{
    ATen `where`, ONNX Where. `on_true` and `on_false` have one element type. An element that is not taken has no effect, also where it is NaN, and gets a
    gradient of 0.

    ```mlir
    %r = pipe.select %c, %x, %y : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Pipe_BoolTensor:$condition, Pipe_Tensor:$on_true, Pipe_Tensor:$on_false);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` functional-type(operands, results)";
}

#endif

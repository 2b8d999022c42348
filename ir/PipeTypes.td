// Operand and result type constraints of the `pipe` dialect (PIPE-I1).
#ifndef PIPEC_IR_PIPETYPES_TD
#define PIPEC_IR_PIPETYPES_TD

include "ir/PipeDialect.td"

def Pipe_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
def Pipe_Int : AnyTypeOf<[I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;
def Pipe_Bool : TypeAlias<I1, "bool">;

def Pipe_Tensor : StaticShapeTensorOf<[Pipe_Bool, Pipe_Int, Pipe_Float]>;
def Pipe_NumTensor : StaticShapeTensorOf<[Pipe_Int, Pipe_Float]>;
def Pipe_FloatTensor : StaticShapeTensorOf<[Pipe_Float]>;
def Pipe_IntTensor : StaticShapeTensorOf<[Pipe_Int]>;
def Pipe_BoolTensor : StaticShapeTensorOf<[Pipe_Bool]>;
def Pipe_IndexTensor : StaticShapeTensorOf<[I32, I64]>;

#endif

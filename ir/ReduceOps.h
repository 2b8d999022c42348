// Reductions, running combinations and extremes: see ir/ReduceOps.td.
#ifndef PIPEC_IR_REDUCEOPS_H
#define PIPEC_IR_REDUCEOPS_H

#include "ir/InferredTypes.h"
#include "ir/PipeDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "ir/ReduceOps.h.inc"

#endif // PIPEC_IR_REDUCEOPS_H

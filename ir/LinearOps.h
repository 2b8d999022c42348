// Matrix products, convolutions and pooling: see ir/LinearOps.td.
#ifndef PIPEC_IR_LINEAROPS_H
#define PIPEC_IR_LINEAROPS_H

#include "ir/InferredTypes.h"
#include "ir/PipeDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "ir/LinearOps.h.inc"

#endif // PIPEC_IR_LINEAROPS_H

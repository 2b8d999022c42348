// Gather, scatter and resize: see ir/IndexOps.td.
#ifndef PIPEC_IR_INDEXOPS_H
#define PIPEC_IR_INDEXOPS_H

#include "ir/InferredTypes.h"
#include "ir/PipeDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "ir/IndexOps.h.inc"

#endif // PIPEC_IR_INDEXOPS_H

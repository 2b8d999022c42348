// Normalisations, softmax, attention, dropout: see ir/NormOps.td.
#ifndef PIPEC_IR_NORMOPS_H
#define PIPEC_IR_NORMOPS_H

#include "ir/InferredTypes.h"
#include "ir/PipeDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "ir/NormOps.h.inc"

#endif // PIPEC_IR_NORMOPS_H

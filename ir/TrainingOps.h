// Losses and derivatives that are ops: see ir/TrainingOps.td.
#ifndef PIPEC_IR_TRAININGOPS_H
#define PIPEC_IR_TRAININGOPS_H

#include "ir/InferredTypes.h"
#include "ir/PipeDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "ir/TrainingOps.h.inc"

#endif // PIPEC_IR_TRAININGOPS_H

// Literals and data movement: see ir/ShapeOps.td.
#ifndef PIPEC_IR_SHAPEOPS_H
#define PIPEC_IR_SHAPEOPS_H

#include "ir/InferredTypes.h"
#include "ir/PipeDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "ir/ShapeOps.h.inc"

#endif // PIPEC_IR_SHAPEOPS_H

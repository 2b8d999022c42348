// The frame around tensor ops - graph, weights, stages, transfers: see
// ir/PipelineOps.td.
#ifndef PIPEC_IR_PIPELINEOPS_H
#define PIPEC_IR_PIPELINEOPS_H

#include "ir/PipeDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "ir/PipelineOps.h.inc"

#endif // PIPEC_IR_PIPELINEOPS_H

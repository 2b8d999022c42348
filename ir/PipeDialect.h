// The dialect, its enumerations, attributes and interfaces. For the ops
// themselves include ir/PipeOps.h, or ir/<Kind>Ops.h for one kind.
#ifndef PIPEC_IR_PIPEDIALECT_H
#define PIPEC_IR_PIPEDIALECT_H

#include "ir/ConstantPool.h"
#include "ir/Cost.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include <memory>

#include "ir/PipeDialect.h.inc"
#include "ir/PipeEnums.h.inc"
#include "ir/PipeInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/PipeAttrs.h.inc"

#endif // PIPEC_IR_PIPEDIALECT_H

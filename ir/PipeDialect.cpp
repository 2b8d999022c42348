// Registers the dialect's ops and attributes. The definitions of the ops are
// in <Kind>Ops.cpp.
// Tests: test/ir/*-roundtrip.mlir.
#include "ir/PipeDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pipec;
using namespace pipec::pipe;

#include "ir/PipeDialect.cpp.inc"
#include "ir/PipeEnums.cpp.inc"
#include "ir/PipeInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/PipeAttrs.cpp.inc"

PipeDialect::~PipeDialect() = default;

void PipeDialect::initialize() {
  constantPool = std::make_unique<ConstantPool>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/PipeAttrs.cpp.inc"
      >();
  registerElementwiseOps();
  registerReduceOps();
  registerShapeOps();
  registerIndexOps();
  registerLinearOps();
  registerNormOps();
  registerTrainingOps();
  registerPipelineOps();
}

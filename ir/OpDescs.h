// From MLIR ops to the runtime's OpDesc and back to constants: what constant
// folding and the package writer share.
#ifndef PIPEC_IR_OPDESCS_H
#define PIPEC_IR_OPDESCS_H

#include "ir/PipeDialect.h"
#include "runtime/base/op.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace mlir {
class SymbolTable;
}

namespace pipec::pipe {

/// "f32", "i64", "bool" element types to DType and back.
std::optional<DType> toDType(mlir::Type elementType);
mlir::Type fromDType(mlir::MLIRContext *context, DType dtype);
/// Static ranked tensor types only (PIPE-I1).
TensorType toTensorType(mlir::Type type);
mlir::RankedTensorType fromTensorType(mlir::MLIRContext *context,
                                      const TensorType &type);

/// Module path, node, operator, position, file and line from an op's location
/// (PIPE-I4); empty fields where the location has none.
Origin originOf(mlir::Location location);
/// A fused location with a `#pipe.origin`.
mlir::Location makeOriginLocation(mlir::MLIRContext *context,
                                  const Origin &origin);

/// Name, attributes (enums as keywords, operand segments left out) and types of
/// a tensor op. Optional operands: attribute "operands" (a string such as
/// "operand,scale") lists the names of the operands present, for ops that have
/// optional ones (layer_norm, rms_norm, group_norm, attention).
OpDesc describe(mlir::Operation *op);

/// The tensor that a `pipe.constant`, or a `pipe.load_weight` of a pool
/// constant, stands for. Nothing for others.
std::optional<Tensor> constantTensor(mlir::Operation *op);
/// The same for many: `weights` holds the module's declarations, looked up in
/// constant time.
std::optional<Tensor> constantTensor(mlir::Operation *op,
                                     const mlir::SymbolTable &weights);

/// Makes a constant at the builder's place: a `pipe.constant` where PIPE-I5
/// allows, else a pool constant with a `pipe.weight` declaration in the
/// enclosing module and its `pipe.load_weight`.
mlir::Value materializeConstant(mlir::OpBuilder &builder,
                                mlir::Location location, const Tensor &tensor);

/// All operands constant: the results by the reference kernels. Nothing when an
/// operand is not constant, when the kernel fails, when the results exceed
/// `maxBytes`, the operands 64 times or the flops 256 times that number.
std::optional<std::vector<Tensor>> evaluateConstantOp(mlir::Operation *op,
                                                      size_t maxBytes);
/// The same with the operands' values from `lookUp`, which gives nothing for a
/// value that is not constant.
std::optional<std::vector<Tensor>>
evaluateWith(mlir::Operation *op, size_t maxBytes,
             llvm::function_ref<std::optional<Tensor>(mlir::Value)> lookUp);

} // namespace pipec::pipe

#endif

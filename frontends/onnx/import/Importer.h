// The importer's entry: see OnnxModel.h for what it does.
//
// In: an opened Model whose operators are supported, and the table of its
// weights. Out: the module, or the first error. Tests: test/unit/frontends/.
#ifndef PIPEC_FRONTENDS_ONNX_IMPORT_IMPORTER_H
#define PIPEC_FRONTENDS_ONNX_IMPORT_IMPORTER_H

#include "frontends/common/WeightTable.h"
#include "frontends/onnx/metadata/Model.h"

namespace pipec::onnx {

StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext &context, const Model &model,
            const WeightTable &weights, const ImportOptions &options,
            const Notice &notice);

} // namespace pipec::onnx

#endif

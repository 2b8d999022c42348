// MLIR diagnostics as one message for the user.
#ifndef PIPEC_COMPILER_DIAGNOSTICS_H
#define PIPEC_COMPILER_DIAGNOSTICS_H

#include "pipec/status.h"

#include "mlir/IR/Diagnostics.h"

namespace pipec {

/// While alive, collects the errors and notes that `context` emits. Nothing is
/// printed.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);
  /// The first error with its notes and where it arose, or an Internal error
  /// when none was emitted.
  Status status(const std::string &phase) const;

private:
  std::vector<std::string> errors;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace pipec

#endif // PIPEC_COMPILER_DIAGNOSTICS_H

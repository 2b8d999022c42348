// Turns diagnostics of passes and verifiers into a Status, with the model
// file's own names. Tests: test/unit/compiler/CompilerTest.cpp.
#include "compiler/Diagnostics.h"

#include "ir/OpDescs.h"
#include "ir/UserText.h"

namespace pipec {

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext *context)
    : handler(context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
          return mlir::success();
        std::string text = pipe::userText(diagnostic.str());
        std::string origin = pipe::originOf(diagnostic.getLocation()).str();
        if (!origin.empty())
          text = origin + ": " + text;
        for (const mlir::Diagnostic &note : diagnostic.getNotes()) {
          std::string place = pipe::originOf(note.getLocation()).str();
          text += "\n  " + (place.empty() ? "" : place + ": ") +
                  pipe::userText(note.str());
        }
        errors.push_back(std::move(text));
        return mlir::success();
      }) {}

Status DiagnosticCollector::status(const std::string &phase) const {
  if (errors.empty())
    return internalError("the " + phase +
                         " phase failed without a message; please report this "
                         "with the model file");
  return invalidArgument(errors.front());
}

} // namespace pipec

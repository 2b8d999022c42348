// Opens a model file of any format that a frontend reads.
//
// In: a path. Out: an OpenedModel, or what the file is instead. Tests:
// test/unit/frontends/OpenTest.cpp, test/e2e/cli/kinds.test.
#ifndef PIPEC_FRONTENDS_OPENMODEL_H
#define PIPEC_FRONTENDS_OPENMODEL_H

#include "frontends/common/OpenedModel.h"

namespace pipec::frontend {

/// Reads and checks the whole file (not the tensors' bytes). Errors: Io; those
/// of the frontend, which name the file; DataLoss for a file of another kind,
/// with what it is and what to do.
StatusOr<std::unique_ptr<OpenedModel>> openModel(const std::string &path);

/// A kind of model file.
struct Format {
  const char *key;      // "onnx"
  const char *name;     // "ONNX"
  const char *versions; // what its versions are: "opsets"
  int64_t oldest, newest;
};
/// Those that openModel() reads.
std::vector<Format> formats();

} // namespace pipec::frontend

#endif

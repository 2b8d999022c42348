// Picks the frontend of a model file: see OpenModel.h.
//
// An ONNX file has no mark of its own: it is one if it parses. A format with a
// mark (a zip of torch.export or TorchScript) is looked for before that, here.
// Tests: test/unit/frontends/OpenTest.cpp, test/e2e/cli/kinds.test.
#include "frontends/OpenModel.h"

#include "frontends/FileKind.h"
#include "frontends/onnx/file/ModelFile.h"
#include "frontends/onnx/import/OnnxModel.h"

namespace pipec::frontend {

StatusOr<std::unique_ptr<OpenedModel>> openModel(const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(auto file, MappedFile::open(path));
  auto opened = onnx::OnnxModel::open(file);
  if (opened.ok())
    return std::unique_ptr<OpenedModel>(std::move(*opened));
  // What is wrong in an ONNX file is for its frontend to say.
  if (onnx::isOnnx(*file))
    return opened.status();
  const std::string other = describeOtherFile(file->data(), file->size());
  if (other.empty())
    return opened.status();
  return dataLoss("no ONNX file: it is " + other).withPrefix(path);
}

std::vector<Format> formats() {
  return {{"onnx", "ONNX", "opsets", onnx::kOldestOpset, onnx::kNewestOpset}};
}

} // namespace pipec::frontend

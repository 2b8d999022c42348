// A model file after opening: checked, with every tensor located and every
// node's origin known.
//
// In: an .onnx file. Out: Model, which the importer walks once per microbatch
// size. Immutable after openModel. Tests: test/unit/frontends/.
#ifndef PIPEC_FRONTENDS_ONNX_METADATA_MODEL_H
#define PIPEC_FRONTENDS_ONNX_METADATA_MODEL_H

#include "frontends/onnx/file/ModelFile.h"
#include "frontends/onnx/metadata/Metadata.h"

namespace pipec::onnx {

struct Model : ModelFile {
  std::vector<FxCall> calls; // of each node
  GraphSignature signature;
  std::map<std::string, std::vector<std::string>>
      folded; // see readFoldedValues
};

/// Parses and checks. Errors name the file and the node, tensor or value.
StatusOr<std::unique_ptr<Model>> openModel(const std::string &path);
/// The same for bytes in memory (fuzzing): no external data is reachable but
/// below `path`'s folder.
StatusOr<std::unique_ptr<Model>>
openModel(std::shared_ptr<const MappedFile> file);

/// Gives linear layers and convolutions their biases back which the exporter's
/// optimizer removed because they are zero; called by openModel. Errors:
/// ResourceExhausted.
Status restoreRemovedBiases(Model &model);

} // namespace pipec::onnx

#endif

// A model file after opening: checked, with every tensor located and every
// node's origin known.
//
// In: an .onnx file. Out: Model, which the importer walks once per microbatch
// size. Immutable after openModel. Tests: test/unit/frontends/.
#ifndef PIPEC_FRONTENDS_ONNX_METADATA_MODEL_H
#define PIPEC_FRONTENDS_ONNX_METADATA_MODEL_H

#include "frontends/common/OpenedModel.h"
#include "frontends/common/TensorSource.h"
#include "frontends/onnx/metadata/Metadata.h"
#include "runtime/base/op.h"

namespace pipec::onnx {

constexpr int64_t kOldestOpset = 13, kNewestOpset = 28;

/// No tensor of a safetensors file can have this name.
constexpr const char *kReservedName = "__metadata__";

struct Initializer {
  std::string name;
  TensorSource source;
};

struct Model {
  std::string path;
  ::onnx::ModelProto proto;
  int64_t opset = 0;
  ModelInterface interface;
  std::vector<Initializer>
      initializers; // file order, then those made by `aliasNodes` and
                    // restoreRemovedBiases
  std::map<std::string, int> initializerByName;
  std::map<std::pair<int, int>, TensorSource>
      attributeTensors;        // (node, attribute)
  std::vector<Origin> origins; // of each node
  std::vector<FxCall> calls;   // of each node
  GraphSignature signature;
  std::map<std::string, std::vector<std::string>>
      folded; // see readFoldedValues
  /// Identity nodes by which an exporter gave an initializer a second name: no
  /// ops, the second name is an initializer.
  std::vector<bool> aliasNode;
  /// The file's nodes were not in topological order; here they are.
  bool reordered = false;

  const ::onnx::GraphProto &graph() const { return proto.graph(); }
  /// Whether PyTorch wrote the file: its conventions hold.
  bool isFromPyTorch() const { return proto.producer_name() == "pytorch"; }
  /// "model.onnx: node 'node_relu' (Relu, fc, net.py:3)".
  std::string where(int node) const;
};

/// Parses and checks. Errors name the file and the node, tensor or value.
StatusOr<std::unique_ptr<Model>> openModel(const std::string &path);
/// The same for bytes in memory (fuzzing): no external data is reachable but
/// below `path`'s folder.
StatusOr<std::unique_ptr<Model>>
openModel(std::shared_ptr<const MappedFile> file);

/// Puts the nodes in topological order. Each new position's place in the file;
/// empty where nothing had to move, and where a cycle leaves no order.
std::vector<int> sortNodes(::onnx::GraphProto &graph);
/// Gives linear layers and convolutions their biases back which the exporter's
/// optimizer removed because they are zero. Errors: ResourceExhausted.
Status restoreRemovedBiases(Model &model);

/// Opset, IR version, features pipec refuses. Called by openModel; so are the
/// others below.
Status checkVersions(const Model &model);
/// Names are unique, values are defined before use, outputs exist.
Status checkGraph(const Model &model);
/// Graph inputs and outputs as declared.
StatusOr<ModelInterface> readInterface(const Model &model);

} // namespace pipec::onnx

#endif

// An ONNX file as it lies: the message, its nodes in topological order, and
// where each tensor's bytes are.
//
// In: the mapped file. Out: a ModelFile. What exporters wrote beside the graph
// is read by frontends/onnx/metadata, which opens files by the steps below.
// Tests: test/unit/frontends/OpenTest.cpp, NodeOrderTest.cpp.
#ifndef PIPEC_FRONTENDS_ONNX_FILE_MODELFILE_H
#define PIPEC_FRONTENDS_ONNX_FILE_MODELFILE_H

#include "frontends/common/OpenedModel.h"
#include "frontends/common/Text.h"
#include "frontends/onnx/file/TensorFiles.h"
#include "runtime/base/op.h"

namespace pipec::onnx {

constexpr int64_t kOldestOpset = 13, kNewestOpset = 28;

/// No tensor of a safetensors file can have this name.
constexpr const char *kReservedName = "__metadata__";

using Initializer = NamedTensor;

struct ModelFile {
  std::string path;
  ::onnx::ModelProto proto;
  int64_t opset = 0;
  ModelInterface interface;
  NamedTensors initializers; // file order, then those made by `aliasNode` and
                             // restoreRemovedBiases
  std::map<std::string, int> initializerByName;
  std::map<std::pair<int, int>, TensorSource>
      attributeTensors; // (node, attribute)
  /// Of each node, without a number: the walk that makes the graph counts.
  std::vector<Origin> origins;
  /// Identity nodes by which an exporter gave an initializer a second name: no
  /// ops, the second name is an initializer.
  std::vector<bool> aliasNode;
  /// The file's nodes were not in topological order; here they are.
  bool reordered = false;

  const ::onnx::GraphProto &graph() const { return proto.graph(); }
  /// Whether PyTorch wrote the file: its conventions hold.
  bool isFromPyTorch() const { return proto.producer_name() == "pytorch"; }
  /// "model.onnx: node 'node_relu' (Relu, fc, net.py:3)".
  std::string where(int node) const { return placeOf(path, origins[node]); }
};

/// Whether the bytes are an ONNX message, be it one that pipec refuses. Reads
/// it all: for errors.
bool isOnnx(const MappedFile &file);

/// The first step: fills path, proto and opset, puts the nodes in order, and
/// returns where payloads lie, by the new order. Errors name the file.
StatusOr<ScannedModel> parseFile(const MappedFile &file, ModelFile &model);
/// The second: fills the initializers and the attributes' tensors. Origins are
/// there, for errors.
Status locateTensors(ModelFile &model, const ScannedModel &scanned,
                     std::shared_ptr<const MappedFile> file);
/// The last: names are unique, values are defined before use, outputs exist.
/// All but the interface is there.
Status checkGraph(const ModelFile &model);
/// Graph inputs and outputs as declared.
StatusOr<ModelInterface> readInterface(const ModelFile &model);

// ---- parts of parseFile ----
/// Opset, IR version, features pipec refuses.
Status checkVersions(const ModelFile &model);
/// Puts the nodes in topological order. Each new position's place in the file;
/// empty where nothing had to move, and where a cycle leaves no order.
std::vector<int> sortNodes(::onnx::GraphProto &graph);

} // namespace pipec::onnx

#endif

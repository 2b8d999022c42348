// What exporters write beside the graph: PyTorch's graph signature, fx nodes,
// module paths, source lines.
//
// In: metadata strings and node names. Out: plain values; malformed text gives
// empty ones, never an error. Tests: test/unit/frontends/MetadataTest.cpp.
#ifndef PIPEC_FRONTENDS_ONNX_METADATA_METADATA_H
#define PIPEC_FRONTENDS_ONNX_METADATA_METADATA_H

#include "onnx-ml.pb.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pipec::onnx {

/// Parameters, buffers and constants of the exported module, in PyTorch's
/// order.
struct GraphSignature {
  /// Temporary: no state_dict holds it: a buffer of persistent=False, a tensor
  /// that PyTorch found in the code.
  enum class Kind { Parameter, Buffer, Temporary };
  struct Entry {
    std::string target; // state_dict name
    Kind kind = Kind::Parameter;
  };
  std::vector<Entry> entries;
  std::map<std::string, size_t> byPlaceholder; // "p_a_weight" -> entry
  std::map<std::string, size_t> byTarget;      // "a.weight" -> entry

  std::set<std::string> placeholders; // all: inputs too

  /// The file has one, be it of a model without parameters.
  bool present = false;

  bool empty() const { return !present; }
  bool contains(const std::string &target) const {
    return byTarget.count(target) != 0;
  }
  /// A parameter or persistent buffer.
  bool isState(const std::string &target) const {
    auto found = byTarget.find(target);
    return found != byTarget.end() &&
           entries[found->second].kind != Kind::Temporary;
  }
};

/// One fx call as text: "torch.ops.aten.linear.default" and its arguments
/// ("%x", "[None, %y]", "1").
struct FxCall {
  std::string result; // name of what it makes: "linear"
  std::string target;
  std::vector<std::string> args;
  std::map<std::string, std::string> keywords;
  std::vector<std::string>
      references; // names after '%', in order, of all arguments
};

/// What a node's metadata says of its origin.
struct NodeMetadata {
  std::optional<std::string>
      module; // module path; "" is the root, nothing is unknown
  std::string file;
  int line = 0;
  FxCall call;
};

GraphSignature parseGraphSignature(const std::string &text);
FxCall parseFxCall(const std::string &text);
/// The names in a list of Python: "['a', 'b.c']".
std::vector<std::string> parseNameList(const std::string &text);
/// Per value that the exporter's optimizer computed: the initializers and
/// values that went into it, over all steps. Empty where the exporter does not
/// record it.
std::map<std::string, std::vector<std::string>>
readFoldedValues(const ::onnx::GraphProto &graph);
/// From pkg.torch.onnx.name_scopes: "['', 'a', 'a.b', 'relu']" is "a.b".
std::optional<std::string> modulePathOfScopes(const std::string &scopes);
/// From namespace: ": pkg.Net/a: pkg.A/relu: aten.relu" is "a".
std::optional<std::string> modulePathOfNamespace(const std::string &text);
/// From a TorchScript-exported node name: "/layer1/layer1.0/conv1/Conv" is
/// "layer1.0.conv1".
std::optional<std::string> modulePathOfName(const std::string &name);
NodeMetadata readNodeMetadata(const ::onnx::NodeProto &node);
/// Gives nodes without a path the one of their neighbours, or what the
/// neighbours have in common.
std::vector<std::string>
completeModulePaths(const std::vector<NodeMetadata> &nodes);
/// Puts containers that are never called back into the paths of a file of the
/// TorchScript-based exporter: "h.0" becomes "transformer.h.0" where nodes in
/// it read "transformer.h.0.ln.weight". `reads`: the names of the initializers
/// that each node reads; one name for those with the same bytes and no name of
/// their own.
void restoreContainers(std::vector<std::string> &paths,
                       const std::vector<std::vector<std::string>> &reads);
const std::string *findMetadata(
    const google::protobuf::RepeatedPtrField<::onnx::StringStringEntryProto>
        &entries,
    const std::string &key);

} // namespace pipec::onnx

#endif

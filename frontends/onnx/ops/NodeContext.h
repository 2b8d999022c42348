// What the importer of one ONNX operator sees: inputs, attributes, constants,
// outputs.
//
// In: a node of the model and the Vals of its inputs. Out: Vals of its outputs.
// Errors go to the emitter and name file, node, module path and source line.
// Tests: test/unit/frontends/ImportTest.cpp.
#ifndef PIPEC_FRONTENDS_ONNX_OPS_NODECONTEXT_H
#define PIPEC_FRONTENDS_ONNX_OPS_NODECONTEXT_H

#include "frontends/common/Emitter.h"
#include "frontends/common/Sequence.h"
#include "frontends/onnx/metadata/Model.h"

#include <set>

namespace pipec::onnx {

class NodeContext {
public:
  NodeContext(const Model &model, int index, Emitter &e,
              std::vector<Val> inputs, bool training)
      : e(e), opset(model.opset), training(training), model(model),
        index(index), inputs(std::move(inputs)), outputs(node().output_size()) {
  }

  Emitter &e;
  const int64_t opset;
  const bool training; // see ImportOptions

  bool isFromPyTorch() const { return model.isFromPyTorch(); }

  const ::onnx::NodeProto &node() const { return model.graph().node(index); }
  const std::string &op() const { return node().op_type(); }
  /// The fx call that the node is of; empty where the file does not say.
  const FxCall &call() const { return model.calls[index]; }

  // ---- inputs ----
  int numInputs() const { return static_cast<int>(inputs.size()); }
  bool has(int k) const {
    return k < numInputs() && static_cast<bool>(inputs[k]);
  }
  /// Input `k`; absent ones are an empty Val.
  Val in(int k) const { return has(k) ? inputs[k] : Val(); }
  const std::vector<Val> &all() const { return inputs; }
  /// The integers of input `k`, which must be known at import: `what` says what
  /// it is. Nothing after an error.
  std::optional<Shape> constantInts(int k, const char *what);
  std::optional<std::vector<double>> constantNumbers(int k, const char *what);
  /// A declared weight behind input `k`, in PyTorch's form, where the file has
  /// it transposed.
  Val transposedWeight(int k) const {
    return k < static_cast<int>(weights.size()) ? weights[k] : Val();
  }
  void setTransposedWeights(std::vector<Val> values) {
    weights = std::move(values);
  }
  bool hasSequence(int k) const { return sequences.count(k) != 0; }
  /// The list behind input `k`; null after an error where it is none.
  const Sequence *sequence(int k);
  /// Lists among the inputs, by position; an error where the operator takes a
  /// tensor there.
  void setSequences(std::map<int, Sequence> lists);

  // ---- attributes ----
  bool hasAttr(const char *name) const { return attribute(name) != nullptr; }
  int64_t intAttr(const char *name, int64_t fallback) const;
  double floatAttr(const char *name, double fallback) const;
  std::string stringAttr(const char *name, const char *fallback) const;
  Shape intsAttr(const char *name, const Shape &fallback = {}) const;
  std::vector<double> floatsAttr(const char *name) const;
  /// The tensor attribute `name`.
  std::optional<Tensor> tensorAttr(const char *name);
  /// Attribute `name`, or input `k` where the opset moved it there; nothing
  /// when neither is given.
  std::optional<Shape> attrOrInput(const char *name, int k);
  /// Attribute `name` as a dimension of a tensor of `rank`.
  std::optional<int64_t> axisAttr(const char *name, int64_t fallback,
                                  int64_t rank);
  /// `axes` counted from the start, distinct and ascending.
  std::optional<Shape> sortedAxes(const Shape &axes, int64_t rank);

  /// Refuses attributes that the importer did not look at: a newer operator set
  /// may give them a meaning.
  void refuseUnreadAttributes();

  // ---- outputs ----
  void out(int k, Val value) {
    if (k < static_cast<int>(outputs.size()))
      outputs[k] = std::move(value);
  }
  bool wantsOutput(int k) const {
    return k < node().output_size() && !node().output(k).empty();
  }
  /// Output `k` cannot be made: an error only where something reads it.
  void cannotMake(int k, std::string why) { missing[k] = std::move(why); }
  std::string whyMissing(int k) const {
    auto found = missing.find(k);
    return found == missing.end() ? "is not supported" : found->second;
  }
  const std::vector<Val> &results() const { return outputs; }
  /// Output 0 is a list.
  void outSequence(Sequence list) { made = std::move(list); }
  const std::optional<Sequence> &madeSequence() const { return made; }

  // ---- errors ----
  /// The file asks for something wrong: "model.onnx: node 'n' (Op, module m,
  /// f.py:1): <message>".
  void fail(const std::string &message);
  /// Well-formed but not supported.
  void refuse(const std::string &message);
  bool ok() const { return e.ok(); }
  /// Fails and returns false unless `condition`.
  bool require(bool condition, const std::string &message) {
    if (!condition)
      fail(message);
    return condition && ok();
  }
  /// Fails unless at least `count` inputs are there, none of the first `count`
  /// absent.
  bool needInputs(int count);
  std::string where() const { return model.where(index); }

private:
  const ::onnx::AttributeProto *attribute(const std::string &name) const;
  mutable std::set<std::string> asked; // attributes that the importer looked at

  const Model &model;
  int index;
  std::vector<Val> inputs, weights, outputs;
  std::map<int, Sequence> sequences;  // inputs
  std::optional<Sequence> made;       // output 0
  std::map<int, std::string> missing; // outputs: why
};

} // namespace pipec::onnx

#endif

// Which argument of its fx call an input of a node is, and in which form.
//
// torch.onnx.export(dynamo=True) writes each fx call as one or more nodes and
// keeps the call's text with them. How it writes an operator is fixed, so the
// place of an input says which argument stands there: input 1 of a MatMul that
// is part of aten.linear is the weight, transposed; input 0 never is.
//
// In: an opened Model. Out: operands. Immutable after construction. Tests:
// test/unit/frontends/WeightTableTest.cpp, test/conformance/names_table.py.
#ifndef PIPEC_FRONTENDS_ONNX_METADATA_CALLOPERANDS_H
#define PIPEC_FRONTENDS_ONNX_METADATA_CALLOPERANDS_H

#include "frontends/common/WeightTable.h"
#include "frontends/onnx/metadata/Model.h"

namespace pipec::onnx {

/// What an operator makes of an argument before it computes with it.
enum class Form {
  AsIs,
  Moved,     // its axes permuted
  Stretched, // a vector with axes of one element around it
  Bilinear   // [a, b, c] is stored as [b, a, c], or as [b, a * c]
};

struct Operand {
  enum class Kind {
    Unknown,  // the place of the input does not say
    Constant, // no argument stands there: the exporter made the tensor up
    Value,    // a value of the model, as far as the call says
    Named     // a parameter or buffer
  };
  explicit Operand(Kind kind = Kind::Unknown, std::string name = "")
      : kind(kind), name(std::move(name)) {}

  Kind kind;
  std::string name; // state_dict name of Named, the fx name of Value
  Form form = Form::AsIs;
  Permutation moved; // of Form::Moved: axis k as stored is the argument's
};

struct TargetForm;

class CallOperands {
public:
  explicit CallOperands(const Model &model);

  Operand at(const Initializer &tensor, Reader reader) const;
  /// The parameter that the call gives a linear layer, a convolution or addmm
  /// as its bias.
  std::optional<std::string> biasOf(int node) const;
  /// Its shape follows from the weight's: not of addmm.
  bool isLayer(int node) const;
  /// state_dict names among the references of the node's fx call, each once.
  std::vector<std::string> parametersOf(int node) const;
  /// The nodes of the fx call of `node`, in order; none where it has no call.
  const std::vector<int> &nodesOfCall(int node) const;

private:
  enum class Role { None, Input, Weight, Bias, Mean, Variance };
  Operand argument(const FxCall &call, Role role, const TargetForm &form) const;
  Role roleOf(Reader reader, const TargetForm &form) const;
  Role roleInNorm(Reader reader) const;
  void setForm(Operand &operand, const TensorType &type, Reader reader,
               Role role, const TargetForm &form) const;

  const Model &model;
  std::map<std::string, std::vector<int>> nodesByCall; // by the call's result
};

} // namespace pipec::onnx

#endif

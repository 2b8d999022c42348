// An op as the runtime and the compile-time evaluator see it: mnemonic,
// attributes, operand and result types. Made from a package's Instruction or
// from an MLIR op; says nothing of where the bytes are.
#ifndef PIPEC_RUNTIME_BASE_OP_H
#define PIPEC_RUNTIME_BASE_OP_H

#include "pipec/tensor.h"

#include <variant>

namespace pipec {

/// Attribute values. Enums are their keyword, element types are DType.
using AttrValue =
    std::variant<int64_t, double, std::string, bool, std::vector<int64_t>,
                 std::vector<double>, DType>;

/// Where an op comes from, for messages.
struct Origin {
  std::string module; // module path
  std::string node;   // node of the model file
  std::string op;     // its operator there
  std::string file;
  int line = 0;
  int64_t index = -1; // position in the walk that imported the graph

  /// "Log node_log (fc2, model.py:12)"; parts that are unknown are left out.
  std::string str() const;
};

/// One op with static operand and result types.
struct OpDesc {
  std::string name; // "dot_general"
  std::map<std::string, AttrValue> attrs;
  std::vector<TensorType> inputs;
  std::vector<TensorType> outputs;
  Origin origin;

  bool has(const std::string &key) const { return attrs.count(key) != 0; }
  /// The result is the operand, element by element, of another shape or role:
  /// it may lie where the operand lies, and nothing runs then.
  bool keepsBytes() const {
    return name == "reshape" || name == "stop_gradient";
  }
  /// Attribute `key` of C++ type T, or an error that names op and attribute.
  template <typename T> StatusOr<T> get(const std::string &key) const {
    auto it = attrs.find(key);
    if (it == attrs.end())
      return dataLoss(name + ": attribute '" + key + "' is missing");
    if (const T *value = std::get_if<T>(&it->second))
      return *value;
    return dataLoss(name + ": attribute '" + key + "' has another type");
  }
  template <typename T> T getOr(const std::string &key, T fallback) const {
    auto it = attrs.find(key);
    if (it != attrs.end())
      if (const T *value = std::get_if<T>(&it->second))
        return *value;
    return fallback;
  }
};

} // namespace pipec

#endif // PIPEC_RUNTIME_BASE_OP_H

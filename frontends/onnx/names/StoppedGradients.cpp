// See StoppedGradients.h. With optimize=False a detach is an Identity node.
// The exporter's optimizer takes that away, but the fx call of the node that
// reads it still has %detach among its arguments, which no value of the file
// is called any more: it is the input that no other argument stands for.
#include "frontends/onnx/names/StoppedGradients.h"

#include "frontends/common/Text.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

/// "detach" and "detach_2", as fx numbers them.
bool isOfDetach(const std::string &reference) {
  constexpr size_t kLength = 6;
  return startsWith(reference, "detach") &&
         reference.find_first_not_of("_0123456789", kLength) ==
             std::string::npos;
}

bool isDetach(const FxCall &call) {
  return call.target.find("aten.detach") != std::string::npos;
}

/// Operators that move values, or make no floats: sizes and masks are made
/// again and again.
constexpr const char *kNoArithmetic[] = {
    "And",       "Cast",    "Concat",  "Equal",          "Expand",
    "Flatten",   "Gather",  "Greater", "GreaterOrEqual", "Identity",
    "IsInf",     "IsNaN",   "Less",    "LessOrEqual",    "Not",
    "Or",        "Reshape", "Slice",   "Squeeze",        "Transpose",
    "Unsqueeze", "Xor"};

/// "linear" of "linear_12".
std::string withoutNumber(const std::string &name) {
  return name.substr(0, name.find_last_not_of("_0123456789") + 1);
}

using Reader = std::pair<int, int>; // node, input

class Finder {
public:
  explicit Finder(const Model &model) : model(model) {
    for (int n = 0; n < model.graph().node_size(); ++n) {
      nodesOf[callOf(n)].push_back(n);
      for (const std::string &output : model.graph().node(n).output())
        madeBy[output] = n;
    }
    for (const auto &[placeholder, entry] : model.signature.byPlaceholder)
      placeholderOf[model.signature.entries[entry].target] = placeholder;
  }

  StoppedGradients run() {
    for (const auto &[call, nodes] : nodesOf)
      if (!call.empty())
        visit(nodes);
    if (!detaches)
      stopped.unclear.clear();
    std::sort(stopped.merged.begin(), stopped.merged.end());
    std::sort(stopped.unclear.begin(), stopped.unclear.end());
    return std::move(stopped);
  }

private:
  const Model &model;
  std::map<std::string, std::vector<int>> nodesOf; // by the call's result
  std::map<std::string, int> madeBy;
  std::map<std::string, std::string> placeholderOf; // by state_dict name
  StoppedGradients stopped;
  bool detaches = false;

  const std::string &callOf(int node) const { return model.calls[node].result; }

  /// The name that fx has for a value; "" where the exporter made it up.
  std::string fxName(const std::string &value) const {
    if (auto maker = madeBy.find(value); maker != madeBy.end())
      return callOf(maker->second);
    auto parameter = placeholderOf.find(value);
    return parameter == placeholderOf.end() ? "" : parameter->second;
  }

  /// A gradient may be wanted: no graph input, no constant.
  bool isTrainable(const std::string &value) const {
    return madeBy.count(value) != 0 ||
           (model.initializerByName.count(value) != 0 &&
            model.signature.contains(value));
  }

  /// `gone` is what an equal call made, which the optimizer made one with the
  /// value's: "linear_1", where "linear" is read.
  bool
  readsMerged(const std::string &gone,
              const std::map<std::string, std::vector<Reader>> &reads) const {
    return std::any_of(reads.begin(), reads.end(), [&](const auto &read) {
      auto maker = madeBy.find(read.first);
      if (maker == madeBy.end())
        return false;
      const std::string &op = model.graph().node(maker->second).op_type();
      const std::string &name = callOf(maker->second);
      return !llvm::is_contained(kNoArithmetic, op) && name != gone &&
             withoutNumber(name) == withoutNumber(gone);
    });
  }

  /// Values from outside of the call that the call reads, with each place.
  std::map<std::string, std::vector<Reader>>
  readsOf(const std::vector<int> &nodes) const {
    std::map<std::string, std::vector<Reader>> reads;
    for (int n : nodes)
      for (int k = 0; k < model.graph().node(n).input_size(); ++k) {
        const std::string &value = model.graph().node(n).input(k);
        auto maker = madeBy.find(value);
        const bool isInner = maker != madeBy.end() &&
                             callOf(maker->second) == callOf(nodes.front());
        if (!isInner && isTrainable(value))
          reads[value].push_back({n, k});
      }
    return reads;
  }

  void visit(const std::vector<int> &nodes) {
    const FxCall &call = model.calls[nodes.front()];
    if (isDetach(call)) {
      detaches = true;
      stopped.inputs.insert({nodes.front(), 0});
      return;
    }
    std::set<std::string> gone;
    for (const std::string &name : call.references)
      if (!nodesOf.count(name) && !model.signature.placeholders.count(name))
        gone.insert(name);
    const bool readsDetached =
        std::any_of(gone.begin(), gone.end(), isOfDetach);
    detaches |= readsDetached;
    auto reads = readsOf(nodes);
    if (!llvm::is_contained(kNoArithmetic,
                            model.graph().node(nodes.front()).op_type()) &&
        std::any_of(gone.begin(), gone.end(), [&](const std::string &name) {
          return readsMerged(name, reads) ||
                 (withoutNumber(name) == "clone" && !reads.empty());
        }))
      stopped.merged.push_back(nodes.front());
    std::vector<std::string> nameless;
    for (const auto &[value, readers] : reads)
      if (!llvm::is_contained(call.references, fxName(value)))
        nameless.push_back(value);
    if (readsDetached && gone.size() == nameless.size() &&
        std::all_of(gone.begin(), gone.end(), isOfDetach))
      for (const std::string &value : nameless)
        stopped.inputs.insert(reads[value].begin(), reads[value].end());
    else if (readsDetached ? !findByPlace(nodes, call.references)
                           : !gone.empty() && !reads.empty())
      stopped.unclear.push_back(nodes.front());
  }

  /// One node whose inputs are the call's arguments in their order, as those
  /// show that have their names still.
  bool findByPlace(const std::vector<int> &nodes,
                   const std::vector<std::string> &names) {
    const auto &inputs = model.graph().node(nodes.front()).input();
    if (nodes.size() != 1 || inputs.size() != static_cast<int>(names.size()) ||
        std::set<std::string>(names.begin(), names.end()).size() !=
            names.size())
      return false;
    std::set<Reader> found;
    bool isConfirmed = false;
    for (int k = 0; k < inputs.size(); ++k) {
      const std::string name = fxName(inputs[k]);
      if (isOfDetach(names[k]) && !nodesOf.count(names[k]))
        found.insert({nodes.front(), k});
      else if (name == names[k])
        isConfirmed = true;
      else if (isTrainable(inputs[k]))
        return false;
    }
    if (isConfirmed)
      stopped.inputs.insert(found.begin(), found.end());
    return isConfirmed;
  }
};

} // namespace

StoppedGradients findStoppedGradients(const Model &model) {
  return Finder(model).run();
}

} // namespace pipec::onnx

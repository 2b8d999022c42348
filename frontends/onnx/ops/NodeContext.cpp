// Access to a node's inputs and attributes: see NodeContext.h.
//
// In: NodeProto. Out: typed values with their defaults. Tests:
// test/unit/frontends/ImportTest.cpp.
#include "frontends/onnx/ops/NodeContext.h"

#include <algorithm>

namespace pipec::onnx {

void NodeContext::fail(const std::string &message) {
  e.fail(dataLoss(message).withPrefix(where()));
}
void NodeContext::refuse(const std::string &message) {
  e.fail(unsupported(message).withPrefix(where()));
}

const ::onnx::AttributeProto *
NodeContext::attribute(const std::string &name) const {
  asked.insert(name);
  for (const auto &attribute : node().attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t NodeContext::intAttr(const char *name, int64_t fallback) const {
  const auto *found = attribute(name);
  return found ? found->i() : fallback;
}

double NodeContext::floatAttr(const char *name, double fallback) const {
  const auto *found = attribute(name);
  return found ? found->f() : fallback;
}

std::string NodeContext::stringAttr(const char *name,
                                    const char *fallback) const {
  const auto *found = attribute(name);
  return found ? found->s() : fallback;
}

Shape NodeContext::intsAttr(const char *name, const Shape &fallback) const {
  const auto *found = attribute(name);
  return found ? Shape(found->ints().begin(), found->ints().end()) : fallback;
}

std::vector<double> NodeContext::floatsAttr(const char *name) const {
  const auto *found = attribute(name);
  return found ? std::vector<double>(found->floats().begin(),
                                     found->floats().end())
               : std::vector<double>();
}

std::optional<Tensor> NodeContext::tensorAttr(const char *name) {
  asked.insert(name);
  for (int a = 0; a < node().attribute_size(); ++a) {
    auto found = model.attributeTensors.find({index, a});
    if (node().attribute(a).name() != name ||
        found == model.attributeTensors.end())
      continue;
    auto tensor = found->second.load();
    if (tensor.ok())
      return *tensor;
    e.fail(tensor.status().withPrefix(where()));
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Shape> NodeContext::constantInts(int k, const char *what) {
  if (!require(has(k), std::string(what) + " is missing"))
    return std::nullopt;
  const Tensor *known = inputs[k].known();
  if (!require(known, std::string(what) + " (input '" + node().input(k) +
                          "') depends on data; pipec needs it known at compile "
                          "time, from constants and shapes alone"))
    return std::nullopt;
  return integersOf(*known);
}

std::optional<std::vector<double>>
NodeContext::constantNumbers(int k, const char *what) {
  if (!constantInts(k, what))
    return std::nullopt;
  return numbersOf(*inputs[k].known());
}

std::optional<Shape> NodeContext::attrOrInput(const char *name, int k) {
  if (hasAttr(name))
    return intsAttr(name);
  return has(k) ? constantInts(k, name) : std::nullopt;
}

std::optional<int64_t> NodeContext::axisAttr(const char *name, int64_t fallback,
                                             int64_t rank) {
  int64_t given = intAttr(name, fallback);
  int64_t axis = normalizedAxis(given, rank);
  if (!require(axis < rank, std::string(name) + " " + std::to_string(given) +
                                " is out of range for rank " +
                                std::to_string(rank)))
    return std::nullopt;
  return axis;
}

std::optional<Shape> NodeContext::sortedAxes(const Shape &axes, int64_t rank) {
  Shape sorted;
  for (int64_t given : axes) {
    int64_t axis = normalizedAxis(given, rank);
    if (!require(axis < rank, "axis " + std::to_string(given) +
                                  " is out of range for rank " +
                                  std::to_string(rank)))
      return std::nullopt;
    sorted.push_back(axis);
  }
  std::sort(sorted.begin(), sorted.end());
  if (!require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
               "an axis is there twice"))
    return std::nullopt;
  return sorted;
}

void NodeContext::refuseUnreadAttributes() {
  // These say how to compute, not what, or matter only beside others that are
  // looked at.
  static const std::set<std::string> ignored{"beta",
                                             "extrapolation_value",
                                             "kv_num_heads",
                                             "momentum",
                                             "noop_with_empty_axes",
                                             "num_outputs",
                                             "q_num_heads",
                                             "round_mode",
                                             "qk_matmul_output_mode",
                                             "saturate",
                                             "seed",
                                             "softmax_precision",
                                             "sorted",
                                             "stash_type",
                                             "storage_order",
                                             "spatial"};
  for (const auto &attribute : node().attribute())
    if (ok() && !asked.count(attribute.name()) &&
        !ignored.count(attribute.name()))
      refuse("attribute '" + attribute.name() + "' is not supported");
}

const Sequence *NodeContext::sequence(int k) {
  auto found = sequences.find(k);
  if (found != sequences.end())
    return &found->second;
  require(has(k), "input " + std::to_string(k) + " is missing");
  require(false, "input " + std::to_string(k) + " ('" + node().input(k) +
                     "') is one tensor, " + op() + " takes a list of tensors");
  return nullptr;
}

void NodeContext::setSequences(std::map<int, Sequence> lists) {
  sequences = std::move(lists);
  static const std::set<std::string> takers{
      "SequenceInsert", "SequenceErase",      "SequenceAt",
      "SequenceLength", "ConcatFromSequence", "Identity"};
  for (const auto &[k, list] : sequences)
    require(k == 0 && takers.count(op()),
            "input " + std::to_string(k) + " ('" + node().input(k) +
                "') is a list of " + std::to_string(list.parts.size()) +
                " tensors, " + op() + " takes one tensor there");
}

bool NodeContext::needInputs(int count) {
  for (int k = 0; k < count; ++k)
    if (!require(has(k), "input " + std::to_string(k) + " is missing"))
      return false;
  return ok();
}

} // namespace pipec::onnx

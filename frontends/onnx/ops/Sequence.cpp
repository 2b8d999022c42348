// Operators over lists of tensors, which the exporter writes for split(),
// chunk() and unbind() before it optimises.
//
// In: nodes such as SplitToSequence, SequenceAt. Out: slices and concats. A
// list exists at import only, where its length and every position are known;
// the IR has none. Tests: test/unit/frontends/SequenceTest.cpp,
// test/conformance/onnx_nodes.py.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

/// Each part is an op: a file may not make more of them than a model has.
constexpr int64_t kMaxParts = 65536;

std::string partsText(const Sequence &list) {
  return "a list of " + std::to_string(list.parts.size()) +
         (list.parts.size() == 1 ? " tensor" : " tensors");
}

/// The number behind input `k`, a tensor of one integer.
std::optional<int64_t> oneInteger(NodeContext &c, int k, const char *what) {
  const Val given = c.in(k);
  if (given &&
      !c.require(given.numElements() == 1 && !isFloat(given.dtype()),
                 std::string(what) + " (input '" + c.node().input(k) +
                     "') is " + given.type().str() + ", not one integer"))
    return std::nullopt;
  auto number = c.constantInts(k, what);
  return number ? std::optional<int64_t>((*number)[0]) : std::nullopt;
}

/// Input 1 as a position from the start, in [0, limit).
std::optional<int64_t> position(NodeContext &c, const Sequence &list,
                                int64_t limit) {
  auto given = oneInteger(c, 1 + (c.op() == "SequenceInsert"), "position");
  if (!given)
    return std::nullopt;
  const auto size = static_cast<int64_t>(list.parts.size());
  // From the end: counted from the list's length, where limit may be one more.
  int64_t at = *given < 0 ? *given + size : *given;
  if (!c.require(*given >= -size && at < limit,
                 "position " + std::to_string(*given) +
                     " is out of range for " + partsText(list)))
    return std::nullopt;
  return at;
}

void importSequenceConstruct(NodeContext &c) {
  if (!c.require(c.numInputs() > 0, "there is no input") ||
      !c.needInputs(c.numInputs()))
    return;
  Sequence list{c.in(0).dtype(), c.all()};
  for (int k = 1; k < c.numInputs(); ++k)
    if (!c.require(c.in(k).dtype() == list.dtype,
                   "the tensors of a list have one element type: input 0 is " +
                       c.in(0).type().str() + ", input " + std::to_string(k) +
                       " ('" + c.node().input(k) + "') is " +
                       c.in(k).type().str()))
      return;
  c.outSequence(std::move(list));
}

void importSequenceEmpty(NodeContext &c) {
  auto dtype = dtypeFromOnnx(
      static_cast<int>(c.intAttr("dtype", ::onnx::TensorProto_DataType_FLOAT)));
  if (!dtype.ok())
    c.refuse(dtype.status().message());
  else
    c.outSequence({*dtype, {}});
}

void importSequenceInsert(NodeContext &c) {
  const Sequence *list = c.sequence(0);
  if (!list || !c.require(c.has(1), "input 1 is missing") ||
      !c.require(c.in(1).dtype() == list->dtype,
                 "tensor '" + c.node().input(1) + "' is " +
                     c.in(1).type().str() + ", the list's tensors are " +
                     std::string(dtypeName(list->dtype))))
    return;
  const auto size = static_cast<int64_t>(list->parts.size());
  auto at = c.has(2) ? position(c, *list, size + 1) : size;
  if (!at)
    return;
  Sequence longer = *list;
  longer.parts.insert(longer.parts.begin() + *at, c.in(1));
  c.outSequence(std::move(longer));
}

void importSequenceErase(NodeContext &c) {
  const Sequence *list = c.sequence(0);
  if (!list || !c.require(!list->parts.empty(), "the list is empty"))
    return;
  const auto size = static_cast<int64_t>(list->parts.size());
  auto at = c.has(1) ? position(c, *list, size) : size - 1;
  if (!at)
    return;
  Sequence shorter = *list;
  shorter.parts.erase(shorter.parts.begin() + *at);
  c.outSequence(std::move(shorter));
}

void importSequenceAt(NodeContext &c) {
  const Sequence *list = c.sequence(0);
  if (!list)
    return;
  if (auto at = position(c, *list, static_cast<int64_t>(list->parts.size())))
    c.out(0, list->parts[*at]);
}

void importSequenceLength(NodeContext &c) {
  if (const Sequence *list = c.sequence(0))
    c.out(0, c.e.reshape(c.e.ints({static_cast<int64_t>(list->parts.size())}),
                         {}));
}

void importConcatFromSequence(NodeContext &c) {
  const Sequence *list = c.sequence(0);
  if (!list || !c.require(!list->parts.empty(), "the list is empty") ||
      !c.require(c.hasAttr("axis"), "axis is missing"))
    return;
  const bool stacks = c.intAttr("new_axis", 0) != 0;
  std::vector<Val> parts = list->parts;
  auto axis = c.axisAttr("axis", 0, parts[0].rank() + stacks);
  if (!axis)
    return;
  for (size_t k = 0; k < parts.size(); ++k) {
    Shape shape = parts[k].shape();
    const bool fits = stacks ? shape == list->parts[0].shape()
                             : parts[k].rank() == parts[0].rank();
    if (!c.require(fits, "part " + std::to_string(k) + " of the list is " +
                             parts[k].type().str() + ", part 0 is " +
                             list->parts[0].type().str()))
      return;
    if (!stacks)
      continue;
    shape.insert(shape.begin() + *axis, 1);
    parts[k] = c.e.reshape(parts[k], shape);
  }
  c.out(0, c.e.concat(parts, *axis));
}

/// Sizes of the parts of a dimension of `size`: equal ones (the last may be
/// smaller), or those that are given.
std::optional<Shape> partSizes(NodeContext &c, int64_t size) {
  int64_t part = 1;
  if (c.has(1) && c.in(1).rank() > 0) {
    auto sizes = c.constantInts(1, "split");
    if (!sizes)
      return std::nullopt;
    int64_t left = size;
    for (int64_t each : *sizes)
      left = each < 0 || each > left ? -1 : left - each;
    if (!c.require(c.in(1).rank() == 1 && left == 0,
                   "split " + shapeText(*sizes) + " does not add up to " +
                       std::to_string(size) + " elements"))
      return std::nullopt;
    return sizes;
  }
  if (c.has(1)) {
    auto given = oneInteger(c, 1, "split");
    if (!given || !c.require(*given > 0, "split is " + std::to_string(*given) +
                                             ", not 1 or more"))
      return std::nullopt;
    part = *given;
  }
  const int64_t count = size / part + (size % part != 0);
  if (count > kMaxParts) {
    c.refuse("a list of " + std::to_string(count) + " tensors; at most " +
             std::to_string(kMaxParts) + " are");
    return std::nullopt;
  }
  Shape sizes(count, part);
  if (size % part)
    sizes.back() = size % part;
  return sizes;
}

void importSplitToSequence(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  auto axis = c.axisAttr("axis", 0, x.rank());
  // Read whether it counts or not: it does without split only.
  const bool keeps = c.intAttr("keepdims", 1) != 0 || c.has(1);
  if (!axis)
    return;
  auto sizes = partSizes(c, x.dim(*axis));
  if (!sizes)
    return;
  Sequence list{x.dtype(), {}};
  int64_t start = 0;
  for (int64_t size : *sizes) {
    Val part = c.e.sliceDim(x, *axis, start, start + size);
    Shape shape = part.shape();
    if (!c.ok())
      return;
    if (!keeps) {
      shape.erase(shape.begin() + *axis);
      part = c.e.reshape(part, shape);
    }
    list.parts.push_back(part);
    start += size;
  }
  c.outSequence(std::move(list));
}

constexpr OpEntry kTable[] = {
    {"SequenceConstruct", 13, importSequenceConstruct},
    {"SequenceEmpty", 13, importSequenceEmpty},
    {"SequenceInsert", 13, importSequenceInsert},
    {"SequenceErase", 13, importSequenceErase},
    {"SequenceAt", 13, importSequenceAt},
    {"SequenceLength", 13, importSequenceLength},
    {"ConcatFromSequence", 13, importConcatFromSequence},
    {"SplitToSequence", 13, importSplitToSequence},
};

} // namespace

OpTable sequenceOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx

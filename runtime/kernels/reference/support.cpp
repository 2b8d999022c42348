// The shared checks of op descriptions. In: an OpDesc that is not trusted. Out:
// checked attributes, or an error that says expected and got.
// Tests: test/unit/kernels/RejectTest.cpp.
#include "runtime/kernels/reference/support.h"

#include <algorithm>

namespace pipec::reference {
namespace {

std::string listText(const Shape &list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? ", " : "") + std::to_string(list[i]);
  return text + "]";
}

} // namespace

Status checkArity(const OpDesc &op, size_t inputs, size_t outputs) {
  if (op.inputs.size() != inputs)
    return invalidArgument("expected " + std::to_string(inputs) +
                           " operands, got " +
                           std::to_string(op.inputs.size()));
  if (op.outputs.size() != outputs)
    return invalidArgument("expected " + std::to_string(outputs) +
                           " results, got " +
                           std::to_string(op.outputs.size()));
  return Status();
}

Status checkResult(const OpDesc &op, const TensorType &expected, size_t index) {
  if (op.outputs[index] != expected)
    return invalidArgument("result " + std::to_string(index) + " is " +
                           op.outputs[index].str() + ", expected " +
                           expected.str());
  return Status();
}

Status checkSameDType(const OpDesc &op, size_t a, size_t b) {
  if (op.inputs[a].dtype != op.inputs[b].dtype)
    return invalidArgument("operands " + std::to_string(a) + " and " +
                           std::to_string(b) + " differ in element type: " +
                           op.inputs[a].str() + " and " + op.inputs[b].str());
  return Status();
}

Status checkShape(const OpDesc &op, size_t input, const Shape &expected) {
  if (op.inputs[input].shape != expected)
    return invalidArgument("operand " + std::to_string(input) + " is " +
                           op.inputs[input].str() + ", expected shape " +
                           listText(expected));
  return Status();
}

StatusOr<int64_t> dimAttr(const OpDesc &op, const std::string &key,
                          int64_t rank) {
  PIPEC_ASSIGN_OR_RETURN(const int64_t dim, op.get<int64_t>(key));
  if (dim < 0 || dim >= rank)
    return invalidArgument(key + " " + std::to_string(dim) +
                           " is out of range for rank " + std::to_string(rank));
  return dim;
}

StatusOr<Shape> dimsAttr(const OpDesc &op, const std::string &key,
                         int64_t rank) {
  PIPEC_ASSIGN_OR_RETURN(Shape dims, op.get<Shape>(key));
  int64_t last = -1;
  for (int64_t dim : dims) {
    if (dim <= last || dim >= rank)
      return invalidArgument(key + " " + listText(dims) +
                             " are not distinct, ascending and below rank " +
                             std::to_string(rank));
    last = dim;
  }
  return dims;
}

StatusOr<Shape> listAttr(const OpDesc &op, const std::string &key, size_t size,
                         int64_t least) {
  PIPEC_ASSIGN_OR_RETURN(Shape list, op.get<Shape>(key));
  const int64_t most = int64_t(1) << 31;
  const bool inRange = std::all_of(list.begin(), list.end(), [&](int64_t v) {
    return v >= least && v <= most && v >= -most;
  });
  if (list.size() != size || !inRange)
    return invalidArgument(key + " " + listText(list) + ": expected " +
                           std::to_string(size) + " entries of at least " +
                           std::to_string(std::max(least, -most)) +
                           " and at most 2^31");
  return list;
}

StatusOr<size_t> keywordAttr(const OpDesc &op, const std::string &key,
                             std::initializer_list<std::string_view> keywords,
                             std::string_view fallback) {
  std::string word(fallback);
  if (op.has(key) || fallback.empty()) {
    PIPEC_ASSIGN_OR_RETURN(word, op.get<std::string>(key));
  }
  const auto it = std::find(keywords.begin(), keywords.end(), word);
  if (it == keywords.end())
    return invalidArgument(key + " '" + word +
                           "' is not one that the op knows");
  return static_cast<size_t>(it - keywords.begin());
}

StatusOr<std::vector<int>>
operandPositions(const OpDesc &op, std::initializer_list<std::string_view> all,
                 size_t required) {
  std::string list;
  for (size_t i = 0; i < std::min(all.size(), op.inputs.size()); ++i)
    list += (i ? "," : "") + std::string(all.begin()[i]);
  PIPEC_ASSIGN_OR_RETURN(list, attrOr<std::string>(op, "operands", list));
  std::vector<int> positions(all.size(), -1);
  size_t next = 0;
  int count = 0;
  for (size_t begin = 0; !list.empty() && begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    while (next < all.size() && all.begin()[next] != name)
      ++next;
    if (next == all.size())
      return invalidArgument("operands '" + list +
                             "' are not the op's, in its order");
    positions[next++] = count++;
    begin = end + 1;
  }
  if (static_cast<size_t>(count) != op.inputs.size())
    return invalidArgument("operands '" + list + "' name " +
                           std::to_string(count) + ", there are " +
                           std::to_string(op.inputs.size()));
  for (size_t i = 0; i < required; ++i)
    if (positions[i] < 0)
      return invalidArgument("operand '" + std::string(all.begin()[i]) +
                             "' is missing");
  return positions;
}

int64_t numElements(const Shape &shape, size_t from, size_t to) {
  int64_t count = 1;
  for (size_t i = from; i < to; ++i)
    count *= shape[i];
  return count;
}

Shape rowMajorStrides(const Shape &shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(1, shape[i]);
  }
  return strides;
}

StatusOr<Shape> broadcastShapes(const Shape &a, const Shape &b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return invalidArgument("shapes " + listText(a) + " and " + listText(b) +
                             " do not broadcast");
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

StatusOr<Shape> broadcastStrides(const Shape &from, const Shape &to) {
  const Status mismatch = invalidArgument(
      "shape " + listText(from) + " does not stretch to " + listText(to));
  if (from.size() > to.size())
    return mismatch;
  const Shape own = rowMajorStrides(from);
  Shape strides(to.size(), 0);
  const size_t shift = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != to[shift + i] && from[i] != 1)
      return mismatch;
    strides[shift + i] = from[i] == 1 ? 0 : own[i];
  }
  return strides;
}

std::string opText(const OpDesc &op) {
  const std::string origin = op.origin.str();
  return origin.empty() ? "'" + op.name + "'"
                        : "'" + op.name + "' of " + origin;
}

} // namespace pipec::reference

// Einsum of ONNX.
//
// In: an equation and operands. Out: per operand a diagonal and sums over
// labels that nobody else has, then pairwise products by `pipe.dot_general`,
// then a transpose. Tests: test/unit/frontends/ImportTest.cpp.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

#include <algorithm>
#include <cctype>

namespace pipec::onnx {
namespace {

/// A tensor whose dimensions carry labels: letters, and digits from '0' for the
/// dimensions under "...".
struct Labelled {
  Val value;
  std::string labels;
  bool has(char label) const { return labels.find(label) != std::string::npos; }
  int64_t at(char label) const {
    return static_cast<int64_t>(labels.find(label));
  }
};

/// The parts of an equation, with the ellipsis spelt out.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

/// Replaces "..." by the last `count` of the labels '0'...
std::string spelt(std::string labels, int64_t count, int64_t most) {
  size_t dots = labels.find("...");
  if (dots == std::string::npos)
    return labels;
  std::string digits;
  for (int64_t i = most - count; i < most; ++i)
    digits.push_back(static_cast<char>('0' + i));
  return labels.replace(dots, 3, digits);
}

std::optional<Equation> parseEquation(NodeContext &c) {
  std::string text = c.stringAttr("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  std::vector<std::string> terms{""};
  for (char letter : left)
    if (letter == ',')
      terms.emplace_back();
    else
      terms.back().push_back(letter);
  if (!c.require(static_cast<int>(terms.size()) == c.numInputs(),
                 "equation '" + text + "' has " + std::to_string(terms.size()) +
                     " terms for " + std::to_string(c.numInputs()) + " inputs"))
    return std::nullopt;
  int64_t most = 0;
  std::vector<int64_t> hidden;
  for (size_t k = 0; k < terms.size(); ++k) {
    bool dots = terms[k].find("...") != std::string::npos;
    int64_t named = static_cast<int64_t>(terms[k].size()) - (dots ? 3 : 0);
    hidden.push_back(c.in(static_cast<int>(k)).rank() - named);
    if (!c.require(dots ? hidden.back() >= 0 && hidden.back() <= 10
                        : hidden.back() == 0,
                   "term '" + terms[k] + "' does not fit " +
                       shapeText(c.in(static_cast<int>(k)).shape())))
      return std::nullopt;
    most = std::max(most, hidden.back());
  }
  Equation equation;
  std::string all;
  for (size_t k = 0; k < terms.size(); ++k) {
    equation.operands.push_back(spelt(terms[k], hidden[k], most));
    all += equation.operands.back();
  }
  if (arrow != std::string::npos) {
    equation.result = spelt(text.substr(arrow + 2), most, most);
  } else {
    // The implicit result: the ellipsis, then letters that occur once, in
    // order.
    std::string sorted = all;
    std::sort(sorted.begin(), sorted.end());
    for (char label : sorted)
      if (std::isdigit(static_cast<unsigned char>(label))
              ? equation.result.find(label) == std::string::npos
              : std::count(all.begin(), all.end(), label) == 1)
        equation.result.push_back(label);
  }
  for (char label : all + equation.result)
    if (!c.require(std::isalnum(static_cast<unsigned char>(label)),
                   "equation '" + text + "' is not valid"))
      return std::nullopt;
  for (char label : equation.result)
    if (!c.require(all.find(label) != std::string::npos &&
                       std::count(equation.result.begin(),
                                  equation.result.end(), label) == 1,
                   "equation '" + text + "' has a wrong result"))
      return std::nullopt;
  return equation;
}

/// Sums over dimension `at`.
void sumOut(Emitter &e, Labelled &x, int64_t at) {
  x.value = e.reduce(pipe::ReduceKind::sum, x.value, {at}, false);
  x.labels.erase(x.labels.begin() + at);
}

/// A label that occurs twice keeps the diagonal: what lies off it is masked,
/// and one of both dimensions summed.
void takeDiagonals(NodeContext &c, Labelled &x) {
  for (size_t i = 0; i < x.labels.size() && c.ok(); ++i)
    for (size_t j = x.labels.size() - 1; j > i && c.ok(); --j) {
      if (x.labels[j] != x.labels[i])
        continue;
      if (!c.require(x.value.dim(i) == x.value.dim(j),
                     "a label stands for different sizes"))
        return;
      Shape first(x.value.rank(), 1), second = first;
      first[i] = x.value.dim(i);
      second[j] = x.value.dim(j);
      Val equal =
          c.e.compare(pipe::CompareKind::eq, c.e.iota({DType::I64, first}, i),
                      c.e.iota({DType::I64, second}, j));
      x.value = c.e.select(equal, x.value, c.e.number(0, x.value.dtype()));
      sumOut(c.e, x, static_cast<int64_t>(j));
    }
}

/// Sums over labels of `x` that neither the result nor any of `others` has.
void sumPrivate(Emitter &e, Labelled &x, const std::string &result,
                const std::vector<Labelled> &others) {
  for (size_t i = x.labels.size(); i-- > 0;) {
    bool needed =
        result.find(x.labels[i]) != std::string::npos ||
        std::any_of(others.begin(), others.end(),
                    [&](const Labelled &o) { return o.has(x.labels[i]); });
    if (!needed)
      sumOut(e, x, static_cast<int64_t>(i));
  }
}

/// Drops dimensions of size 1 that the partner has larger: they stretch.
void dropStretched(Emitter &e, Labelled &x, const Labelled &partner) {
  for (size_t i = x.labels.size(); i-- > 0;) {
    if (!partner.has(x.labels[i]) || x.value.dim(i) != 1 ||
        partner.value.dim(partner.at(x.labels[i])) == 1)
      continue;
    Shape shape = x.value.shape();
    shape.erase(shape.begin() + i);
    x.value = e.reshape(x.value, shape);
    x.labels.erase(x.labels.begin() + i);
  }
}

Labelled multiply(NodeContext &c, Labelled a, Labelled b,
                  const std::string &result,
                  const std::vector<Labelled> &rest) {
  dropStretched(c.e, a, b);
  dropStretched(c.e, b, a);
  Shape batchA, batchB, contractA, contractB;
  Labelled product;
  for (char label : a.labels) {
    if (!b.has(label))
      continue;
    if (!c.require(a.value.dim(a.at(label)) == b.value.dim(b.at(label)),
                   "a label stands for different sizes"))
      return product;
    bool kept = result.find(label) != std::string::npos ||
                std::any_of(rest.begin(), rest.end(),
                            [&](const Labelled &o) { return o.has(label); });
    (kept ? batchA : contractA).push_back(a.at(label));
    (kept ? batchB : contractB).push_back(b.at(label));
    if (kept)
      product.labels.push_back(label);
  }
  for (const Labelled *side : {&a, &b})
    for (char label : side->labels)
      if (!(side == &a ? b : a).has(label))
        product.labels.push_back(label);
  product.value =
      c.e.dot(a.value, b.value, batchA, batchB, contractA, contractB);
  return product;
}

void importEinsum(NodeContext &c) {
  if (!c.require(c.numInputs() > 0, "there is no input") ||
      !c.needInputs(c.numInputs()))
    return;
  auto equation = parseEquation(c);
  if (!equation)
    return;
  std::vector<Labelled> rest;
  for (int k = 0; k < c.numInputs(); ++k) {
    rest.push_back({c.in(k), equation->operands[k]});
    takeDiagonals(c, rest.back());
  }
  Labelled current = rest.front();
  rest.erase(rest.begin());
  sumPrivate(c.e, current, equation->result, rest);
  while (!rest.empty() && c.ok()) {
    Labelled next = rest.front();
    rest.erase(rest.begin());
    std::vector<Labelled> others = rest;
    others.push_back(current);
    sumPrivate(c.e, next, equation->result, others);
    current = multiply(c, current, next, equation->result, rest);
  }
  if (!c.ok())
    return;
  sumPrivate(c.e, current, equation->result, {});
  Shape order;
  for (char label : equation->result)
    order.push_back(current.at(label));
  c.out(0, c.e.transpose(current.value, order));
}

constexpr OpEntry kTable[] = {{"Einsum", 13, importEinsum}};

} // namespace

OpTable einsumOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx

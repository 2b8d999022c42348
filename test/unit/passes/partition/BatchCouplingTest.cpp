// What the rules of BatchDependence say of random graphs, held against numbers:
// each graph runs on a batch of 4 rows and on its two halves. Rows that are not
// mixed are the same in both, rows that are mixed are not, and combined rows
// join as said.
#include "passes/partition/BatchDependence.h"
#include "test/unit/passes/partition/GraphText.h"
#include "test/unit/support/GraphInterpreter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace pipec;
using namespace pipec::pipe;

namespace {

constexpr int64_t kBatch = 4, kHalf = 2;

/// A dimension: its size, or its size for each row.
struct Dim {
  int64_t size = 1;
  bool isOfRows = false;
};
using Dims = std::vector<Dim>;
bool operator==(const Dim &a, const Dim &b) {
  return a.size == b.size && a.isOfRows == b.isOfRows;
}

struct Value {
  std::string name;
  Dims dims;
};

/// Text of a graph for any number of rows: "{5}" stands for 5 times as many.
class RandomGraph {
public:
  explicit RandomGraph(unsigned seed) : random(seed) {
    pool.push_back({"%x", {{1, true}, {4}, {6}}});
    for (int i = 0; i < 6; ++i)
      step();
    Value last = pool.back();
    text = "pipe.graph @main(%x: " + type(pool[0].dims) + ") -> " +
           type(last.dims) + " {\n" + text + "  pipe.output " + last.name +
           " : " + type(last.dims) + "\n}\n";
  }

  std::string withRows(int64_t rows) const {
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '{' || !std::isdigit(text[at + 1])) {
        out += text[at];
        continue;
      }
      size_t end = text.find('}', at);
      out += std::to_string(rows * std::stoll(text.substr(at + 1, end)));
      at = end;
    }
    return out;
  }

private:
  std::mt19937 random;
  std::vector<Value> pool;
  std::string text;

  size_t below(size_t n) { return random() % n; }

  static std::string size(const Dim &dim) {
    std::string n = std::to_string(dim.size);
    return dim.isOfRows ? "{" + n + "}" : n;
  }
  static std::string list(const Dims &dims) {
    std::string out;
    for (const Dim &dim : dims)
      out += (out.empty() ? "" : ", ") + size(dim);
    return "[" + out + "]";
  }
  static std::string type(const Dims &dims) {
    std::string out = "tensor<";
    for (const Dim &dim : dims)
      out += size(dim) + "x";
    return out + "f64>";
  }

  void add(const std::string &op, const std::vector<Value> &operands,
           const Dims &dims) {
    std::string name = "%v" + std::to_string(pool.size()), types;
    for (const Value &operand : operands)
      types += (types.empty() ? "" : ", ") + type(operand.dims);
    const bool isTopK = op.rfind("pipe.top_k", 0) == 0;
    std::string result = type(dims);
    if (isTopK) {
      std::string indices = result;
      indices.replace(indices.find("f64"), 3, "i64");
      result = "(" + result + ", " + indices + ")";
    }
    text += "  " + name + (isTopK ? ":2" : "") + " = " + op + " : (" + types +
            ") -> " + result + "\n";
    pool.push_back({name + (isTopK ? "#0" : ""), dims});
  }

  /// Takes the latest value, so that what is mixed tends to reach the output.
  void step() {
    Value v = below(4) ? pool.back() : pool[below(pool.size())];
    const size_t rank = v.dims.size();
    if (rank == 0)
      v = pool[0];
    const size_t d = below(v.dims.size());
    if (v.dims[d] == Dim{1})
      return; // nothing to do along it
    const std::string at = std::to_string(d);
    Dims dims = v.dims;
    switch (below(18)) {
    case 0:
      return add("pipe.tanh " + v.name, {v}, dims);
    case 1:
      return transpose(v);
    case 2:
      return merge(v);
    case 3:
      return split(v);
    case 4:
      return add("pipe.softmax " + v.name + " dim " + at, {v}, dims);
    case 5:
      return add("pipe.cumulative cumsum " + v.name + " dim " + at, {v}, dims);
    case 6: {
      const char *kinds[] = {"sum", "mean", "max"};
      dims[d] = {1};
      return add(std::string("pipe.reduce ") + kinds[below(3)] + " " + v.name +
                     " dims [" + at + "] keep",
                 {v}, dims);
    }
    case 7: {
      const char *kinds[] = {"sum", "mean"};
      dims.erase(dims.begin() + static_cast<int64_t>(d));
      return add(std::string("pipe.reduce ") + kinds[below(2)] + " " + v.name +
                     " dims [" + at + "]",
                 {v}, dims);
    }
    case 8:
      return add("pipe.reverse " + v.name + " dims [" + at + "]", {v}, dims);
    case 9:
      return add("pipe.layer_norm " + v.name + " axis " + at +
                     " epsilon 1.0e-3",
                 {v}, dims);
    case 10:
      return add("pipe.top_k " + v.name + " k " + size(dims[d]) + " dim " + at,
                 {v}, dims);
    case 11:
      return dot(v, d);
    case 12:
    case 13:
      return slice(v, d);
    case 14:
      return token(v, d);
    default:
      return binary(v);
    }
  }

  void transpose(const Value &v) {
    std::vector<size_t> order(v.dims.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::string by;
    Dims dims;
    for (size_t o : order) {
      by += (by.empty() ? "" : ", ") + std::to_string(o);
      dims.push_back(v.dims[o]);
    }
    add("pipe.transpose " + v.name + " by [" + by + "]", {v}, dims);
  }

  void merge(const Value &v) {
    if (v.dims.size() < 2)
      return;
    size_t d = below(v.dims.size() - 1);
    Dims dims = v.dims;
    if (dims[d].isOfRows && dims[d + 1].isOfRows)
      return;
    dims[d] = {dims[d].size * dims[d + 1].size,
               dims[d].isOfRows || dims[d + 1].isOfRows};
    dims.erase(dims.begin() + static_cast<int64_t>(d) + 1);
    add("pipe.reshape " + v.name + " to " + list(dims), {v}, dims);
  }

  void split(const Value &v) {
    size_t d = below(v.dims.size());
    Dims dims = v.dims;
    const int64_t part = dims[d].size % 2 ? dims[d].size : 2;
    // Rows behind others would be another dimension by their number.
    const bool isFirst = dims[d].isOfRows || below(2);
    Dim rest{dims[d].size / part};
    dims[d].size = part;
    dims.insert(dims.begin() + static_cast<int64_t>(d) + isFirst, rest);
    if (dims.size() < 6)
      add("pipe.reshape " + v.name + " to " + list(dims), {v}, dims);
  }

  /// Of rows: at positions that are the same for any number of them.
  void slice(const Value &v, size_t d) {
    Dims dims = v.dims;
    // Never all rows of a half.
    const int64_t size = dims[d].isOfRows ? kHalf : dims[d].size;
    const auto first = static_cast<int64_t>(below(size));
    const int64_t most = dims[d].isOfRows ? 1 : size - first;
    const int64_t limit = first + 1 + static_cast<int64_t>(below(most));
    std::string starts, limits, strides;
    for (size_t i = 0; i < dims.size(); ++i) {
      const char *comma = i ? ", " : "";
      starts += comma + std::to_string(i == d ? first : 0);
      limits +=
          comma + (i == d ? std::to_string(limit) : RandomGraph::size(dims[i]));
      strides += comma + std::string("1");
    }
    dims[d] = {limit - first};
    add("pipe.slice " + v.name + " [" + starts + "] to [" + limits + "] by [" +
            strides + "]",
        {v}, dims);
  }

  /// Puts what is the same for all rows in front of or behind `v`.
  void token(const Value &v, size_t d) {
    if (v.dims[d].isOfRows)
      return;
    Dims dims = v.dims;
    dims[d] = {1};
    const std::string one = "%c" + std::to_string(pool.size());
    text += "  " + one + " = pipe.constant dense<0.5> : tensor<f64>\n";
    const Value number{one, {}};
    add("pipe.broadcast " + one + " to " + list(dims), {number}, dims);
    const Value same = pool.back();
    const bool isFirst = below(2);
    dims[d].size = v.dims[d].size + 1;
    add("pipe.concat " +
            (isFirst ? same.name + ", " + v.name : v.name + ", " + same.name) +
            " dim " + std::to_string(d),
        isFirst ? std::vector<Value>{same, v} : std::vector<Value>{v, same},
        dims);
  }

  /// Contracts one dimension with itself; the others are the batch's, or pair.
  void dot(const Value &v, size_t d) {
    std::string batch;
    Dims dims, mine, others;
    for (size_t i = 0; i < v.dims.size(); ++i) {
      if (i == d)
        continue;
      if (below(3) || v.dims[i].size > 6) {
        batch += (batch.empty() ? "" : ", ") + std::to_string(i);
        dims.push_back(v.dims[i]);
      } else {
        mine.push_back(v.dims[i]);
        others.push_back(v.dims[i]);
      }
    }
    dims.insert(dims.end(), mine.begin(), mine.end());
    dims.insert(dims.end(), others.begin(), others.end());
    if (dims.size() > 5)
      return;
    add("pipe.dot_general " + v.name + ", " + v.name +
            (batch.empty() ? "" : " batch [" + batch + "] x [" + batch + "]") +
            " contract [" + std::to_string(d) + "] x [" + std::to_string(d) +
            "]",
        {v, v}, dims);
  }

  /// With any value of the pool that it broadcasts with.
  void binary(const Value &v) {
    const char *kinds[] = {"add", "sub", "mul"};
    Value w = pool[below(pool.size())];
    if (w.dims.size() > v.dims.size() || w.name == v.name)
      return;
    Dims dims = v.dims;
    const size_t lead = dims.size() - w.dims.size();
    for (size_t i = 0; i < w.dims.size(); ++i) {
      Dim &mine = dims[lead + i];
      const Dim one{1};
      if (!(mine == w.dims[i]) && !(mine == one) && !(w.dims[i] == one))
        return;
      mine = mine == one ? w.dims[i] : mine;
    }
    add(std::string("pipe.") + kinds[below(3)] + " " + v.name + ", " + w.name,
        {v, w}, dims);
  }
};

Tensor rowsOf(int64_t first, int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> all(kBatch * 24);
  for (double &value : all)
    value = std::normal_distribution<double>()(random);
  return *Tensor::copyOf({DType::F64, {count, 4, 6}}, all.data() + first * 24);
}

struct Ran {
  Tensor output;
  BatchDependence dependence;
};

StatusOr<Ran> run(const std::string &text, int64_t rows, const Tensor &x) {
  test::GraphText parsed(text.c_str());
  if (!parsed.graph)
    return invalidArgument("does not parse");
  llvm::DenseMap<mlir::Value, BatchDependence> known;
  known[parsed.graph.getBody().getArgument(0)].dim = 0;
  for (mlir::Operation &op :
       parsed.graph.getBody().front().without_terminator()) {
    BatchDependence result = dependenceOf(
        &op, rows, [&](mlir::Value value) { return known.lookup(value); });
    for (mlir::Value value : op.getResults())
      known[value] = result;
  }
  PIPEC_ASSIGN_OR_RETURN(
      std::vector<Tensor> outputs,
      pipe::testing::GraphInterpreter().run(parsed.graph, {x}));
  return Ran{outputs[0], known.lookup(parsed.graph.getOutput().getOperand(0))};
}

/// Largest difference of the whole's output from what the halves' join to.
double difference(const Ran &whole, const Ran &first, const Ran &second) {
  using Combination = BatchDependence::Combination;
  const BatchDependence &d = whole.dependence;
  const int64_t inner = [&] {
    int64_t n = 1;
    for (size_t k = d.hasRows() ? static_cast<size_t>(d.dim) : 0;
         k < whole.output.shape().size(); ++k)
      n *= whole.output.shape()[k];
    return n;
  }();
  const double *a = first.output.as<double>(), *b = second.output.as<double>();
  double largest = 0;
  for (int64_t k = 0; k < whole.output.numElements(); ++k) {
    double joined = a[d.hasRows() ? 0 : k];
    if (d.hasRows()) {
      const int64_t half = inner / 2, within = k % inner;
      joined = (within < half ? a : b)[k / inner * half + within % half];
    } else if (d.combination == Combination::sum) {
      joined = a[k] + b[k];
    } else if (d.combination == Combination::mean) {
      joined = (a[k] + b[k]) / 2;
    }
    const double expected = whole.output.as<double>()[k];
    largest = std::max(largest, std::abs(joined - expected) /
                                    std::max(1.0, std::abs(expected)));
  }
  return largest;
}

TEST(BatchCoupling, SaysOfRandomGraphsWhatTheNumbersSay) {
  using Combination = BatchDependence::Combination;
  int apart = 0, mixed = 0, joined = 0;
  int vain = 0; // mixed, and cancelled: the sum of a softmax
  for (unsigned seed = 0; seed < 3000; ++seed) {
    const RandomGraph graph(seed);
    SCOPED_TRACE(graph.withRows(kBatch));
    auto whole = run(graph.withRows(kBatch), kBatch, rowsOf(0, kBatch, seed));
    auto first = run(graph.withRows(kHalf), kHalf, rowsOf(0, kHalf, seed));
    auto second = run(graph.withRows(kHalf), kHalf, rowsOf(kHalf, kHalf, seed));
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    ASSERT_TRUE(first.ok() && second.ok());
    const BatchDependence &d = whole->dependence;
    EXPECT_EQ(d.isMixed(), first->dependence.isMixed()) << "by the size";
    const bool isTold = d.hasRows() || d.combination == Combination::sum ||
                        d.combination == Combination::mean;
    if (!isTold || (d.isMixed() && !d.hasRows()))
      continue;
    // One number for all rows, given to each of them, has their number in its
    // shape: nothing to compare with.
    if (!d.hasRows() && whole->output.shape() != first->output.shape())
      continue;
    // Of mixed rows a half may have others than half of them, where they were
    // cut at fixed positions before.
    if (d.hasRows() &&
        whole->output.numElements() != 2 * first->output.numElements()) {
      EXPECT_TRUE(d.isMixed());
      continue;
    }
    const double by = difference(*whole, *first, *second);
    if (d.isMixed())
      vain += by < 1e-6;
    else
      EXPECT_LT(by, 1e-9);
    ++(d.isMixed() ? mixed : d.hasRows() ? apart : joined);
    if (HasFailure())
      break;
  }
  EXPECT_LT(vain, mixed / 20);
  EXPECT_GT(apart, 300);
  EXPECT_GT(mixed, 300);
  EXPECT_GT(joined, 50);
}

} // namespace

// A model's own loss over microbatches: each form that is seen through, held
// against numbers (2, 2 and 1 rows of a batch of 5, the first two of them
// ignored, add up to the whole batch's loss), and each that is not, with why.
#include "passes/differentiate/BatchLoss.h"
#include "passes/partition/Passes.h"
#include "test/unit/support/GraphInterpreter.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace pipec;
using namespace pipec::pipe;
using pipec::pipe::testing::GraphInterpreter;
using Kind = BatchLossStep::Kind;

namespace {

constexpr int64_t kBatch = 5, kRows = 2, kClasses = 4;

struct Val {
  std::string name, type;
};

/// A graph of inputs x [rows, 4], l (labels), m (mask) and weights w (a
/// parameter), c (a buffer) and p (a parameter) of 4, as text.
class Net {
public:
  explicit Net(int64_t rows)
      : rows(rows), x{"%x", t({rows, kClasses})},
        labels{"%l", t({rows}, "i64")}, mask{"%m", t({rows})} {}

  static std::string t(const std::vector<int64_t> &shape,
                       const std::string &element = "f64") {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += std::to_string(size) + "x";
    return text + element + ">";
  }
  Val op(const std::string &head, const std::vector<Val> &operands,
         const std::string &type, const std::string &tail = "") {
    std::string names, types;
    for (const Val &v : operands) {
      names += (names.empty() ? " " : ", ") + v.name;
      types += (types.empty() ? "" : ", ") + v.type;
    }
    return line("pipe." + head + names + (tail.empty() ? "" : " " + tail) +
                    " : (" + types + ") -> " + type,
                type);
  }
  Val number(const std::string &value, const std::string &type) {
    return line("pipe.constant dense<" + value + "> : " + type, type);
  }
  Val real(double value) { return number(std::to_string(value), t({})); }
  Val weight(const std::string &name) {
    return line("pipe.load_weight @" + name + " : " + t({kClasses}),
                t({kClasses}));
  }
  Val sum(const Val &v, const std::string &kind = "sum") {
    const std::string dims = v.type == x.type ? "[0, 1]" : "[0]";
    return op("reduce " + kind, {v}, t({}), "dims " + dims);
  }
  Val mean(const Val &v) { return sum(v, "mean"); }
  Val mul(const Val &a, const Val &b) { return op("mul", {a, b}, wider(a, b)); }
  Val add(const Val &a, const Val &b) { return op("add", {a, b}, wider(a, b)); }
  Val div(const Val &a, const Val &b) { return op("div", {a, b}, wider(a, b)); }

  /// Scores, and the square of each.
  Val scores() { return mul(x, weight("w")); }
  Val squares() {
    Val z = scores();
    return mul(z, z);
  }
  /// -log p of each label, 0 of an ignored one; `counts`: what each counts, by
  /// class weights `classes` where those are given.
  Val picked(Val &counts, const std::string &classes = "") {
    Val minus = number("-100", t({}, "i64")), zero = number("0", t({}, "i64"));
    Val ignored = op("compare eq", {labels, minus}, t({rows}, "i1"));
    Val safe = op("select", {ignored, zero, labels}, labels.type);
    Val column = op("reshape", {safe}, t({rows, 1}, "i64"),
                    "to [" + std::to_string(rows) + ", 1]");
    Val log = op("log_softmax", {scores()}, x.type, "dim 1");
    Val taken = op("gather_elements", {log, column}, t({rows, 1}), "dim 1");
    Val loss = op("neg",
                  {op("reshape", {taken}, mask.type,
                      "to [" + std::to_string(rows) + "]")},
                  mask.type);
    Val each = classes.empty()
                   ? real(1)
                   : op("gather", {weight(classes), safe}, mask.type, "dim 0");
    counts = op("select", {ignored, real(0), each}, mask.type);
    return mul(loss, counts);
  }

  std::string text(const Val &loss) const {
    auto weight = [](const char *name, const char *kind) {
      return std::string("pipe.weight @") + name + " " + kind +
             " : tensor<4xf64> from #pipe.source<\"m\", 0, 32>\n";
    };
    return weight("w", "parameter") + weight("c", "buffer") +
           weight("p", "parameter") + "pipe.graph @main(%x: " + x.type +
           ", %l: " + labels.type + ", %m: " + mask.type + ") -> " + loss.type +
           " {\n" + body + "  pipe.output " + loss.name + " : " + loss.type +
           "\n}\n";
  }

  const int64_t rows;
  const Val x, labels, mask;

private:
  std::string body;
  int count = 0;

  static std::string wider(const Val &a, const Val &b) {
    return a.type.size() >= b.type.size() ? a.type : b.type;
  }
  Val line(const std::string &text, const std::string &type) {
    Val value{"%v" + std::to_string(count++), type};
    body += "  " + value.name + " = " + text + "\n";
    return value;
  }
};

/// Graphs of several sizes have their types of one context.
struct Parsed {
  explicit Parsed(const std::string &text) {
    static mlir::MLIRContext context;
    context.loadDialect<PipeDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (module)
      graph = findGraph(*module);
  }
  mlir::OwningOpRef<mlir::ModuleOp> module;
  GraphOp graph;
};

using Form = std::function<Val(Net &)>;

std::string textOf(const Form &form, int64_t rows) {
  Net net(rows);
  Val loss = form(net);
  return net.text(loss);
}

/// The batch's rows [first, first + rows).
std::vector<Tensor> inputs(int64_t first, int64_t rows) {
  const int64_t labels[kBatch] = {-100, -100, 0, 3, 1};
  const double mask[kBatch] = {0, 0, 1, .5, 1};
  Tensor x = pipe::testing::makeTensor({DType::F64, {kBatch, kClasses}}, 5);
  return {*Tensor::copyOf({DType::F64, {rows, kClasses}},
                          x.as<double>() + first * kClasses),
          *Tensor::copyOf({DType::I64, {rows}}, labels + first),
          *Tensor::copyOf({DType::F64, {rows}}, mask + first)};
}

TensorMap weights() {
  const double w[] = {.5, -1, 2, .25}, c[] = {1, 2, .5, 3};
  const TensorType type{DType::F64, {kClasses}};
  return {{"w", *Tensor::copyOf(type, w)},
          {"c", *Tensor::copyOf(type, c)},
          {"p", *Tensor::copyOf(type, c)}};
}

StatusOr<double> lossOf(GraphOp graph, const std::vector<Tensor> &inputs) {
  PIPEC_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                         GraphInterpreter(weights()).run(graph, inputs));
  return *outputs[0].as<double>();
}

void addTo(std::vector<Tensor> &totals, const std::vector<Tensor> &parts) {
  if (totals.empty())
    for (const Tensor &part : parts) {
      totals.push_back(*Tensor::allocate(part.type()));
      std::memset(totals.back().data(), 0, part.byteSize());
    }
  for (size_t i = 0; i < parts.size(); ++i)
    for (int64_t k = 0; k < parts[i].numElements(); ++k)
      switch (parts[i].dtype()) {
      case DType::F64:
        totals[i].as<double>()[k] += parts[i].as<double>()[k];
        break;
      case DType::F32:
        totals[i].as<float>()[k] += parts[i].as<float>()[k];
        break;
      case DType::I64:
        totals[i].as<int64_t>()[k] += parts[i].as<int64_t>()[k];
        break;
      default:
        FAIL() << parts[i].type().str();
      }
}

/// The sum over the microbatches.
double lossInParts(const Form &form, const BatchLoss &loss, GraphOp looked) {
  struct Microbatch {
    int64_t first, rows;
    std::unique_ptr<Parsed> text;
    mlir::OwningOpRef<mlir::ModuleOp> totals;
  };
  std::vector<Microbatch> list;
  std::vector<Tensor> totals;
  for (int64_t first = 0; first < kBatch; first += kRows) {
    const int64_t rows = std::min(kRows, kBatch - first);
    list.push_back({first, rows, nullptr, {}});
    list.back().text = std::make_unique<Parsed>(textOf(form, rows));
    auto made =
        applyBatchLoss(*list.back().text->module, loss, 0, rows, looked, kRows);
    EXPECT_TRUE(mlir::succeeded(made));
    if (mlir::failed(made))
      return 0;
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*list.back().text->module)));
    if (!*made)
      continue;
    EXPECT_TRUE(mlir::succeeded(mlir::verify(**made)));
    auto parts =
        GraphInterpreter(weights()).run(findGraph(**made), inputs(first, rows));
    EXPECT_TRUE(parts.ok()) << parts.status().message();
    addTo(totals, *parts);
  }
  double sum = 0;
  for (Microbatch &m : list) {
    std::vector<Tensor> all = inputs(m.first, m.rows);
    all.insert(all.end(), totals.begin(), totals.end());
    auto part = lossOf(m.text->graph, all);
    EXPECT_TRUE(part.ok()) << part.status().message();
    sum += part.ok() ? *part : 0;
  }
  return sum;
}

BatchLoss find(const Form &form, Parsed &looked, bool isOfAnySize = true) {
  EXPECT_TRUE(looked.graph) << textOf(form, kRows);
  Parsed whole(textOf(form, kBatch));
  EXPECT_TRUE(whole.graph) << textOf(form, kBatch);
  if (!looked.graph || !whole.graph)
    return {};
  BatchLoss loss =
      findBatchLoss(looked.graph, 0, isOfAnySize ? whole.graph : GraphOp());
  loss.lostBy +=
      loss.lostAt ? " at " + loss.lostAt->getName().getStringRef().str() : "";
  return loss;
}

/// Also where the file allows one size alone, if `alone`.
void expectWhole(const Form &form, bool isRowMean = false, bool alone = true) {
  Parsed whole(textOf(form, kBatch));
  auto want = lossOf(whole.graph, inputs(0, kBatch));
  ASSERT_TRUE(want.ok()) << want.status().message();
  for (bool isOfAnySize : {true, false}) {
    if (!isOfAnySize && !alone)
      continue;
    Parsed looked(textOf(form, kRows));
    BatchLoss loss = find(form, looked, isOfAnySize);
    ASSERT_TRUE(loss.isSeen()) << loss.lostBy << "\n" << textOf(form, kRows);
    EXPECT_EQ(loss.isRowMean, isRowMean);
    // A share of the rows is of f32, as in models.
    EXPECT_NEAR(lossInParts(form, loss, looked.graph), *want,
                1e-6 * std::abs(*want))
        << textOf(form, kRows);
  }
}

void expectLost(const Form &form, const std::string &why) {
  Parsed looked(textOf(form, kRows));
  BatchLoss loss = find(form, looked);
  EXPECT_NE(loss.lostBy.find(why), std::string::npos)
      << "'" << loss.lostBy << "'\n"
      << textOf(form, kRows);
  EXPECT_FALSE(loss.isRowMean);
}

Val crossEntropy(Net &n, const std::string &classes = "") {
  Val counts, loss = n.picked(counts, classes);
  return n.div(n.sum(loss), n.sum(counts));
}
Val masked(Net &n) {
  Val rows = n.op("reduce mean", {n.squares()}, n.mask.type, "dims [1]");
  return n.sum(n.mul(rows, n.mask));
}

TEST(BatchLoss, IsTheWholeBatchsOfLabelsThatCount) {
  expectWhole([](Net &n) { return crossEntropy(n); });
  expectWhole([](Net &n) { return crossEntropy(n, "c"); });
  // Summed alone.
  expectWhole([](Net &n) {
    Val counts;
    return n.sum(n.picked(counts));
  });
  // Counted as integers, as the exporter of torch.export has `ok.sum()`.
  expectWhole([](Net &n) {
    Val counts, loss = n.picked(counts);
    Val whole = n.op("convert", {counts}, n.t({n.rows}, "i64"));
    Val count = n.op("reduce sum", {whole}, n.t({}, "i64"), "dims [0]");
    return n.div(n.sum(loss), n.op("convert", {count}, n.t({})));
  });
}

TEST(BatchLoss, IsTheWholeBatchsOfMeans) {
  expectWhole([](Net &n) { return n.mean(n.squares()); }, /*isRowMean=*/true);
  // Means over rows first, and last.
  expectWhole(
      [](Net &n) {
        return n.mean(
            n.op("reduce mean", {n.squares()}, n.mask.type, "dims [1]"));
      },
      /*isRowMean=*/true);
  expectWhole(
      [](Net &n) {
        Val columns =
            n.op("reduce mean", {n.squares()}, n.t({kClasses}), "dims [0]");
        return n.sum(columns);
      },
      /*isRowMean=*/true);
  // A sum over the number of rows, which is a constant of each size.
  expectWhole(
      [](Net &n) {
        return n.div(n.sum(n.squares()), n.real(static_cast<double>(n.rows)));
      },
      /*isRowMean=*/false, /*alone=*/false);
}

TEST(BatchLoss, IsTheWholeBatchsOfMasks) {
  expectWhole([](Net &n) { return n.div(masked(n), n.sum(n.mask)); });
  // At least 1; a little more; mean over mean; weights that sum to 1.
  expectWhole([](Net &n) {
    return n.div(masked(n),
                 n.op("maximum", {n.sum(n.mask), n.real(1)}, n.t({})));
  });
  expectWhole([](Net &n) {
    return n.div(masked(n), n.add(n.sum(n.mask), n.real(.001)));
  });
  expectWhole([](Net &n) {
    Val rows = n.op("reduce mean", {n.squares()}, n.mask.type, "dims [1]");
    return n.div(n.mean(n.mul(rows, n.mask)), n.mean(n.mask));
  });
  expectWhole([](Net &n) {
    Val rows = n.op("reduce mean", {n.squares()}, n.mask.type, "dims [1]");
    return n.sum(n.mul(rows, n.div(n.mask, n.sum(n.mask))));
  });
}

TEST(BatchLoss, IsTheWholeBatchsOfWeightedTerms) {
  auto terms = [](Net &n) {
    Val decay = n.op("reduce sum", {n.mul(n.weight("w"), n.weight("w"))},
                     n.t({}), "dims [0]");
    Val data = n.add(n.mul(crossEntropy(n), n.real(.7)),
                     n.mul(n.mean(n.squares()), n.real(.2)));
    return n.add(data, n.mul(decay, n.real(.01)));
  };
  expectWhole(terms, /*isRowMean=*/false, /*alone=*/false);
  // A learned weight of a term; a difference; terms in one tensor.
  expectWhole(
      [](Net &n) {
        Val scale = n.op("reduce sum", {n.weight("w")}, n.t({}), "dims [0]");
        return n.op("sub", {n.mul(n.mean(n.squares()), scale), scale}, n.t({}));
      },
      /*isRowMean=*/true);
  expectWhole([](Net &n) {
    auto row = [&](const Val &v) {
      return n.op("reshape", {v}, n.t({1}), "to [1]");
    };
    Val both = n.op("concat", {row(n.mean(n.squares())), row(crossEntropy(n))},
                    n.t({2}), "dim 0");
    return n.op("reduce mean", {both}, n.t({}), "dims [0]");
  });
  // Of parameters alone.
  expectWhole([](Net &n) { return n.sum(n.weight("w")); }, /*isRowMean=*/true);
}

TEST(BatchLoss, LosesWhatIsNoSumOverRows) {
  expectLost(
      [](Net &n) { return n.op("exp", {crossEntropy(n)}, n.t({})); },
      "makes of a sum over the batch what is no sum over it at pipe.exp");
  expectLost(
      [](Net &n) { return n.op("sqrt", {n.mean(n.squares())}, n.t({})); },
      "no sum over it at pipe.sqrt");
  expectLost([](Net &n) { return n.sum(n.squares(), "max"); },
             "neither a sum nor a mean at pipe.reduce");
  expectLost(
      [](Net &n) {
        Val mean = n.mean(n.squares());
        return n.mul(mean, mean);
      },
      "multiplies two sums over the batch at pipe.mul");
  expectLost(
      [](Net &n) { return n.div(n.sum(n.squares()), n.sum(n.scores())); },
      "divides by a sum over the batch that parameters are in (w; ");
  expectLost([](Net &n) { return n.div(n.real(1), n.mean(n.squares())); },
             "what is no sum over it at pipe.div");
  expectLost(
      [](Net &n) {
        Val centred = n.op("sub", {n.scores(), n.mean(n.scores())}, n.x.type);
        return n.mean(n.mul(centred, centred));
      },
      "brings a sum over the batch back to its rows at pipe.sub");
  expectLost(
      [](Net &n) {
        Val z = n.scores();
        Val pairs = n.op("dot_general", {z, z}, n.t({n.rows, n.rows}),
                         "contract [1] x [1]");
        return n.op("reduce mean", {pairs}, n.t({}), "dims [0, 1]");
      },
      "makes of the rows what is not followed at pipe.dot_general");
  expectLost([](Net &n) { return n.squares(); }, "has a value for each row");
}

TEST(BatchLoss, NamesTheParameterInADivisor) {
  expectLost([](Net &n) { return crossEntropy(n, "p"); },
             "parameters are in (p; --freeze p where that is not to be "
             "trained) at pipe.div");
  // Two of them are no class weights.
  expectLost(
      [](Net &n) {
        return n.div(n.sum(n.squares()),
                     n.sum(n.mul(n.mul(n.x, n.weight("p")), n.weight("w"))));
      },
      "parameters are in at pipe.div");
}

TEST(BatchLoss, LosesWhatDependsOnTheNumberOfRows) {
  // A count in f16.
  expectLost(
      [](Net &n) {
        Val half = n.op("convert", {n.mask}, n.t({n.rows}, "f16"));
        Val count = n.op("reduce sum", {half}, n.t({}, "f16"), "dims [0]");
        return n.div(masked(n), n.op("convert", {count}, n.t({})));
      },
      "counts the batch in a type that is not added up at pipe.reduce");
  // The root of the number of rows.
  expectLost(
      [](Net &n) {
        return n.mul(n.mean(n.squares()), n.real(n.rows == kRows ? 1.4 : 2.2));
      },
      "follows from the number of rows in a way that is not followed");
  // A weight for each place in the batch.
  expectLost(
      [](Net &n) {
        Val places = n.op("convert",
                          {n.number(n.rows == 2   ? "[0, 1]"
                                    : n.rows == 1 ? "[0]"
                                                  : "[0, 1, 2, 3, 4]",
                                    n.t({n.rows}, "i64"))},
                          n.mask.type);
        return n.sum(n.mul(n.mask, places));
      },
      "depends on the positions of rows in the batch");
  // x[:2], which is all of a microbatch of two.
  expectLost(
      [](Net &n) {
        Val z = n.squares();
        if (n.rows > 2)
          z = n.op("slice", {z}, n.t({2, kClasses}),
                   "[0, 0] to [2, 4] by [1, 1]");
        return n.op("reduce sum", {z}, n.t({}), "dims [0, 1]");
      },
      "is another operation at other sizes of a microbatch at pipe.reduce");
  // One size alone: a number may be that of the rows.
  Parsed looked(textOf(
      [](Net &n) {
        return n.div(n.sum(n.squares()), n.real(static_cast<double>(n.rows)));
      },
      kRows));
  EXPECT_NE(findBatchLoss(looked.graph, 0, GraphOp())
                .lostBy.find("may be the size of the batch"),
            std::string::npos);
}

/// Of a run nothing is counted first: an output is a sum, a mean, or neither.
TEST(BatchLoss, TellsSumsFromMeansWithoutTotals) {
  auto kindOf = [](const Form &form) {
    Parsed looked(textOf(form, kRows)), whole(textOf(form, kBatch));
    BatchLoss loss = findBatchLoss(looked.graph, 0, whole.graph,
                                   /*takesTotals=*/false);
    return loss.isSum ? "sum" : loss.isRowMean ? "mean" : loss.lostBy;
  };
  auto rows = [](Net &n) { return n.real(static_cast<double>(n.rows)); };
  EXPECT_EQ(kindOf([](Net &n) { return n.sum(n.squares()); }), "sum");
  EXPECT_EQ(kindOf([](Net &n) { return n.sum(n.mask); }), "sum");
  EXPECT_EQ(kindOf([](Net &n) { return n.div(n.sum(n.mask), n.real(3)); }),
            "sum");
  EXPECT_EQ(kindOf([](Net &n) { return n.mean(n.squares()); }), "mean");
  EXPECT_EQ(kindOf([](Net &n) { return n.mean(n.mask); }), "mean");
  EXPECT_EQ(kindOf([](Net &n) { return n.add(n.mean(n.mask), n.real(1)); }),
            "mean");
  EXPECT_EQ(kindOf([&](Net &n) { return n.div(n.sum(n.squares()), rows(n)); }),
            "mean");
  EXPECT_EQ(kindOf([](Net &n) { return crossEntropy(n); }),
            "divides by a sum over the batch");
  EXPECT_EQ(kindOf([&](Net &n) {
              return n.div(n.sum(n.squares()),
                           n.op("sqrt", {rows(n)}, n.t({})));
            }),
            "follows from the number of rows in a way that is not followed");
  // A sum and a mean together are neither.
  EXPECT_EQ(kindOf([](Net &n) {
              return n.add(n.sum(n.squares()), n.mean(n.squares()));
            }),
            "");
}

TEST(BatchLoss, NeedsTwoRows) {
  Form form = [](Net &n) { return n.mean(n.squares()); };
  Parsed one(textOf(form, 1));
  EXPECT_EQ(findBatchLoss(one.graph, 0, GraphOp()).lostBy,
            "has too few rows to tell");
}

/// Steps of one graph, another loss: nothing is changed.
TEST(BatchLoss, IsNotAppliedToAnotherGraph) {
  Form mean = [](Net &n) { return n.mean(n.squares()); };
  Parsed looked(textOf(mean, kRows));
  BatchLoss loss = findBatchLoss(looked.graph, 0, GraphOp());
  ASSERT_TRUE(loss.isSeen());
  ASSERT_EQ(loss.steps.size(), 1u);
  EXPECT_EQ(loss.steps[0].kind, Kind::share);
  for (const Form &other :
       {Form([](Net &n) { return n.sum(n.squares()); }),
        Form([](Net &n) { return n.op("exp", {n.real(1)}, n.t({})); }),
        Form([](Net &n) {
          return n.op("reduce mean", {n.squares()}, n.t({kClasses}),
                      "dims [0]");
        })}) {
    Parsed text(textOf(other, kRows));
    std::string before, after;
    llvm::raw_string_ostream(before) << *text.module;
    EXPECT_TRUE(mlir::failed(
        applyBatchLoss(*text.module, loss, 0, kRows, looked.graph, kRows)));
    llvm::raw_string_ostream(after) << *text.module;
    EXPECT_EQ(before, after);
  }
}

} // namespace

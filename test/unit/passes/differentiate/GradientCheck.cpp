// See GradientCheck.h.
#include "test/unit/passes/differentiate/GradientCheck.h"

#include "passes/differentiate/Passes.h"
#include "passes/partition/Passes.h"
#include "test/unit/ir/ParseGraph.h"
#include "test/unit/passes/differentiate/TrainingInterpreter.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;

namespace pipec::test {
namespace {

// "tensor<2xf64>, tensor<f64>" apart.
std::vector<std::string> typesIn(std::string text) {
  std::vector<std::string> types;
  for (size_t at = 0; (at = text.find("tensor<", at)) != std::string::npos;) {
    size_t end = text.find('>', at);
    types.push_back(text.substr(at, end + 1 - at));
    at = end;
  }
  return types;
}

bool isFloat(const std::string &type) {
  return type.find("f64>") != std::string::npos ||
         type.find("f32>") != std::string::npos ||
         type.find("f16>") != std::string::npos;
}

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// A float tensor type with f64 elements.
std::string widened(std::string type) {
  for (const char *element : {"bf16>", "f16>", "f32>"})
    type = replaced(type, element, "f64>");
  return type;
}

// The graph that a case stands for, uncut and with one stage.
class CaseGraph {
public:
  CaseGraph(const GradientCase &test, MLIRContext &context)
      : test(test), context(context) {
    size_t types = test.op.rfind(": (");
    size_t arrow = test.op.rfind(" -> ");
    for (std::string &type : typesIn(test.op.substr(types, arrow - types)))
      operands.push_back({std::string(1, char('a' + operands.size())), type});
    results = typesIn(test.op.substr(arrow));
    for (size_t i = 0; i < operands.size(); ++i)
      fill(i);
  }

  struct Operand {
    std::string name, type;
    Tensor tensor = {};
    bool trained() const { return isFloat(type); }
  };
  std::vector<Operand> operands;
  bool libraries = false; // take the runtime's kernels

  /// Loss and gradients. `only`: the one operand that is trained; -1 for all.
  StatusOr<Step> step(const std::string &recompute, int only) {
    OwningOpRef<ModuleOp> module = parse(only);
    if (!module)
      return invalidArgument("the case does not parse");
    PassManager manager(&context);
    pipe::DifferentiateOptions options;
    options.recompute = recompute;
    manager.addPass(pipe::createDifferentiate(options));
    if (failed(manager.run(*module)))
      return invalidArgument("the case is not differentiated");
    return run(*module);
  }

  /// The loss alone, of the graph as it is.
  StatusOr<double> loss() {
    if (!forward)
      forward = parse(-1);
    PIPEC_ASSIGN_OR_RETURN(Step step, run(*forward));
    return *step.loss.as<double>();
  }

private:
  const GradientCase test;
  MLIRContext &context;
  std::vector<std::string> results;
  OwningOpRef<ModuleOp> forward;

  void fill(size_t i) {
    auto type = cast<RankedTensorType>(parseType(operands[i].type, &context));
    Tensor tensor = *Tensor::allocate(pipe::toTensorType(type));
    const Numbers given = i < test.values.size() ? test.values[i] : Numbers();
    uint64_t state = 0x9E3779B97F4A7C15u * (i + 1);
    for (size_t k = 0; k < size_t(tensor.numElements()); ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      double random = static_cast<double>(state >> 11) / (uint64_t(1) << 53);
      double value = given.empty() ? test.low + (test.high - test.low) * random
                                   : given[k % given.size()];
      set(tensor, k, value);
    }
    operands[i].tensor = tensor;
  }

  static void set(Tensor &tensor, size_t k, double value) {
    switch (tensor.dtype()) {
    case DType::F64:
      tensor.as<double>()[k] = value;
      return;
    case DType::F32:
      tensor.as<float>()[k] = static_cast<float>(value);
      return;
    case DType::F16:
      tensor.as<uint16_t>()[k] = floatToHalf(static_cast<float>(value));
      return;
    case DType::BF16:
      tensor.as<uint16_t>()[k] = floatToBfloat16(static_cast<float>(value));
      return;
    case DType::I64:
      tensor.as<int64_t>()[k] = static_cast<int64_t>(value);
      return;
    case DType::I32:
      tensor.as<int32_t>()[k] = static_cast<int32_t>(value);
      return;
    default:
      tensor.as<uint8_t>()[k] = value != 0;
    }
  }

  // The float results, weighed with fixed numbers and summed.
  std::string lossText() {
    std::string text, total;
    for (size_t r = 0; r < results.size(); ++r) {
      if (!isFloat(results[r]))
        continue;
      const std::string n = std::to_string(r);
      std::string value = "%r", type = results[r];
      if (results.size() > 1)
        value += "#" + n;
      if (widened(type) != type) {
        type = widened(type);
        text += "    %c" + n + " = pipe.convert " + value + " : (" +
                results[r] + ") -> " + type + "\n";
        value = "%c" + n;
      }
      std::string dims;
      auto rank = cast<RankedTensorType>(parseType(type, &context)).getRank();
      for (int64_t d = 0; d < rank; ++d)
        dims += (d ? ", " : "") + std::to_string(d);
      text += "    %m" + n + " = pipe.mul " + value + ", %w" + n + " : (" +
              type + ", " + type + ") -> " + type + "\n    %l" + n +
              " = pipe.reduce sum %m" + n + " dims [" + dims + "] : (" + type +
              ") -> tensor<f64>\n";
      total = "%l" + n;
    }
    return text + "    pipe.yield " + total + " : tensor<f64>\n";
  }

  // Weights of the results in the loss, as inputs behind the operands.
  std::vector<Operand> lossWeights() {
    std::vector<Operand> weights;
    for (size_t r = 0; r < results.size(); ++r) {
      if (!isFloat(results[r]))
        continue;
      const std::string type = widened(results[r]);
      Operand weight{"w" + std::to_string(r), type};
      auto tensor = cast<RankedTensorType>(parseType(type, &context));
      weight.tensor = *Tensor::allocate(pipe::toTensorType(tensor));
      for (int64_t k = 0; k < tensor.getNumElements(); ++k)
        weight.tensor.as<double>()[k] =
            0.3 + std::fmod(static_cast<double>(k + 1) * 0.7548776662, 1.0) *
                      (k % 3 == 1 ? -1.5 : 1.0);
      weights.push_back(weight);
    }
    return weights;
  }

  OwningOpRef<ModuleOp> parse(int only) {
    std::string weights, inputs, stage, loads;
    auto input = [&](const Operand &of) {
      inputs +=
          (inputs.empty() ? "" : ", ") + ("%in_" + of.name) + ": " + of.type;
      stage += (stage.empty() ? "%" : ", %") + of.name + " = %in_" + of.name +
               " : " + of.type;
    };
    for (auto [i, operand] : llvm::enumerate(operands)) {
      if (!operand.trained()) {
        input(operand);
        continue;
      }
      weights += "pipe.weight @" + operand.name +
                 " parameter : " + operand.type +
                 " from #pipe.source<\"m\", 0, " +
                 std::to_string(operand.tensor.byteSize()) + ">" +
                 (only < 0 || only == int(i) ? "" : " {pipe.frozen}") + "\n";
      loads += "    %" + operand.name + " = pipe.load_weight @" + operand.name +
               " : " + operand.type + "\n";
    }
    for (const Operand &weight : lossWeights())
      input(weight);
    const std::string bind =
        results.size() > 1 ? "%r:" + std::to_string(results.size()) : "%r";
    return pipe::testing::parseModule(
        context, weights + "pipe.graph @main(" + inputs +
                     ") -> tensor<f64> {\n  %0 = pipe.stage 0 (" + stage +
                     ") -> tensor<f64> {\n" + loads + "    " + test.before +
                     "\n    " + bind + " = " + test.op + "\n" + lossText() +
                     "  }\n  pipe.output %0 : tensor<f64>\n}\n");
  }

  StatusOr<Step> run(ModuleOp module) {
    std::vector<Tensor> inputs;
    TensorMap weights;
    for (const Operand &operand : operands) {
      if (operand.trained())
        weights[operand.name] = operand.tensor;
      else
        inputs.push_back(operand.tensor);
    }
    for (const Operand &weight : lossWeights())
      inputs.push_back(weight.tensor);
    return runStep(pipe::findGraph(module), inputs, weights, libraries);
  }
};

// Changes element `k` of a float tensor by `by`; what it was before.
template <typename T> double nudge(Tensor &tensor, size_t k, double by) {
  T *at = tensor.as<T>() + k;
  double before = static_cast<double>(*at);
  *at = static_cast<T>(before + by);
  return before;
}

double lossWith(CaseGraph &graph, Tensor &tensor, size_t k, double by) {
  const bool wide = tensor.dtype() == DType::F64;
  double before =
      wide ? nudge<double>(tensor, k, by) : nudge<float>(tensor, k, by);
  StatusOr<double> loss = graph.loss();
  if (wide)
    tensor.as<double>()[k] = before;
  else
    tensor.as<float>()[k] = static_cast<float>(before);
  EXPECT_TRUE(loss.ok()) << loss.status().message();
  return loss.ok() ? *loss : std::nan("");
}

void compareWithDifferences(const GradientCase &test, CaseGraph &graph,
                            const Gradients &gradients) {
  for (CaseGraph::Operand &operand : graph.operands) {
    if (!operand.trained())
      continue;
    Numbers got;
    if (auto at = gradients.find(operand.name); at != gradients.end()) {
      EXPECT_EQ(at->second.size(), 1u) << "one use, one site";
      got = sumOfSites(at->second);
    }
    got.resize(static_cast<size_t>(operand.tensor.numElements()));
    for (size_t k = 0; k < got.size(); ++k) {
      const double up = lossWith(graph, operand.tensor, k, test.step),
                   down = lossWith(graph, operand.tensor, k, -test.step);
      const double expected = (up - down) / (2 * test.step);
      const double scale = std::max(1.0, std::abs(expected));
      EXPECT_NEAR(got[k], expected, test.tolerance * scale)
          << "operand %" << operand.name << ", element " << k;
    }
  }
}

} // namespace

void checkGradients(const GradientCase &test) {
  SCOPED_TRACE(test.op);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<pipe::PipeDialect>();
  CaseGraph graph(test, context);
  StatusOr<Step> step = graph.step("none", -1);
  ASSERT_TRUE(step.ok()) << step.status().message();
  compareWithDifferences(test, graph, step->gradients);
  StatusOr<Step> again = graph.step("full", -1);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(sameBits(step->gradients, again->gradients)) << "recomputed";
  if (step->gradients.size() < 2)
    return;
  for (size_t i = 0; i < graph.operands.size(); ++i) {
    const std::string &name = graph.operands[i].name;
    if (!step->gradients.count(name))
      continue;
    StatusOr<Step> alone = graph.step("none", static_cast<int>(i));
    ASSERT_TRUE(alone.ok()) << alone.status().message();
    EXPECT_TRUE(sameBits({{name, step->gradients[name]}}, alone->gradients))
        << "with all but %" << name << " frozen";
  }
}

namespace {

// The case with another element type; attributes stay f64.
GradientCase withElement(GradientCase test, const std::string &element) {
  for (std::string *text : {&test.op, &test.before})
    for (const char *before : {"x", "<"})
      *text =
          replaced(*text, std::string(before) + "f64>", before + element + ">");
  return test;
}

void checkOtherTypes(const GradientCase &test) {
  SCOPED_TRACE(test.op);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<pipe::PipeDialect>();
  StatusOr<Step> exact = CaseGraph(test, context).step("none", -1);
  ASSERT_TRUE(exact.ok()) << exact.status().message();
  for (const char *element : {"f32", "f16", "bf16"}) {
    CaseGraph graph(withElement(test, element), context);
    graph.libraries = element[1] == '3';
    StatusOr<Step> step = graph.step("none", -1);
    ASSERT_TRUE(step.ok()) << element << ": " << step.status().message();
    EXPECT_EQ(step->gradients.size(), exact->gradients.size());
    for (const auto &[name, sites] : step->gradients) {
      const Numbers got = sumOfSites(sites),
                    expected = sumOfSites(exact->gradients[name]);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t k = 0; k < got.size(); ++k) {
        if (graph.libraries)
          EXPECT_NEAR(got[k], expected[k],
                      2e-4 * std::max(1.0, std::abs(expected[k])))
              << "operand %" << name << ", element " << k;
        else
          EXPECT_TRUE(std::isfinite(got[k]))
              << element << " operand %" << name << ", element " << k;
      }
    }
  }
}

} // namespace

void checkOtherTypes(const GradientCases &tests) {
  for (const GradientCase &test : tests)
    if (test.op.rfind("pipe.convert", 0) != 0)
      checkOtherTypes(test);
}

void checkGradients(const GradientCases &tests) {
  for (const GradientCase &test : tests)
    checkGradients(test);
}

} // namespace pipec::test

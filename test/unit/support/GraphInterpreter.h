// Runs a pipe.graph op by op with the reference kernels, before or after
// partitioning: the oracle that tests compare transformed graphs by.
//
// In: a verified graph, its inputs in argument order, weights by symbol.
// Out: the outputs in result order and the gradients, or the first kernel's
// error.
#ifndef PIPEC_TEST_UNIT_SUPPORT_GRAPHINTERPRETER_H
#define PIPEC_TEST_UNIT_SUPPORT_GRAPHINTERPRETER_H

#include "ir/OpDescs.h"
#include "ir/PipeOps.h"
#include "runtime/kernels/kernel.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>
#include <map>

namespace pipec::pipe::testing {

class GraphInterpreter {
public:
  /// `weights` holds parameters, buffers and the constants of files, by symbol;
  /// pool constants need no entry.
  explicit GraphInterpreter(TensorMap weights = {})
      : weights(std::move(weights)) {}

  /// Takes library kernels where the runtime would, from now on.
  void useLibraries() { libraries = true; }

  StatusOr<std::vector<Tensor>> run(GraphOp graph,
                                    const std::vector<Tensor> &inputs) {
    sites.clear();
    return runBlock(graph.getBody().front(), inputs);
  }

  /// What the last run's `pipe.gradient` ops got: weight, site, contribution.
  using SiteMap = std::map<std::string, std::map<int64_t, Tensor>>;
  const SiteMap &gradients() const { return sites; }

private:
  using Environment = llvm::DenseMap<mlir::Value, Tensor>;

  StatusOr<std::vector<Tensor>> runBlock(mlir::Block &block,
                                         const std::vector<Tensor> &inputs) {
    if (inputs.size() != block.getNumArguments())
      return invalidArgument("expected " +
                             std::to_string(block.getNumArguments()) +
                             " inputs, got " + std::to_string(inputs.size()));
    Environment values;
    for (auto [argument, tensor] :
         llvm::zip_equal(block.getArguments(), inputs)) {
      if (tensor.type() != toTensorType(argument.getType()))
        return invalidArgument("input has type " + tensor.type().str() +
                               ", expected " +
                               toTensorType(argument.getType()).str());
      values[argument] = tensor;
    }
    for (mlir::Operation &op : block.without_terminator()) {
      PIPEC_ASSIGN_OR_RETURN(std::vector<Tensor> results,
                             runOp(op, operandsOf(op, values)));
      for (auto [value, tensor] : llvm::zip_equal(op.getResults(), results))
        values[value] = tensor;
    }
    return operandsOf(*block.getTerminator(), values);
  }

  static std::vector<Tensor> operandsOf(mlir::Operation &op,
                                        const Environment &values) {
    std::vector<Tensor> operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    return operands;
  }

  StatusOr<std::vector<Tensor>> runOp(mlir::Operation &op,
                                      const std::vector<Tensor> &operands) {
    if (auto stage = mlir::dyn_cast<StageOp>(op))
      return runBlock(stage.getBody().front(), operands);
    // Transfers hand a value on; inference keeps what dropout would drop.
    auto dropout = mlir::dyn_cast<DropoutOp>(op);
    if (mlir::isa<TransferOp>(op) || (dropout && !dropout.getKey()))
      return operands;
    if (auto gradient = mlir::dyn_cast<GradientOp>(op)) {
      auto site = static_cast<int64_t>(gradient.getSite());
      if (!sites[gradient.getWeight().str()].emplace(site, operands[0]).second)
        return invalidArgument("a site stands twice");
      return std::vector<Tensor>();
    }
    if (std::optional<Tensor> constant = constantTensor(&op))
      return std::vector<Tensor>{*constant};
    if (auto load = mlir::dyn_cast<LoadWeightOp>(op)) {
      auto it = weights.find(load.getWeight().str());
      if (it == weights.end())
        return invalidArgument("no value for weight " + load.getWeight().str());
      return std::vector<Tensor>{it->second};
    }
    return libraries ? runWithLibraries(describe(&op), operands)
                     : evaluate(describe(&op), operands);
  }

  static StatusOr<std::vector<Tensor>>
  runWithLibraries(const OpDesc &desc, const std::vector<Tensor> &operands) {
    PIPEC_ASSIGN_OR_RETURN(auto kernel, KernelRegistry::get().create(desc));
    std::vector<TensorView> in, out;
    std::vector<Tensor> results;
    for (const Tensor &operand : operands)
      in.push_back(operand.view());
    for (const TensorType &type : desc.outputs) {
      PIPEC_ASSIGN_OR_RETURN(Tensor result, Tensor::allocate(type));
      out.push_back(result.view());
      results.push_back(std::move(result));
    }
    PIPEC_ASSIGN_OR_RETURN(
        Tensor scratch,
        Tensor::allocate(
            {DType::U8, {static_cast<int64_t>(kernel->scratchBytes())}}));
    PIPEC_RETURN_IF_ERROR(kernel->run(in, out, scratch.data()));
    return results;
  }

  TensorMap weights;
  SiteMap sites;
  bool libraries = false;
};

/// A tensor of `type` with values that depend on `seed` alone: small, of both
/// signs, integers for integer types.
inline Tensor makeTensor(const TensorType &type, uint64_t seed) {
  StatusOr<Tensor> tensor = Tensor::allocate(type);
  if (!tensor.ok())
    return {};
  uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (int64_t i = 0; i < type.numElements(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto draw = static_cast<int>((state >> 33) % 17) - 8;
    switch (type.dtype) {
    case DType::F32:
      tensor->as<float>()[i] = static_cast<float>(draw) * 0.37f;
      break;
    case DType::F64:
      tensor->as<double>()[i] = draw * 0.37;
      break;
    case DType::F16:
      tensor->as<uint16_t>()[i] = floatToHalf(static_cast<float>(draw) * 0.37f);
      break;
    case DType::BF16:
      tensor->as<uint16_t>()[i] =
          floatToBfloat16(static_cast<float>(draw) * 0.37f);
      break;
    case DType::Bool:
      tensor->as<uint8_t>()[i] = draw > 0;
      break;
    default: {
      // Little-endian: the low bytes of the two's complement.
      int64_t value = draw;
      size_t size = byteSize(type.dtype);
      std::memcpy(tensor->as<uint8_t>() + i * size, &value, size);
    }
    }
  }
  return *tensor;
}

/// Whether types and all bits agree.
inline bool sameBits(const Tensor &a, const Tensor &b) {
  return a.type() == b.type() &&
         (a.byteSize() == 0 ||
          std::memcmp(a.data(), b.data(), a.byteSize()) == 0);
}

} // namespace pipec::pipe::testing

#endif // PIPEC_TEST_UNIT_SUPPORT_GRAPHINTERPRETER_H

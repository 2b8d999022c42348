// Finds the kernel for an op. In: an OpDesc, which may come from an untrusted
// package. Out: a kernel, or an error that names op, types and origin.
// Tests: test/unit/kernels/RegistryTest.cpp.
#include "runtime/kernels/kernel.h"

#include <cstdlib>

namespace pipec {
namespace {

// "add(f32[2x3], f32[3]) -> f32[2x3], of Add node_1 (fc, model.py:3)"
std::string signature(const OpDesc &op) {
  std::string text = op.name + "(";
  for (size_t i = 0; i < op.inputs.size(); ++i)
    text += (i ? ", " : "") + op.inputs[i].str();
  text += ") ->";
  for (const TensorType &type : op.outputs)
    text += " " + type.str();
  const std::string origin = op.origin.str();
  return origin.empty() ? text : text + ", of " + origin;
}

Status checkTypes(const OpDesc &op) {
  for (const auto *types : {&op.inputs, &op.outputs})
    for (const TensorType &type : *types)
      if (StatusOr<size_t> bytes = checkedByteSize(type); !bytes.ok())
        return bytes.status();
  return Status();
}

} // namespace

const KernelRegistry &KernelRegistry::get() {
  static const KernelRegistry registry = [] {
    KernelRegistry r;
    registerReferenceKernels(r);
    registerOneDnnKernels(r);
    return r;
  }();
  return registry;
}

void KernelRegistry::add(const std::string &op, KernelSet set,
                         KernelFactory factory,
                         std::function<bool(const OpDesc &)> supports) {
  entries[op].push_back({set, std::move(factory), std::move(supports)});
}

StatusOr<std::unique_ptr<Kernel>>
KernelRegistry::create(const OpDesc &op, bool referenceOnly) const {
  if (Status status = checkTypes(op); !status.ok())
    return status.withPrefix(signature(op));
  const auto found = entries.find(op.name);
  if (found == entries.end())
    return unsupported(signature(op) + ": there is no kernel for op '" +
                       op.name + "' in this build");
  Status last = unsupported("no kernel takes these types");
  for (KernelSet set : {KernelSet::OneDnn, KernelSet::Reference}) {
    if (referenceOnly && set != KernelSet::Reference)
      continue;
    for (const Entry &entry : found->second) {
      if (entry.set != set || (entry.supports && !entry.supports(op)))
        continue;
      try {
        StatusOr<std::unique_ptr<Kernel>> kernel = entry.factory(op);
        if (kernel.ok())
          return kernel;
        last = kernel.status();
      } catch (const std::exception &e) {
        last =
            resourceExhausted(std::string("out of memory (") + e.what() + ")");
      }
      // A library that turns an op down leaves it to the next set.
      if (last.getCode() != StatusCode::Unsupported)
        return last.withPrefix(signature(op));
    }
  }
  return last.withPrefix(signature(op));
}

bool KernelRegistry::hasReference(const std::string &op) const {
  const auto found = entries.find(op);
  if (found == entries.end())
    return false;
  for (const Entry &entry : found->second)
    if (entry.set == KernelSet::Reference)
      return true;
  return false;
}

std::vector<std::string> KernelRegistry::ops() const {
  std::vector<std::string> names;
  for (const auto &entry : entries)
    if (hasReference(entry.first))
      names.push_back(entry.first);
  return names;
}

StatusOr<std::vector<Tensor>> evaluate(const OpDesc &op,
                                       const std::vector<Tensor> &inputs) {
  if (inputs.size() != op.inputs.size())
    return invalidArgument(signature(op) + ": " +
                           std::to_string(inputs.size()) +
                           " tensors given for its operands");
  std::vector<TensorView> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].type() != op.inputs[i])
      return invalidArgument(signature(op) + ": operand " + std::to_string(i) +
                             " is given as " + inputs[i].type().str());
    in.push_back(inputs[i].view());
  }
  PIPEC_ASSIGN_OR_RETURN(const std::unique_ptr<Kernel> kernel,
                         KernelRegistry::get().create(op, true));
  std::vector<Tensor> results;
  for (const TensorType &type : op.outputs) {
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

} // namespace pipec

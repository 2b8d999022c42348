// What a file does not say that training would need to know, as far as the file
// shows that it is missing: see OnnxFrontend.h. In: a model and its weights.
// Out: names. Tests: test/e2e/cli/exporter.test.
#include "frontends/onnx/TrainingLosses.h"
#include "frontends/onnx/Text.h"

#include <algorithm>
#include <cctype>

namespace pipec::onnx {
namespace {

/// The last parts of the names of torch.nn's parameters.
bool isUsualParameter(const std::string &name) {
  const std::string leaf = leafName(name);
  for (const char *part : {"weight", "bias", "original"})
    if (leaf.find(part) != std::string::npos)
      return true;
  return false;
}

/// Values that fx makes of numbers alone.
bool isOfNumbers(const std::string &name) {
  for (const char *start :
       {"zeros", "ones", "full", "scalar_tensor", "arange", "lift_fresh"})
    if (startsWith(name, start))
      return true;
  return false;
}

/// Initializers that have the name of a value that an fx node reads: its own
/// fx node ran at export.
void findComputed(const Model &model, const WeightTable &table,
                  TrainingLosses &losses) {
  const auto readers = readersOf(model);
  for (size_t i = 0; i < readers.size(); ++i) {
    const Initializer &tensor = model.initializers[i];
    const int decl = table.find(tensor.name);
    const bool constant =
        decl < 0 || table.decls[decl].kind == WeightKind::Constant;
    if (!constant || isOfNumbers(tensor.name) ||
        !isFloat(tensor.source.type.dtype) ||
        model.signature.byPlaceholder.count(tensor.name))
      continue;
    const bool isValue =
        std::any_of(readers[i].begin(), readers[i].end(), [&](Reader reader) {
          const auto &names = model.calls[reader.node].references;
          return std::find(names.begin(), names.end(), tensor.name) !=
                 names.end();
        });
    if (isValue)
      losses.computed.push_back(tensor.name + " " + tensor.source.type.str());
  }
}

/// aten.embedding(weight, indices, padding_idx).
void findPadding(const Model &model, TrainingLosses &losses) {
  for (const FxCall &call : model.calls) {
    if (call.target.find("aten.embedding.") == std::string::npos ||
        call.args.size() < 3 || call.args[2].empty() ||
        !std::isdigit(static_cast<unsigned char>(call.args[2][0])) ||
        call.references.empty())
      continue;
    const auto entry = model.signature.byPlaceholder.find(call.references[0]);
    losses.padding.push_back(
        "row " + call.args[2] + " of " +
        (entry == model.signature.byPlaceholder.end()
             ? call.references[0]
             : model.signature.entries[entry->second].target));
  }
}

} // namespace

TrainingLosses findTrainingLosses(const Model &model,
                                  const WeightTable &table) {
  TrainingLosses losses;
  if (model.signature.empty()) {
    if (model.proto.producer_name() == "pytorch")
      for (const WeightDecl &decl : table.decls)
        if (decl.kind == WeightKind::Parameter && !isUsualParameter(decl.name))
          losses.maybeBuffers.push_back(decl.name);
    return losses;
  }
  findComputed(model, table, losses);
  findPadding(model, losses);
  return losses;
}

} // namespace pipec::onnx

// See ExportRemarks.h.
#include "compiler/ExportRemarks.h"

#include <algorithm>

namespace pipec {
namespace {

/// "a, b, ..." of at most `most`.
std::string firstOf(const std::vector<std::string> &names, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (i ? ", " : "") + names[i];
  return text + (names.size() > most ? ", ..." : "");
}

bool isNumber(const std::string &name) { return name.rfind("onnx::", 0) == 0; }

std::string describeComputed(const frontend::ComputedTensor &tensor) {
  const std::string names = firstOf(tensor.parameters, 4);
  const bool several = tensor.parameters.size() != 1;
  std::string what =
      tensor.certain  ? "from " + names + ", which is not trained through it"
      : names.empty() ? "if from parameters, they are not trained through it"
                      : "if from parameters (" + names +
                            (several ? " or others), they are" : "), it is") +
                            " not trained through it";
  return "'" + tensor.name + "', which " + tensor.where +
         " reads, was computed at export: " + what +
         "; export with optimize=False";
}

} // namespace

std::string describeFolded(const std::vector<std::string> &folded,
                           bool training) {
  return "the exporter folded or left out " + std::to_string(folded.size()) +
         (folded.size() == 1 ? " parameter or buffer ("
                             : " parameters or buffers (") +
         firstOf(folded, training ? folded.size() : 3) +
         "): " + (training ? "not trained" : "this file serves inference") +
         "; to keep them export with optimize=False, or with dynamo=False, "
         "training=TrainingMode.PRESERVE and do_constant_folding=False; where "
         "one is another name of a parameter that is left: --tie NAME=NAME" +
         (std::any_of(folded.begin(), folded.end(), isNumber)
              ? "; a number may stand for what was made of a parameter that is "
                "left, which then lacks a part of its gradient"
              : "");
}

Status checkLost(const std::string &path,
                 const frontend::LostParameters &lost) {
  if (lost.names.empty() || lost.names.size() * 10 < lost.all)
    return {};
  return invalidArgument(
      path + ": the exporter folded " + std::to_string(lost.names.size()) +
      " of " + std::to_string(lost.all) +
      " parameters into other tensors; they cannot be trained, and what is "
      "saved would lack them: " +
      firstOf(lost.names, lost.names.size()) +
      "; export the model in training mode (model.train()) and with "
      "optimize=False, or with dynamo=False, "
      "training=TrainingMode.PRESERVE and do_constant_folding=False; "
      "--allow-folded trains what is left");
}

std::vector<std::string>
describePartial(const std::vector<std::string> &missing,
                const std::vector<std::string> &guessedNames) {
  constexpr size_t kShown = 10;
  std::vector<std::string> lines;
  if (!missing.empty() && std::all_of(missing.begin(), missing.end(), isNumber))
    lines.push_back("what is saved may lack tensors of the model's state_dict: "
                    "the model file has numbers for " +
                    std::to_string(missing.size()) +
                    ", which may be parameters or what was made of some (" +
                    firstOf(missing, kShown) + ")");
  else if (!missing.empty())
    lines.push_back("what is saved is not the model's whole state_dict: " +
                    std::to_string(missing.size()) +
                    " of its tensors are not in the model file (" +
                    firstOf(missing, kShown) + ")");
  if (!guessedNames.empty())
    lines.push_back("the names of " + std::to_string(guessedNames.size()) +
                    " saved parameters may not be PyTorch's, the model file "
                    "has numbers for them (" +
                    firstOf(guessedNames, kShown) +
                    "); --names STATE_DICT.safetensors proves them");
  return lines;
}

std::string describeStillStatistics(const std::vector<std::string> &modules) {
  return "the running statistics of " + firstOf(modules, 8) +
         " never move: their momentum in the file is 1, which the exporter "
         "writes for momentum=None (a cumulative average) and for 0; give the "
         "modules another one before the export";
}

std::vector<std::string> describe(const frontend::TrainingLosses &losses) {
  std::vector<std::string> lines;
  for (const frontend::ComputedTensor &tensor : losses.computed)
    lines.push_back(describeComputed(tensor));
  const auto &buffers = losses.possibleBuffers;
  if (!buffers.empty())
    lines.push_back("this file does not tell buffers from parameters, all are "
                    "trained: " +
                    firstOf(buffers, buffers.size()) + "; --freeze '" +
                    buffers[0] +
                    "' keeps one as it is, and a file of dynamo=True tells");
  const auto &guessed = losses.guessedNames;
  if (!guessed.empty())
    lines.push_back(
        "the file has numbers for the names of " +
        std::to_string(guessed.size()) +
        (guessed.size() == 1 ? " parameter" : " parameters") +
        ", which are taken from the modules that read them (" +
        firstOf(guessed, 3) +
        "); what was made of a parameter at export looks alike, and that "
        "parameter then lacks a part of its gradient: to be sure, "
        "export with do_constant_folding=False or dynamo=True");
  for (const auto &[name, row] : losses.paddedTables)
    lines.push_back("row " + std::to_string(row) + " of " + name +
                    " is zero, as nn.Embedding's padding_idx leaves one; a "
                    "file of dynamo=False does not say so, and the row is "
                    "trained: export with dynamo=True");
  return lines;
}

} // namespace pipec

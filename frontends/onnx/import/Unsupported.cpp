// See Unsupported.h. The advice names options of torch.onnx.export, since that
// is where the files come from; what each exporter writes for a layer was seen
// with PyTorch 2.15.
#include "frontends/onnx/import/Unsupported.h"

#include "frontends/common/Text.h"
#include "frontends/onnx/ops/OpTable.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

/// A kind of operator: which ones, what they are, what to do about them.
struct Kind {
  /// Operators between spaces, or, with `byDomain`, domains.
  const char *members;
  const char *advice;
  bool byDomain = false;
};

constexpr Kind kKinds[] = {
    {" LSTM GRU RNN ",
     "recurrent layers: write the steps as a Python loop of a fixed length "
     "over "
     "nn.LSTMCell, nn.GRUCell or nn.RNNCell, which both exporters write as "
     "matrix products; the parameters are the same, under the cell's names"},
    {" If Loop Scan ",
     "control flow: export the nn.Module itself, not what torch.jit.script "
     "made of it, and with dynamo=True: conditions and loops over sizes are "
     "then decided at export; keep dynamic only the dimensions that have to be "
     "(squeeze() of a dynamic dimension is an If)"},
    {" SequenceMap ",
     "a function over a list of tensors: write it for each tensor of the list "
     "in a Python loop of a fixed length, which the exporters write out"},
    {" Optional OptionalGetElement OptionalHasElement ",
     "values that may be absent: export the model for the one case, with the "
     "tensor as an input or without it"},
    {" GridSample AffineGrid ",
     "sampling at computed positions: write it out (the positions by "
     "multiplication and addition, the four neighbours by torch.gather over "
     "the "
     "flattened image, and their weighted sum), or sample before the model and "
     "pass the result as an input"},
    {" RoiAlign MaxRoiPool NonMaxSuppression ",
     "detection: export backbone and heads without proposals and "
     "post-processing, and run these on the model's outputs"},
    {" MaxUnpool DeformConv Col2Im CenterCropPad Upsample ",
     "image operators: write them in others, as F.unfold, scatter, "
     "F.conv_transpose2d (a fixed kernel does F.fold), slices, F.interpolate"},
    {" QuantizeLinear DequantizeLinear DynamicQuantizeLinear QLinearConv "
     "QLinearMatMul ConvInteger MatMulInteger ",
     "quantised operators: export the model as it was before quantisation, in "
     "f32, f16 or bf16"},
    {" StringConcat StringSplit StringNormalizer RegexFullMatch "
     "TfIdfVectorizer ImageDecoder ",
     "text and files: prepare them (tokenise, decode) before the model, and "
     "pass numbers as its inputs"},
    {" DFT STFT MelWeightMatrix HannWindow HammingWindow BlackmanWindow ",
     "spectra: compute them before the model, or multiply by buffers that hold "
     "cosines and sines (a window or a mel matrix is such a buffer, too)"},
    {" RandomNormal RandomNormalLike RandomUniform RandomUniformLike "
     "Bernoulli Multinomial ",
     "random numbers: draw them before the model and pass them as an input; "
     "for dropout export nn.Dropout, which training knows"},
    {" Unique Compress ",
     "results whose size depends on data: pipec plans memory for fixed sizes; "
     "multiply by a mask, or do it before or after the model"},
    {" Det ", "linear algebra: compute it before or after the model"},
    {" com.microsoft com.microsoft.nchwc com.microsoft.experimental "
     "com.ms.internal.nhwc ",
     "operators of ONNX Runtime, which it or its tools put in place of several "
     "standard ones: take the file as the exporter wrote it, before it was "
     "optimised for ONNX Runtime",
     true},
    {" ai.onnx.ml ",
     "operators of classical machine learning (trees, scalers, encoders): run "
     "them before or after the model",
     true},
    {" ai.onnx.training ai.onnx.preview.training ",
     "operators of ONNX's own training: give the model of inference; pipec "
     "train adds loss, gradients and update",
     true},
    {" org.pytorch.aten aten prim ",
     "operators of PyTorch that the exporter did not translate: export without "
     "operator_export_type=ONNX_FALLTHROUGH or ONNX_ATEN_FALLBACK, or with "
     "dynamo=True",
     true},
    {" pkg.onnxscript.torch_lib pkg.onnxscript.torch_lib.common ",
     "calls of the exporter's functions: inline them with "
     "onnx.inliner.inline_local_functions",
     true},
};

constexpr char kOwnDomain[] =
    "operators of a domain of their own: write the function in standard "
    "operators, and give it to the exporter (custom_translation_table with "
    "dynamo=True, torch.onnx.register_custom_op_symbolic else)";
constexpr char kOther[] =
    "write them in other operators, or leave them out of the exported model";

struct Missing {
  int count = 0, first = 0;
};

bool isDefaultDomain(const std::string &domain) {
  return domain.empty() || domain == "ai.onnx";
}

bool isMember(const Kind &kind, const std::string &name) {
  return std::string(kind.members).find(" " + name + " ") != std::string::npos;
}

std::string adviceFor(const ::onnx::NodeProto &node) {
  const bool isStandard = isDefaultDomain(node.domain());
  if (isStandard && findImporter(node.op_type(), kNewestOpset))
    return "of a newer opset: export with opset_version=" +
           std::to_string(oldestOpsetOf(node.op_type())) + " or newer";
  for (const Kind &kind : kKinds)
    if (kind.byDomain != isStandard &&
        isMember(kind, isStandard ? node.op_type() : node.domain()))
      return kind.advice;
  return isStandard ? kOther : kOwnDomain;
}

std::string nameOf(const ::onnx::NodeProto &node) {
  return isDefaultDomain(node.domain()) ? node.op_type()
                                        : node.domain() + "::" + node.op_type();
}

std::string placeOf(const Model &model, const Missing &entry) {
  const Origin &origin = model.origins[entry.first];
  std::string text = std::to_string(entry.count) +
                     (entry.count == 1 ? " node, '" : " nodes, first '") +
                     origin.node + "'";
  if (!origin.module.empty())
    text += " in module " + origin.module;
  if (!origin.file.empty())
    text += ", " + origin.file + ":" + std::to_string(origin.line);
  return text;
}

} // namespace

Status checkSupported(const Model &model) {
  std::map<std::string, Missing> missing;
  for (int n = 0; n < model.graph().node_size(); ++n) {
    const auto &node = model.graph().node(n);
    if (isDefaultDomain(node.domain()) &&
        findImporter(node.op_type(), model.opset))
      continue;
    Missing &entry = missing[nameOf(node)];
    if (entry.count++ == 0)
      entry.first = n;
  }
  if (missing.empty())
    return Status();
  std::vector<std::string> places;
  // By advice, in the order of the operators' names.
  std::vector<std::pair<std::string, std::vector<std::string>>> advised;
  for (const auto &[name, entry] : missing) {
    places.push_back(name + " (" + placeOf(model, entry) + ")");
    const std::string advice = adviceFor(model.graph().node(entry.first));
    auto at = std::find_if(advised.begin(), advised.end(),
                           [&](const auto &a) { return a.first == advice; });
    if (at == advised.end())
      at = advised.insert(at, {advice, {}});
    at->second.push_back(name);
  }
  std::string text = model.path +
                     ": operators that pipec does not support at opset " +
                     std::to_string(model.opset) + ": " + joined(places);
  for (const auto &[advice, names] : advised)
    text += "\n  " + joined(names) + ": " + advice;
  return unsupported(text);
}

} // namespace pipec::onnx

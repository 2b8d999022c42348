// Recognises files that people have beside models: see FileKind.h. In: the
// bytes of any file. Out: a text for people.
// Tests: test/e2e/cli/kinds.test.
#include "frontends/FileKind.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace pipec::frontend {
namespace {

/// Names of a zip's members stand in it as they are.
constexpr uint64_t kMostScanned = 1 << 20;

const char *const kExport = "export the model in PyTorch: torch.onnx.export("
                            "model, args, 'model.onnx', dynamo=True)";
const char *const kLoadAndExport =
    "load it into the model in PyTorch and export that: torch.onnx.export("
    "model, args, 'model.onnx', dynamo=True)";

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

/// Members of a zip say who made it.
std::string describeZip(std::string_view text) {
  const std::string_view head = text.substr(0, kMostScanned);
  const std::string_view tail =
      text.substr(text.size() - std::min<size_t>(text.size(), kMostScanned));
  auto has = [&](std::string_view name) {
    return head.find(name) != head.npos || tail.find(name) != tail.npos;
  };
  if (has("archive_format") || has("serialized_exported_program") ||
      has("models/model.json"))
    return std::string("a program of torch.export (.pt2); load it with "
                       "torch.export.load, and ") +
           "hand it to torch.onnx.export(program, f='model.onnx')";
  if (has("/code/") || has("constants.pkl"))
    return std::string("a TorchScript file (.pt); ") + kExport;
  if (has("data.pkl"))
    return std::string("what torch.save wrote (.pt, .pth, .bin): weights or "
                       "objects, and no graph; ") +
           kLoadAndExport;
  if (has("metadata.json") && has("config.json"))
    return std::string("a Keras file (.keras); export it as ONNX with tf2onnx");
  return "a zip archive; give the .onnx file that is in it";
}

bool isSafetensors(std::string_view text) {
  if (text.size() < 10)
    return false;
  uint64_t header = 0;
  for (int i = 7; i >= 0; --i)
    header = header << 8 | static_cast<uint8_t>(text[i]);
  return header <= text.size() - 8 && text[8] == '{' &&
         (text[9] == '"' || text[9] == '}' || text[9] == ' ');
}

/// TensorFlow's SavedModel and GraphDef are protobuf as ONNX is.
bool isTensorFlow(std::string_view text) {
  const std::string_view head = text.substr(0, kMostScanned);
  return head.find("saved_model_schema_version") != head.npos ||
         head.find("Placeholder") != head.npos ||
         head.find("ReadVariableOp") != head.npos ||
         (head.find("serve") != head.npos &&
          head.find("VarHandleOp") != head.npos);
}

} // namespace

std::string describeOtherFile(const uint8_t *data, uint64_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  if (text.empty())
    return "an empty file";
  if (begins(text, "PK\3\4") || begins(text, "PK\5\6"))
    return describeZip(text);
  if (begins(text, "GGUF") || begins(text, "ggjt") || begins(text, "lmgg"))
    return std::string("a GGUF file of llama.cpp, weights without a graph; "
                       "take the model that it was made of, and ") +
           kExport;
  if (begins(text, "\x89HDF\r\n"))
    return "an HDF5 file (.h5), as Keras writes it; load it in Keras and "
           "export it as ONNX with tf2onnx";
  if (isSafetensors(text))
    return std::string("a safetensors file, weights without a graph (train "
                       "--weights reads them); ") +
           kLoadAndExport;
  if (begins(text, "\x80\2") || begins(text, "\x80\3") ||
      begins(text, "\x80\4") || begins(text, "\x80\5"))
    return std::string("a Python pickle, as torch.save wrote it of old (.pt, "
                       ".pth, .bin): weights or objects, and no graph; ") +
           kLoadAndExport;
  if (begins(text, "\x93NUMPY"))
    return "a NumPy array (.npy); pipec needs a model";
  if (text.size() > 8 && text.substr(4, 4) == "TFL3")
    return "a TensorFlow Lite file; export the model that it was made of as "
           "ONNX";
  if (text.size() > 8 && text.substr(4, 4) == "ORTM")
    return "a file in ONNX Runtime's own format (.ort); give the .onnx file "
           "that it was made of";
  if (begins(text, "\x1f\x8b") || begins(text, "BZh") ||
      begins(text, "\xfd"
                   "7zXZ") ||
      begins(text, "\x28\xb5\x2f\xfd"))
    return "compressed; unpack it and give the .onnx file";
  if (begins(text, "version https://git-lfs"))
    return "a pointer of Git LFS, and not the file itself; fetch it with 'git "
           "lfs pull'";
  if (begins(text, "ML\xefR") || begins(text, "MLIR"))
    return "MLIR bytecode; pipec reads ONNX";
  if (begins(text, "\x7f"
                   "ELF"))
    return "a program or library; give a .onnx file";
  if (isTensorFlow(text))
    return "a graph of TensorFlow (.pb); export it as ONNX with tf2onnx";
  const std::string_view start = text.substr(0, 512);
  const bool isText = std::all_of(start.begin(), start.end(), [](char c) {
    return static_cast<uint8_t>(c) >= ' ' || c == '\n' || c == '\r' ||
           c == '\t';
  });
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (isText && first != text.npos && text[first] == '<')
    return "a page in HTML or XML, such as what a failed download leaves; "
           "fetch the file again";
  if (isText && first != text.npos &&
      (text[first] == '{' || text[first] == '['))
    return "JSON; give the .onnx file";
  return isText ? "text; give the .onnx file" : "";
}

} // namespace pipec::frontend

// PyTorch's graph signature and fx nodes, read from metadata text: see
// Metadata.h.
//
// In: the strings that torch.onnx writes. Out: GraphSignature, FxCall.
// Tests: test/unit/frontends/MetadataTest.cpp.
#include "frontends/onnx/metadata/Metadata.h"

#include "frontends/common/Text.h"

#include <cctype>
#include <cstring>
#include <sstream>

namespace pipec::onnx {

using namespace frontend;

const std::string *findMetadata(
    const google::protobuf::RepeatedPtrField<::onnx::StringStringEntryProto>
        &entries,
    const std::string &key) {
  for (const auto &entry : entries)
    if (entry.key() == key)
      return &entry.value();
  return nullptr;
}

/// A line "p_a_weight: PARAMETER target='a.weight'" of the signature.
static void parseSignatureLine(const std::string &line,
                               GraphSignature &signature) {
  size_t colon = line.find(": ");
  size_t target = line.find("target='");
  if (colon == std::string::npos)
    return;
  signature.placeholders.insert(line.substr(0, colon));
  if (target == std::string::npos)
    return;
  std::string rest = line.substr(colon + 2);
  bool parameter = startsWith(rest, "PARAMETER");
  bool constant = startsWith(rest, "CONSTANT_TENSOR");
  if (!parameter && !constant && !startsWith(rest, "BUFFER"))
    return;
  target += 8;
  size_t close = line.find('\'', target);
  if (close == std::string::npos)
    return;
  GraphSignature::Entry entry;
  entry.target = line.substr(target, close - target);
  bool temporary =
      constant || line.find("persistent=False", close) != std::string::npos;
  entry.kind = parameter   ? GraphSignature::Kind::Parameter
               : temporary ? GraphSignature::Kind::Temporary
                           : GraphSignature::Kind::Buffer;
  size_t index = signature.entries.size();
  if (!signature.byTarget.emplace(entry.target, index).second)
    return;
  signature.byPlaceholder[line.substr(0, colon)] = index;
  signature.entries.push_back(std::move(entry));
}

GraphSignature parseGraphSignature(const std::string &text) {
  GraphSignature signature;
  signature.present = true;
  std::istringstream lines(text);
  for (std::string line;
       std::getline(lines, line) && !startsWith(line, "# outputs");)
    parseSignatureLine(line, signature);
  return signature;
}

static void collectReferences(const std::string &text,
                              std::vector<std::string> &names) {
  for (size_t pos = text.find('%'); pos != std::string::npos;
       pos = text.find('%', pos + 1)) {
    size_t end = pos + 1;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) ||
            text[end] == '_'))
      ++end;
    names.push_back(text.substr(pos + 1, end - pos - 1));
  }
}

/// The parts of a list that commas part, up to the bracket that closes it;
/// `pos` is put there.
static std::vector<std::string> splitArguments(const std::string &text,
                                               size_t &pos) {
  std::vector<std::string> parts;
  std::string current;
  auto flush = [&] {
    size_t first = current.find_first_not_of(' ');
    if (first != std::string::npos)
      parts.push_back(current.substr(first));
    current.clear();
  };
  int depth = 0;
  for (; pos < text.size(); ++pos) {
    char c = text[pos];
    if (depth == 0 && (c == ')' || c == '}'))
      break;
    depth +=
        (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (c == ',' && depth == 0)
      flush();
    else
      current.push_back(c);
  }
  flush();
  return parts;
}

std::vector<std::string> parseNameList(const std::string &text) {
  std::vector<std::string> names;
  for (size_t pos = text.find_first_of("'\""); pos != std::string::npos;
       pos = text.find_first_of("'\"", pos + 1)) {
    const size_t close = text.find(text[pos], pos + 1);
    if (close == std::string::npos)
      return {};
    names.push_back(text.substr(pos + 1, close - pos - 1));
    pos = close;
  }
  return names;
}

std::map<std::string, std::vector<std::string>>
readFoldedValues(const ::onnx::GraphProto &graph) {
  std::map<std::string, std::vector<std::string>> folded;
  for (const auto &value : graph.value_info())
    if (const std::string *text = findMetadata(
            value.metadata_props(), "pkg.onnxscript.optimizer.folded_from"))
      folded[value.name()] = parseNameList(*text);
  return folded;
}

FxCall parseFxCall(const std::string &text) {
  FxCall call;
  size_t target = text.find("target=");
  size_t args = text.find("](args = (");
  if (target == std::string::npos || args == std::string::npos || args < target)
    return call;
  call.target = text.substr(target + 7, args - target - 7);
  size_t pos = args + 10;
  call.args = splitArguments(text, pos);
  constexpr const char *kKeywords = "), kwargs = {";
  if (text.compare(pos, std::strlen(kKeywords), kKeywords) == 0) {
    pos += std::strlen(kKeywords);
    for (const std::string &part : splitArguments(text, pos))
      if (size_t colon = part.find(": "); colon != std::string::npos)
        call.keywords[part.substr(0, colon)] = part.substr(colon + 2);
  }
  std::vector<std::string> made;
  if (startsWith(text, "%"))
    collectReferences(text.substr(0, text.find(' ')), made);
  if (!made.empty())
    call.result = made[0];
  collectReferences(text.substr(args), call.references);
  return call;
}

} // namespace pipec::onnx

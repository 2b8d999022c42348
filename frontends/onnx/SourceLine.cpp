// What a line of Python says that the exporter's graph does not: see
// Metadata.h.
//
// In: the line from a node's stack trace. Out: what it transposes. Tests:
// test/unit/frontends/MetadataTest.cpp.
#include "frontends/onnx/Metadata.h"

#include "frontends/onnx/Text.h"

#include <cctype>
#include <set>

namespace pipec::onnx {
namespace {

bool isPartOfName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

/// Behind the parenthesis that closes the one at `open`; npos where none does.
size_t behindCall(const std::string &line, size_t open) {
  int depth = 0;
  for (size_t pos = open; pos < line.size(); ++pos) {
    depth += line[pos] == '(' ? 1 : line[pos] == ')' ? -1 : 0;
    if (depth == 0)
      return pos + 1;
  }
  return std::string::npos;
}

} // namespace

std::optional<std::string> transposedInLine(const std::string &line) {
  static const std::set<std::string> kAttributes{"T", "mT"},
      kMethods{"permute", "swapaxes", "t", "transpose"};
  std::set<std::string> transposed;
  for (size_t start = 0; start < line.size();) {
    if (!isPartOfName(line[start])) {
      ++start;
      continue;
    }
    size_t end = start;
    while (end < line.size() && isPartOfName(line[end]))
      ++end;
    const std::string name = line.substr(start, end - start);
    start = end;
    const bool called = end < line.size() && line[end] == '(';
    if (!(called ? kMethods : kAttributes).count(leafName(name)))
      continue;
    const size_t behind = called ? behindCall(line, end) : end;
    if (behind == std::string::npos)
      return std::nullopt; // the call goes on in the next line
    const char next = behind < line.size() ? line[behind] : ' ';
    const std::string what = parentName(name);
    const size_t object = what.find('.');
    if (next != '.' && next != '[' && object != std::string::npos)
      transposed.insert(what.substr(object + 1));
    else
      return std::nullopt;
  }
  return transposed.size() == 1 ? std::optional(*transposed.begin())
                                : std::nullopt;
}

} // namespace pipec::onnx

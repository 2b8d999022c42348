// Small text helpers of the frontend's messages: see Text.h.
//
// In: names and shapes. Out: strings.
// Tests: test/unit/frontends/InputShapesTest.cpp and ImportTest.cpp through the
// messages.
#include "frontends/common/Text.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>

namespace pipec::frontend {

std::string placeOf(const std::string &path, const Origin &origin) {
  std::vector<std::string> parts{origin.op};
  if (!origin.module.empty())
    parts.push_back("module " + origin.module);
  if (!origin.file.empty())
    parts.push_back(origin.file + ":" + std::to_string(origin.line));
  return path + ": node '" + origin.node + "' (" + joined(parts) + ")";
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string joined(const std::vector<std::string> &parts,
                   const char *separator) {
  std::string text;
  for (const std::string &part : parts)
    text += (&part == &parts.front() ? "" : separator) + part;
  return text;
}

std::string didYouMean(const std::string &name,
                       const std::vector<std::string> &known) {
  constexpr size_t kLongest = 200, kMost = 3;
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string &candidate : known) {
    if (candidate.size() > kLongest || name.size() > kLongest)
      continue;
    size_t distance = llvm::StringRef(name).edit_distance(candidate);
    bool part = !name.empty() && candidate.find(name) != std::string::npos;
    if (part || distance <= std::max(name.size(), candidate.size()) / 3)
      near.push_back({distance, candidate});
  }
  std::sort(near.begin(), near.end());
  if (near.empty())
    return "";
  std::vector<std::string> shown;
  for (size_t i = 0; i < near.size() && i < kMost; ++i)
    shown.push_back(near[i].second);
  return "; did you mean " + joined(shown, " or ") + "?";
}

bool startsWith(const std::string &text, const std::string &prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::string inModule(const std::string &module, const std::string &leaf) {
  return module.empty() ? leaf : module + "." + leaf;
}

std::string leafName(const std::string &dotted) {
  size_t dot = dotted.rfind('.');
  return dot == std::string::npos ? dotted : dotted.substr(dot + 1);
}

std::string parentName(const std::string &dotted) {
  size_t dot = dotted.rfind('.');
  return dot == std::string::npos ? "" : dotted.substr(0, dot);
}

} // namespace pipec::frontend

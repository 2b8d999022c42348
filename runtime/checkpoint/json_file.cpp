// Reads JSON files with limits. In: a path. Out: an object, or an error.
// Tests: test/unit/checkpoint/WeightFilesTest.cpp.
#include "runtime/checkpoint/json_file.h"

#include "runtime/base/mapped_file.h"

#include <string_view>

namespace pipec {
namespace {

constexpr uint64_t kMostBytes = 64 << 20;
constexpr int kMostDepth = 32;

// The deepest nesting of brackets outside of strings; of text that is not JSON,
// some number that is no less than where a parser gives up.
int depthOf(std::string_view text) {
  int depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && (c == '{' || c == '['))
      deepest = std::max(deepest, ++depth);
    else if (!inString && (c == '}' || c == ']'))
      --depth;
  }
  return deepest;
}

} // namespace

StatusOr<nlohmann::json> readJsonObject(const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(const auto file, MappedFile::open(path));
  const std::string prefix = "'" + path + "': ";
  if (file->size() > kMostBytes)
    return dataLoss(prefix + std::to_string(file->size()) +
                    " bytes are too many for a JSON file (at most " +
                    std::to_string(kMostBytes) + ")");
  const std::string_view text(reinterpret_cast<const char *>(file->data()),
                              file->size());
  if (depthOf(text) > kMostDepth)
    return dataLoss(prefix + "nested more than " + std::to_string(kMostDepth) +
                    " deep");
  try {
    nlohmann::json value = nlohmann::json::parse(text.begin(), text.end());
    if (!value.is_object())
      return dataLoss(prefix + "expected a JSON object, got " +
                      value.type_name());
    return value;
  } catch (const std::exception &e) {
    return dataLoss(prefix + "not valid JSON (" + e.what() + ")");
  }
}

StatusOr<std::map<std::string, std::string>>
stringMapField(const nlohmann::json &object, const std::string &field) {
  const auto found = object.find(field);
  if (found == object.end() || !found->is_object())
    return dataLoss("field '" + field + "' is missing or not an object");
  std::map<std::string, std::string> result;
  for (const auto &item : found->items()) {
    if (!item.value().is_string())
      return dataLoss("'" + item.key() + "' in field '" + field +
                      "' is not a string");
    result[item.key()] = item.value().get<std::string>();
  }
  return result;
}

} // namespace pipec

// Module paths and source lines of nodes: see Metadata.h.
//
// In: node metadata of torch.onnx (dynamo), or node names of the
// TorchScript-based exporter. Out: dotted instance paths as PyTorch's
// named_modules gives them. Tests: test/unit/frontends/MetadataTest.cpp.
#include "frontends/onnx/metadata/Metadata.h"

#include "frontends/common/Text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace pipec::onnx {

using namespace frontend;

/// Scopes that torch invents for nodes that no module made.
constexpr const char *kNoModule = "_empty_nn_module_stack_from_metadata_hook";

/// Modules call each other, and Python ends calls at a depth of 1000: a path of
/// more parts is none of a model, and what is done for each module around an
/// operation would take the square of its length.
constexpr size_t kMostParts = 1000;

static std::optional<std::string> ofSomeModel(std::optional<std::string> path) {
  if (path && std::count(path->begin(), path->end(), '.') >=
                  static_cast<ptrdiff_t>(kMostParts))
    return std::nullopt;
  return path;
}

/// "shared@1.fc" is "shared.fc": the mark counts the calls of one module.
static std::string withoutCallMarks(const std::string &path) {
  std::string plain;
  for (size_t pos = 0; pos < path.size(); ++pos) {
    if (path[pos] != '@') {
      plain.push_back(path[pos]);
      continue;
    }
    while (pos + 1 < path.size() &&
           std::isdigit(static_cast<unsigned char>(path[pos + 1])))
      ++pos;
  }
  return plain;
}

static std::optional<std::string>
pathOf(const std::vector<std::string> &scopes) {
  if (scopes.size() < 2)
    return std::nullopt;
  const std::string &scope = scopes[scopes.size() - 2];
  if (scope == kNoModule)
    return std::nullopt;
  return withoutCallMarks(scope);
}

std::optional<std::string> modulePathOfScopes(const std::string &text) {
  return pathOf(parseNameList(text));
}

std::optional<std::string> modulePathOfNamespace(const std::string &text) {
  std::vector<std::string> scopes;
  for (size_t pos = 0; pos <= text.size();) {
    size_t end = std::min(text.find('/', pos), text.size());
    std::string part = text.substr(pos, end - pos);
    size_t colon = part.find(':');
    scopes.push_back(colon == std::string::npos ? part : part.substr(0, colon));
    pos = end + 1;
  }
  return pathOf(scopes);
}

std::optional<std::string> modulePathOfName(const std::string &name) {
  if (name.empty() || name[0] != '/')
    return std::nullopt;
  std::vector<std::string> segments;
  for (size_t pos = 1; pos <= name.size();) {
    size_t end = std::min(name.find('/', pos), name.size());
    segments.push_back(name.substr(pos, end - pos));
    pos = end + 1;
  }
  segments.pop_back(); // the op itself
  std::vector<std::string> path;
  for (const std::string &segment : segments) {
    // A child of a container is called by container and index: it stands for
    // both.
    if (!path.empty() && startsWith(segment, path.back() + "."))
      path.back() = segment;
    else
      path.push_back(segment);
  }
  return joined(path, ".");
}

/// The last 'File "x.py", line 12' of a stack trace: the innermost call.
static void readSourceLine(const std::string &trace, NodeMetadata &result) {
  size_t start = trace.rfind("File \"");
  if (start == std::string::npos)
    return;
  start += 6;
  size_t close = trace.find('"', start);
  size_t line = trace.find("line ", start);
  if (close == std::string::npos || line == std::string::npos)
    return;
  result.file = trace.substr(start, close - start);
  result.line = std::atoi(trace.substr(line + 5, 9).c_str());
}

NodeMetadata readNodeMetadata(const ::onnx::NodeProto &node) {
  NodeMetadata result;
  const auto &entries = node.metadata_props();
  if (const std::string *scopes =
          findMetadata(entries, "pkg.torch.onnx.name_scopes"))
    result.module = ofSomeModel(modulePathOfScopes(*scopes));
  else if (const std::string *text = findMetadata(entries, "namespace"))
    result.module = ofSomeModel(modulePathOfNamespace(*text));
  else
    result.module = ofSomeModel(modulePathOfName(node.name()));
  if (const std::string *call = findMetadata(entries, "pkg.torch.onnx.fx_node"))
    result.call = parseFxCall(*call);
  if (const std::string *trace =
          findMetadata(entries, "pkg.torch.onnx.stack_trace"))
    readSourceLine(*trace, result);
  return result;
}

static std::string commonModule(const std::string &a, const std::string &b) {
  if (a == b)
    return a;
  size_t start = 0, common = 0;
  while (start <= a.size() && start <= b.size()) {
    size_t endA = std::min(a.find('.', start), a.size());
    size_t endB = std::min(b.find('.', start), b.size());
    if (endA != endB || a.compare(0, endA, b, 0, endB) != 0)
      break;
    common = endA;
    start = endA + 1;
  }
  return a.substr(0, common);
}

std::vector<std::string>
completeModulePaths(const std::vector<NodeMetadata> &nodes) {
  std::vector<std::string> paths(nodes.size());
  std::vector<const std::string *> next(nodes.size(), nullptr);
  const std::string *known = nullptr;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].module)
      known = &*nodes[i].module;
    next[i] = known;
  }
  const std::string *previous = nullptr;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].module) {
      paths[i] = *nodes[i].module;
      previous = &*nodes[i].module;
    } else if (previous && next[i]) {
      paths[i] = commonModule(*previous, *next[i]);
    } else if (previous) {
      paths[i] = *previous;
    }
  }
  return paths;
}

} // namespace pipec::onnx

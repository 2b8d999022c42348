// From split points as users write them to cuts.
//
// A module's call is a run of ops whose path lies in the module. Exporters move
// single ops of other modules into such a run, so a run only counts as a new
// call when it starts as the call began: with the same operator of the same
// module. Tests: test/unit/passes/partition/SplitPointsTest.cpp,
// test/passes/partition/annotate*.mlir.
#include "passes/partition/PartitionPlan.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"

#include <algorithm>

namespace pipec::pipe {
namespace {

struct SplitPoint {
  std::string text; // as given
  std::string path;
  bool atEnd = false;
};

StatusOr<SplitPoint> parseSplitPoint(llvm::StringRef text) {
  SplitPoint point;
  point.text = text.str();
  auto [path, where] = text.rsplit(':');
  path = path.trim();
  where = where.trim();
  if (path.empty() ||
      !(where.equals_insensitive("END") || where.equals_insensitive("BEGIN")))
    return invalidArgument(
        "split '" + text.str() +
        "' is not of the form PATH:BEGIN or PATH:END, such as 'layer0:END'");
  point.path = path.str();
  point.atEnd = where.equals_insensitive("END");
  return point;
}

/// `pattern` against `path`, component by component: a `*` never crosses a dot.
bool matchesPath(llvm::StringRef pattern, llvm::StringRef path) {
  llvm::SmallVector<llvm::StringRef> want, have;
  pattern.split(want, '.');
  path.split(have, '.');
  if (want.size() != have.size())
    return false;
  for (auto [w, h] : llvm::zip(want, have)) {
    auto glob = llvm::GlobPattern::create(w);
    if (!glob) {
      llvm::consumeError(glob.takeError());
      return false;
    }
    if (!glob->match(h))
      return false;
  }
  return true;
}

/// All module paths that hold an op, with every enclosing one.
llvm::SetVector<std::string, std::vector<std::string>, std::set<std::string>>
modulePaths(const std::vector<GraphNode> &nodes) {
  llvm::SetVector<std::string, std::vector<std::string>, std::set<std::string>>
      paths;
  for (const GraphNode &node : nodes) {
    llvm::StringRef path = node.origin.module;
    for (size_t dot = path.find('.'); dot != llvm::StringRef::npos;
         dot = path.find('.', dot + 1))
      paths.insert(path.take_front(dot).str());
    if (!path.empty())
      paths.insert(path.str());
  }
  return paths;
}

std::string closestPaths(llvm::StringRef wanted,
                         llvm::ArrayRef<std::string> known) {
  std::vector<std::pair<unsigned, std::string>> ranked;
  for (const std::string &path : known)
    ranked.emplace_back(wanted.edit_distance(path), path);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](auto &a, auto &b) { return a.first < b.first; });
  if (ranked.empty())
    return "this model file has no module paths; give the name of a node";
  if (ranked.size() > 3)
    ranked.resize(3);
  std::string text = "closest: ";
  for (auto &[distance, path] : ranked)
    text += (text.back() == ' ' ? "" : ", ") + path;
  return text;
}

struct Call {
  size_t first = 0, last = 0; // into the nodes
};

/// The calls of the module at `path`.
std::vector<Call> callsOf(const std::vector<GraphNode> &nodes,
                          llvm::StringRef path) {
  std::vector<Call> calls;
  bool inside = false;
  for (size_t i = 0; i < nodes.size(); ++i) {
    bool in = isInModule(nodes[i].origin.module, path);
    if (in && !inside) {
      auto startsAs = [&](const Call &call) {
        const Origin &a = nodes[call.first].origin, &b = nodes[i].origin;
        return a.op == b.op && a.module == b.module;
      };
      if (calls.empty() || startsAs(calls.back()))
        calls.push_back({i, i});
    }
    if (in)
      calls.back().last = i;
    inside = in;
  }
  return calls;
}

/// Nodes called `name`: a split point may also name an op of the file.
std::vector<Call> opsNamed(const std::vector<GraphNode> &nodes,
                           llvm::StringRef name) {
  std::vector<Call> calls;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].origin.node != name)
      continue;
    if (calls.empty() || calls.back().last + 1 != i)
      calls.push_back({i, i});
    calls.back().last = i;
  }
  return calls;
}

} // namespace

StatusOr<PartitionPlan> planFromSplits(const std::vector<GraphNode> &nodes,
                                       const std::vector<std::string> &splits) {
  auto paths = modulePaths(nodes);
  std::vector<Cut> cuts;
  for (const std::string &text : splits) {
    PIPEC_ASSIGN_OR_RETURN(SplitPoint point, parseSplitPoint(text));
    std::vector<Call> calls;
    for (const std::string &path : paths)
      if (matchesPath(point.path, path))
        llvm::append_range(calls, callsOf(nodes, path));
    if (calls.empty())
      calls = opsNamed(nodes, point.path);
    if (calls.empty())
      return invalidArgument(
          "split '" + text + "': no module or op is called '" + point.path +
          "'; " + closestPaths(point.path, paths.getArrayRef()));
    for (const Call &call : calls) {
      int64_t position = point.atEnd ? nodes[call.last].origin.index + 1
                                     : nodes[call.first].origin.index;
      cuts.push_back({position, point.text});
    }
  }
  PartitionPlan plan = planFromCuts(std::move(cuts), nodes);
  PIPEC_RETURN_IF_ERROR(plan.verify(nodes));
  return plan;
}

} // namespace pipec::pipe

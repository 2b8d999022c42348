// Containers that are missing from the paths of nodes: see Metadata.h.
//
// The TorchScript-based exporter writes into a node's name the modules that
// were called. A container that never is (nn.ModuleDict, nn.ModuleList) is not
// among them: "h.0.ln" stands for "transformer.h.0.ln". And where two paths
// would be alike, or a module is called twice, the last component is numbered:
// "p.fc_1". The names of the initializers that nodes read still are whole.
//
// In: paths, names read. Out: whole paths where the names show them; a path of
// which they show nothing stays. Tests: test/unit/frontends/ContainersTest.cpp.
#include "frontends/onnx/metadata/Metadata.h"

#include "frontends/common/Text.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace pipec::onnx {

using namespace frontend;
namespace {

using Parts = std::vector<std::string>;

Parts partsOf(const std::string &path) {
  Parts parts;
  for (size_t pos = 0; pos <= path.size() && !path.empty();) {
    size_t end = std::min(path.find('.', pos), path.size());
    parts.push_back(path.substr(pos, end - pos));
    pos = end + 1;
  }
  return parts;
}

std::string pathOf(const Parts &parts, size_t count) {
  return joined({parts.begin(), parts.begin() + count}, ".");
}

bool isNumber(const std::string &text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isdigit(c); });
}

/// "fc_1" is a further "fc".
bool isCopyOf(const std::string &part, const std::string &original) {
  return part == original || (startsWith(part, original + "_") &&
                              isNumber(part.substr(original.size() + 1)));
}

/// A path as nodes have it, and the module that it stands for.
struct Evidence {
  Parts raw, whole;
  std::vector<size_t> at; // raw[i] stands for whole[at[i]]

  /// What the first `count` parts stand for.
  std::string prefix(size_t count) const {
    return count ? pathOf(whole, at[count - 1] + 1) : "";
  }
};

class Restorer {
public:
  Restorer(std::vector<std::string> &paths,
           const std::vector<std::vector<std::string>> &reads)
      : paths(paths), raw(paths), reads(reads) {
    for (const std::string &path : raw)
      for (Parts parts = partsOf(path); !parts.empty(); parts.pop_back())
        called.insert(joined(parts, "."));
  }
  void run();

private:
  bool mayBeLeftOut(const Parts &whole, size_t k) const;
  std::optional<Evidence> align(const std::string &path,
                                const std::string &module) const;
  void collect();
  void collectSecondCalls();
  const Evidence *evidenceOf(size_t node) const {
    auto found = evident.find(raw[node]);
    return found == evident.end() ? nullptr : &found->second;
  }
  std::string restored(size_t node) const;
  std::optional<std::string> byNeighbour(const Parts &parts, size_t node) const;

  std::vector<std::string> &paths;
  const std::vector<std::string> raw;
  const std::vector<std::vector<std::string>> &reads;
  std::set<std::string> called;            // paths with nodes in or below them
  std::map<std::string, Evidence> evident; // by raw path
  std::map<std::string, std::set<std::string>> stands; // each raw prefix
  // The nearest evidence of each node.
  std::vector<const Evidence *> before, behind;
};

/// Whether a node's path may leave out whole[k]: a container without a node in
/// it, or a list, which has none of its own whatever lies below it.
bool Restorer::mayBeLeftOut(const Parts &whole, size_t k) const {
  return isNumber(whole[k + 1]) || !called.count(pathOf(whole, k + 1));
}

/// How `path` stands for `module`: its parts are some of the module's, the last
/// is the last. Of two parts that are alike ("model.model.decoder") either may
/// be the one that was never called.
std::optional<Evidence> Restorer::align(const std::string &path,
                                        const std::string &module) const {
  Evidence result{partsOf(path), partsOf(module), {}};
  const Parts &raw = result.raw, &whole = result.whole;
  if (raw.empty() || raw.size() > whole.size() ||
      !isCopyOf(raw.back(), whole.back()))
    return std::nullopt;
  const size_t count = raw.size() - 1, room = whole.size() - 1;
  // fits[i][j]: the first i parts stand for parts among the first j.
  std::vector<std::vector<bool>> fits(count + 1,
                                      std::vector<bool>(room + 1, false));
  fits[0][0] = true;
  for (size_t j = 1; j <= room; ++j) {
    const bool mayMiss = mayBeLeftOut(whole, j - 1);
    for (size_t i = 0; i <= count; ++i)
      fits[i][j] =
          (mayMiss && fits[i][j - 1]) ||
          (i > 0 && fits[i - 1][j - 1] && isCopyOf(raw[i - 1], whole[j - 1]));
  }
  if (!fits[count][room])
    return std::nullopt;
  result.at.resize(raw.size());
  result.at[count] = room;
  for (size_t i = count, j = room; i > 0; --j)
    if (fits[i - 1][j - 1] && isCopyOf(raw[i - 1], whole[j - 1]))
      result.at[--i] = j - 1;
  return result;
}

/// What nodes read: "layers.1.p.fc.bias" read in "p.fc_1" says where that is.
void Restorer::collect() {
  std::set<std::string> contradicted;
  for (size_t n = 0; n < raw.size(); ++n)
    for (const std::string &name : reads[n]) {
      auto found = align(raw[n], parentName(name));
      if (!found)
        continue;
      auto [entry, isNew] = evident.emplace(raw[n], *found);
      if (isNew || entry->second.whole == found->whole)
        continue;
      // The path as it is written needs no guess.
      if (parentName(name) == raw[n])
        entry->second = *found;
      else if (joined(entry->second.whole, ".") != raw[n])
        contradicted.insert(raw[n]);
    }
  for (const std::string &path : contradicted)
    evident.erase(path);
}

/// "fc_1" that reads the nameless weight of "fc" is the same module, called
/// again.
void Restorer::collectSecondCalls() {
  std::map<std::string, std::string> firstReader;
  for (size_t n = 0; n < raw.size(); ++n)
    for (const std::string &name : reads[n]) {
      const std::string &first =
          firstReader.emplace(name, raw[n]).first->second;
      if (name.find("::") == std::string::npos || first == raw[n] ||
          evident.count(raw[n]))
        continue;
      auto known = evident.find(first);
      std::string whole =
          known == evident.end() ? first : joined(known->second.whole, ".");
      if (isCopyOf(leafName(raw[n]), leafName(first)))
        if (auto found = align(raw[n], whole))
          evident.emplace(raw[n], *found);
    }
}

/// By the nearest node before or behind that shows where it lies: modules are
/// called one after the other.
std::optional<std::string> Restorer::byNeighbour(const Parts &parts,
                                                 size_t node) const {
  size_t best = 0;
  const Evidence *nearest = nullptr;
  for (const Evidence *other : {before[node], behind[node]}) {
    size_t common = 0;
    // "a_1" is where "a.fc_1" lies; beside "a" it may be a module of that name.
    while (other && common < parts.size() && common < other->raw.size() &&
           (parts[common] == other->raw[common] ||
            (isCopyOf(parts[common], other->raw[common]) &&
             other->raw.size() > parts.size())))
      ++common;
    if (common > best) {
      best = common;
      nearest = other;
    }
  }
  if (!nearest)
    return std::nullopt;
  Parts whole{nearest->prefix(best)};
  whole.insert(whole.end(), parts.begin() + best, parts.end());
  return joined(whole, ".");
}

std::string Restorer::restored(size_t node) const {
  if (const Evidence *evidence = evidenceOf(node))
    return joined(evidence->whole, ".");
  Parts parts = partsOf(raw[node]);
  for (size_t count = parts.size(); count > 0; --count) {
    auto found = stands.find(pathOf(parts, count));
    if (found == stands.end())
      continue;
    if (found->second.size() > 1)
      break;
    Parts whole{*found->second.begin()};
    whole.insert(whole.end(), parts.begin() + count, parts.end());
    return joined(whole, ".");
  }
  return byNeighbour(parts, node).value_or(raw[node]);
}

void Restorer::run() {
  collect();
  collectSecondCalls();
  for (const auto &[path, evidence] : evident)
    for (size_t count = 1; count <= evidence.raw.size(); ++count)
      stands[pathOf(evidence.raw, count)].insert(evidence.prefix(count));
  before.resize(raw.size());
  behind.resize(raw.size());
  for (size_t n = 1; n < raw.size(); ++n)
    before[n] = evidenceOf(n - 1) ? evidenceOf(n - 1) : before[n - 1];
  for (size_t n = raw.size(); n-- > 1;)
    behind[n - 1] = evidenceOf(n) ? evidenceOf(n) : behind[n];
  for (size_t n = 0; n < raw.size(); ++n)
    if (!raw[n].empty())
      paths[n] = restored(n);
}

} // namespace

void restoreContainers(std::vector<std::string> &paths,
                       const std::vector<std::vector<std::string>> &reads) {
  Restorer(paths, reads).run();
}

} // namespace pipec::onnx

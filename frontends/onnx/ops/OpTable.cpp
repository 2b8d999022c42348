// All operators' importers, gathered from their families: see OpTable.h.
// Tests: test/unit/frontends/ImportTest.cpp, UnsupportedTest.cpp.
#include "frontends/onnx/ops/OpTable.h"

#include "frontends/onnx/file/ModelFile.h"

#include <algorithm>
#include <map>

namespace pipec::onnx {

static const std::map<std::string, std::vector<OpEntry>> &importers() {
  static const std::map<std::string, std::vector<OpEntry>> table = [] {
    std::map<std::string, std::vector<OpEntry>> all;
    for (OpTable family :
         {elementwiseOps(), activationOps(), variadicOps(), shapeOps(),
          layoutOps(), constantOps(), reduceOps(), selectionOps(), indexOps(),
          linearOps(), convolutionOps(), poolOps(), normOps(), softmaxOps(),
          attentionOps(), einsumOps(), resizeOps(), lossOps(), sequenceOps()})
      for (size_t i = 0; i < family.size; ++i)
        all[family.begin[i].op].push_back(family.begin[i]);
    return all;
  }();
  return table;
}

NodeImporter findImporter(const std::string &op, int64_t opset) {
  auto found = importers().find(op);
  if (found == importers().end())
    return nullptr;
  NodeImporter best = nullptr;
  int since = -1;
  for (const OpEntry &entry : found->second)
    if (entry.since <= opset && entry.since > since) {
      best = entry.import;
      since = entry.since;
    }
  return best;
}

int64_t oldestOpsetOf(const std::string &op) {
  int64_t oldest = kNewestOpset;
  if (auto found = importers().find(op); found != importers().end())
    for (const OpEntry &entry : found->second)
      oldest = std::min<int64_t>(oldest, entry.since);
  return oldest;
}

} // namespace pipec::onnx

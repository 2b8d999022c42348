// Which nodes lie in which module: see ModuleNodes.h.
//
// In: origins of nodes. Out: nodes by module path. Tests:
// test/unit/frontends/LegacyNamesTest.cpp.
#include "frontends/onnx/names/ModuleNodes.h"

#include "frontends/common/Text.h"

#include <algorithm>

namespace pipec::onnx {

static bool allAmong(const std::set<std::string> &ops,
                     const std::set<std::string> &allowed) {
  return std::includes(allowed.begin(), allowed.end(), ops.begin(), ops.end());
}

bool ModuleNodes::likeLinear() const {
  return !parent && (ops.count("MatMul") || ops.count("Gemm")) &&
         allAmong(ops, {"Add", "Cast", "Constant", "Gemm", "Identity", "MatMul",
                        "Transpose"});
}

bool ModuleNodes::only(const char *op) const {
  return !parent && allAmong(ops, {"Constant", "Identity", op});
}

std::map<std::string, ModuleNodes> nodesByModule(const Model &model) {
  std::map<std::string, ModuleNodes> modules;
  for (int n = 0; n < model.graph().node_size(); ++n) {
    if (model.aliasNode[n])
      continue;
    std::string path = model.origins[n].module;
    ModuleNodes &own = modules[path];
    own.nodes.push_back(n);
    own.ops.insert(model.graph().node(n).op_type());
    while (!path.empty()) {
      path = parentName(path);
      modules[path].parent = true;
    }
  }
  return modules;
}

} // namespace pipec::onnx

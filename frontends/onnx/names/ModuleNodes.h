// Which nodes lie in which module.
//
// In: an opened Model. Out: for each module path the nodes in the module
// itself, not in those below. Tests: test/unit/frontends/LegacyNamesTest.cpp.
#ifndef PIPEC_FRONTENDS_ONNX_NAMES_MODULENODES_H
#define PIPEC_FRONTENDS_ONNX_NAMES_MODULENODES_H

#include "frontends/onnx/metadata/Model.h"

#include <set>

namespace pipec::onnx {

struct ModuleNodes {
  std::vector<int> nodes;
  std::set<std::string> ops;
  bool parent = false; // nodes lie in modules below it

  /// The module may be an nn.Linear: a leaf that multiplies, adds, no more.
  bool likeLinear() const;
  /// A leaf all of whose nodes are `op`, constants apart.
  bool only(const char *op) const;
};

/// By path; those with nodes in or below them. "" is the root.
std::map<std::string, ModuleNodes> nodesByModule(const Model &model);

} // namespace pipec::onnx

#endif

// Tied weights: tables stored twice, and the user's --tie and --untie.
//
// In: a table with names and aliases, and what the resolver asks about the
// model. Out: one declaration for each tied weight. Tests:
// test/unit/frontends/WeightTableTest.cpp, LegacyNamesTest.cpp.
#ifndef PIPEC_FRONTENDS_COMMON_TIES_H
#define PIPEC_FRONTENDS_COMMON_TIES_H

#include "frontends/common/WeightTable.h"

namespace pipec::frontend {

/// What a frontend answers about its model.
struct TieFacts {
  enum class Reading { Table, Matrix, Other };

  const std::string &path; // of the model file, for messages
  const NamedTensors &tensors;
  /// What a node does with a tensor: looks rows of it up, multiplies by it.
  std::function<Reading(Reader)> readingOf;
  /// The module path of a node.
  std::function<const std::string &(int node)> moduleOf;
  /// The file has a number for the tensor's name, so that its declared name is
  /// a guess.
  std::function<bool(int tensor)> isNumbered;
};

/// Recognises tables stored twice, then applies --tie and --untie. Errors name
/// unknown parameters.
Status resolveTies(const TieFacts &facts, const ImportOptions &options,
                   WeightTable &table);

} // namespace pipec::frontend

#endif

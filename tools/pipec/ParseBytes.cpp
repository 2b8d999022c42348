// Sizes with units. Tests: test/e2e/cli.
#include "tools/pipec/ParseBytes.h"

#include "tools/pipec/NumberChecks.h"

#include <map>

namespace pipec::tool {

StatusOr<uint64_t> parseBytes(const std::string &text) {
  size_t end = 0;
  const double value = readDecimal(text, end).value_or(0);
  const std::map<std::string, double> units = {{"", 1},
                                               {"B", 1},
                                               {"KB", 1e3},
                                               {"MB", 1e6},
                                               {"GB", 1e9},
                                               {"KiB", 1024.0},
                                               {"MiB", 1048576.0},
                                               {"GiB", 1073741824.0},
                                               {"K", 1024.0},
                                               {"M", 1048576.0},
                                               {"G", 1073741824.0}};
  auto unit = units.find(text.substr(end));
  if (unit == units.end() || !(value > 0) || value * unit->second < 1 ||
      value * unit->second > 9e18)
    return invalidArgument("--memory " + text +
                           ": expected a size above 0, such as 16GiB or "
                           "500MB");
  return static_cast<uint64_t>(value * unit->second);
}

} // namespace pipec::tool

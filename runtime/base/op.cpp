// How an op's origin reads in messages. In: an Origin with any fields unknown
// (empty, line 0). Out: one line of text. Tests: test/unit/base/OpTest.cpp.
#include "runtime/base/op.h"

namespace pipec {

std::string Origin::str() const {
  std::string text = op;
  if (!node.empty())
    text += (text.empty() ? "" : " ") + node;
  std::string place = module;
  if (!file.empty()) {
    place += (place.empty() ? "" : ", ") + file;
    if (line > 0)
      place += ":" + std::to_string(line);
  }
  if (place.empty())
    return text;
  return text.empty() ? place : text + " (" + place + ")";
}

} // namespace pipec

// Checks of numbers on the command line: see NumberChecks.h. In: an option's
// text. Out: the text of the error, or none. Tests: test/e2e/cli/numbers.test.
#include "tools/pipec/NumberChecks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace pipec::tool {
namespace {

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  return buffer;
}

/// -1: below `least`; 1: above `most`; both must be below 2^64.
int compareWhole(const std::string &digits, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  for (char c : digits)
    if (__builtin_mul_overflow(value, uint64_t(10), &value) ||
        __builtin_add_overflow(value, uint64_t(c - '0'), &value))
      return 1;
  return value < least ? -1 : value > most ? 1 : 0;
}

} // namespace

CLI::Validator wholeNumber(uint64_t least, uint64_t most) {
  auto check = [least, most](std::string &given) -> std::string {
    const bool negative = !given.empty() && given[0] == '-';
    const std::string digits = given.substr(negative ? 1 : 0);
    if (digits.empty() ||
        !std::all_of(digits.begin(), digits.end(),
                     [](char c) { return c >= '0' && c <= '9'; }))
      return "must be a whole number, got '" + given + "'";
    const int side = negative ? -1 : compareWhole(digits, least, most);
    if (side < 0)
      return "must be at least " + std::to_string(least) + ", got " + given;
    if (side > 0)
      return "must be at most " + std::to_string(most) + ", got " + given;
    return "";
  };
  return CLI::Validator(check, "");
}

CLI::Validator numberFrom(double least, double most) {
  auto check = [least, most](std::string &given) -> std::string {
    char *end = nullptr;
    const double value = std::strtod(given.c_str(), &end);
    if (end == given.c_str() || *end || !std::isfinite(value))
      return "must be a number, got '" + given + "'";
    if (value < least)
      return "must be at least " + text(least) + ", got " + given;
    if (value > most)
      return "must be at most " + text(most) + ", got " + given;
    return "";
  };
  return CLI::Validator(check, "");
}

} // namespace pipec::tool

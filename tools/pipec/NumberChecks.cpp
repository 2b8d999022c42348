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

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// The error for what is no whole number; empty where it is one.
std::string notWhole(const std::string &given, const std::string &digits) {
  if (isWholeNumber(digits))
    return "";
  const bool isLong =
      !digits.empty() && std::all_of(digits.begin(), digits.end(), isDigit);
  return "must be a whole number" +
         std::string(isLong ? " without zeros in front" : "") + ", got '" +
         given + "'";
}

} // namespace

bool isWholeNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isDigit) &&
         (text[0] != '0' || text.size() == 1);
}

std::optional<double> readDecimal(const std::string &text, size_t &end) {
  size_t at = 0;
  auto digits = [&] {
    const size_t from = at;
    while (at < text.size() && isDigit(text[at]))
      ++at;
    return at - from;
  };
  at += at < text.size() && text[at] == '-';
  const size_t first = at, whole = digits();
  size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = digits();
  }
  if (whole + fraction == 0 || (whole > 1 && text[first] == '0'))
    return std::nullopt;
  if (const size_t mark = at;
      at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    at += at < text.size() && (text[at] == '-' || text[at] == '+');
    if (digits() == 0)
      at = mark;
  }
  end = at;
  const double value = std::strtod(text.substr(0, at).c_str(), nullptr);
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

CLI::Validator anyWholeNumber() {
  auto check = [](std::string &given) -> std::string {
    const bool negative = !given.empty() && given[0] == '-';
    const std::string digits = given.substr(negative ? 1 : 0);
    if (std::string error = notWhole(given, digits); !error.empty())
      return error;
    const uint64_t most = uint64_t(INT64_MAX) + (negative ? 1 : 0);
    return compareWhole(digits, 0, most) == 0
               ? ""
               : "must be a number that 64 bits hold, got " + given;
  };
  return CLI::Validator(check, "");
}

CLI::Validator wholeNumber(uint64_t least, uint64_t most) {
  auto check = [least, most](std::string &given) -> std::string {
    const bool negative = !given.empty() && given[0] == '-';
    const std::string digits = given.substr(negative ? 1 : 0);
    if (std::string error = notWhole(given, digits); !error.empty())
      return error;
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
    size_t end = 0;
    const std::optional<double> value = readDecimal(given, end);
    if (!value || end != given.size())
      return "must be a number, got '" + given + "'";
    if (*value < least)
      return "must be at least " + text(least) + ", got " + given;
    if (*value > most)
      return "must be at most " + text(most) + ", got " + given;
    return "";
  };
  return CLI::Validator(check, "");
}

} // namespace pipec::tool

// How numbers on the command line are read, all of them: decimal, as people
// write them. Ranges, with errors in words: "must be at least 1, got 0".
#ifndef PIPEC_TOOLS_PIPEC_NUMBERCHECKS_H
#define PIPEC_TOOLS_PIPEC_NUMBERCHECKS_H

#include <CLI/CLI.hpp>

#include <limits>
#include <optional>
#include <string_view>

namespace pipec::tool {

/// Digits, without zeros in front, which elsewhere mean another base.
bool isWholeNumber(std::string_view text);
/// The decimal number, such as -1.5e-3, that `text` begins with; its end in
/// `end`. None: not a finite one, or no number at all.
std::optional<double> readDecimal(const std::string &text, size_t &end);

/// Any whole number that i64 holds.
CLI::Validator anyWholeNumber();
/// A whole number from `least` to `most`; without `most` what i64 holds.
CLI::Validator wholeNumber(uint64_t least, uint64_t most = INT64_MAX);
/// A finite number from `least` to `most`.
CLI::Validator numberFrom(double least,
                          double most = std::numeric_limits<double>::max());

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_NUMBERCHECKS_H

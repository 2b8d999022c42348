// Ranges of options, with errors in words: "must be at least 1, got 0".
#ifndef PIPEC_TOOLS_PIPEC_NUMBERCHECKS_H
#define PIPEC_TOOLS_PIPEC_NUMBERCHECKS_H

#include <CLI/CLI.hpp>

#include <limits>

namespace pipec::tool {

/// A whole number from `least` to `most`; without `most` what i64 holds.
CLI::Validator wholeNumber(uint64_t least, uint64_t most = INT64_MAX);
/// A finite number from `least` to `most`.
CLI::Validator numberFrom(double least,
                          double most = std::numeric_limits<double>::max());

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_NUMBERCHECKS_H

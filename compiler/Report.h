// What a cut model looks like, for people and for programs.
#ifndef PIPEC_COMPILER_REPORT_H
#define PIPEC_COMPILER_REPORT_H

#include "package.pb.h"

#include <string>

namespace pipec {

/// What a report needs beside the manifest.
struct ReportContext {
  int64_t microbatches = 1;
  std::vector<uint64_t> arenaBytes; // largest over the variants, per stage
};

/// The stages, the modules and parameters in each, what crosses each cut.
std::string textReport(const schema::Manifest &manifest,
                       const ReportContext &context);

/// The same as JSON, in the form that `inspect --json` documents (docs/cli.md).
std::string jsonReport(const schema::Manifest &manifest,
                       const ReportContext &context);

/// "4.2 MiB".
std::string bytesText(uint64_t bytes);

} // namespace pipec

#endif // PIPEC_COMPILER_REPORT_H

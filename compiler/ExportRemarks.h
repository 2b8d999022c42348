// Text for what an exporter took away from a model: parameters that are gone,
// and what training cannot know from the file.
//
// In: what the frontend found. Out: lines for the user, without a "warning: "
// before them. Tests: test/e2e/cli/exporter.test.
#ifndef PIPEC_COMPILER_EXPORTREMARKS_H
#define PIPEC_COMPILER_EXPORTREMARKS_H

#include "frontends/common/OpenedModel.h"

namespace pipec {

/// Whoever means to train is told all of `folded`, others a few.
std::string describeFolded(const std::vector<std::string> &folded,
                           bool training);
/// An error (InvalidArgument) that lists them where a tenth of the parameters
/// or more are lost.
Status checkLost(const std::string &path, const frontend::LostParameters &lost);
/// What tensors saved from a package lack, of schema::Training; one line each.
std::vector<std::string>
describePartial(const std::vector<std::string> &missing,
                const std::vector<std::string> &guessedNames);
/// `modules`: whose running statistics have a momentum that keeps them.
std::string describeStillStatistics(const std::vector<std::string> &modules);
/// One line for each tensor, and one for all buffers.
std::vector<std::string> describe(const frontend::TrainingLosses &losses);

} // namespace pipec

#endif

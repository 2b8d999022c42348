// Whether a run may go on from a checkpoint of another run.
#ifndef PIPEC_RUNTIME_CHECKPOINT_COMPARE_RUNS_H
#define PIPEC_RUNTIME_CHECKPOINT_COMPARE_RUNS_H

#include "runtime/checkpoint/checkpoint_format.h"

namespace pipec {

/// Keys of CheckpointInfo::notes that are not just compared as settings.
constexpr const char *kDataNote = "data";
constexpr const char *kModelNote = "model";
/// Begins the keys of notes that tell a data file by its content, one a file:
/// "'dir/x.bin', " and its fingerprintOf.
constexpr const char *kDataFileNote = "data file";

/// Remarks on differences that let the run go on, a line each. InvalidArgument
/// for those that do not: another kind of optimizer or one that lacks its
/// momentum, other data or data files of other content (where both runs note
/// it), and, where `isRandom`, another seed. Data is compared
/// without the folders of the files it quotes: they may have moved.
StatusOr<std::vector<std::string>> compareRuns(const CheckpointInfo &then,
                                               const CheckpointInfo &now,
                                               bool isRandom);

} // namespace pipec

#endif

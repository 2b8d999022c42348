// Schedules as CSV, in the format that torch.distributed.pipelining reads and
// writes.
//
// A row a rank, a cell an action: stage, letters, microbatch, as in "2F0". F is
// Forward, B Backward, I BackwardInput, W BackwardWeight; in files of older
// torch B and W are the halves, BW both, which the file itself tells.
// "(2F3;1B0)OVERLAP_F_B" is a pair. SEND_F, RECV_F, SEND_B, RECV_B name the own
// stage, the other one is its neighbour. Empty cells are idle. Thread rule:
// functions, any thread.
#ifndef PIPEC_PASSES_SCHEDULE_CSV_H
#define PIPEC_PASSES_SCHEDULE_CSV_H

#include "runtime/schedule/schedule.h"

#include <string_view>

namespace pipec {

/// Stages and microbatches are counted from the actions, a stage's rank is the
/// row in which it comes first. REDUCE_GRAD is ReduceGradients; UNSHARD,
/// RESHARD and the WAIT_ kinds, which have no counterpart here, are left out.
/// Errors name row and column, from 1, and what was expected; whether the
/// schedule is sound is for verifySchedule to say, which names actions as they
/// are written here.
StatusOr<Schedule> readScheduleCsv(std::string_view text,
                                   const std::string &name = "csv");

/// Where the file has sends and receives: each value that goes to a stage on
/// another rank is sent once after it was made and received once before it is
/// used, in the same order on both sides, and no rank waits for ever although,
/// as in torch, no send does. Errors name the action as it is written.
Status checkWrittenCommunication(const Schedule &schedule);

/// With `communication` the sends and receives too; an error where one goes
/// past a neighbouring stage, which the format cannot say. Step has no letters
/// in it and is left out.
StatusOr<std::string> writeScheduleCsv(const Schedule &schedule,
                                       bool communication = false);

} // namespace pipec

#endif // PIPEC_PASSES_SCHEDULE_CSV_H

// Which rank runs what, in which order: plain data that every other part of
// the schedule phase makes, checks, times or writes.
//
// A schedule starts as compute actions (makeSchedule, readScheduleCsv), gets
// its sends and receives (addCommunication) and its update (addUpdate), and is
// proved before anything runs (verifySchedule). Thread rule: values, copy
// freely. Tests: test/unit/passes/schedule.
#ifndef PIPEC_RUNTIME_SCHEDULE_SCHEDULE_H
#define PIPEC_RUNTIME_SCHEDULE_SCHEDULE_H

#include "pipec/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pipec {

struct ScheduleAction {
  enum class Kind : uint8_t {
    Forward,
    Backward,        // input and weight gradients in one go
    BackwardInput,   // the gradients of what the stage read
    BackwardWeight,  // the gradients of its weights
    SendForward,     // all values of `stage` that `peerStage` reads
    ReceiveForward,  // what `stage` reads of those of `peerStage`
    SendGradient,    // from `stage` to the earlier `peerStage`
    ReceiveGradient, // by `stage` from the later `peerStage`
    ReduceGradients, // sum the gradients of weights shared with other stages
    Step,            // update the weights of all stages of the rank
  };
  Kind kind = Kind::Forward;
  int64_t stage = 0;      // -1 for Step
  int64_t microbatch = 0; // -1 for ReduceGradients and Step
  int64_t peerStage = -1; // of sends and receives; -1 for all others
  /// Of a Forward: the backward action that follows directly may run at the
  /// same time, and what both make leaves when both have ended.
  bool overlapsNext = false;
  /// Of an action that was read from a file: its column there, from 1 (0: from
  /// no file), and its kind there; no part of what the action is.
  int32_t column = 0;
  Kind writtenKind = Kind::Forward;
  bool isOfBoth = false; // written BW, of a file in torch's older letters

  bool operator==(const ScheduleAction &o) const {
    return kind == o.kind && stage == o.stage && microbatch == o.microbatch &&
           peerStage == o.peerStage && overlapsNext == o.overlapsNext;
  }
  bool operator!=(const ScheduleAction &o) const { return !(*this == o); }

  bool isCompute() const { return kind <= Kind::BackwardWeight; }
  bool isBackward() const { return isCompute() && kind != Kind::Forward; }
  bool isSend() const {
    return kind == Kind::SendForward || kind == Kind::SendGradient;
  }
  bool isReceive() const {
    return kind == Kind::ReceiveForward || kind == Kind::ReceiveGradient;
  }
};

using ScheduleList = std::vector<ScheduleAction>;

/// Rank r runs lists[r] in order. Whether the data is sound is for
/// verifySchedule to say.
struct Schedule {
  std::string name;
  int64_t stages = 0;
  int64_t microbatches = 0;
  std::vector<int64_t> rankOfStage;
  std::vector<ScheduleList> lists;
  /// True once sends and receives are in the lists; until then values travel
  /// by themselves as soon as they are made.
  bool communicates = false;
  /// Read from a file, a row a rank: errors speak of rows and columns.
  bool isFromFile = false;

  int64_t ranks() const { return static_cast<int64_t>(lists.size()); }
};

/// "BackwardInput of stage 1, microbatch 3"; "SendForward of stage 0 to stage
/// 2, microbatch 1".
std::string str(const ScheduleAction &action);
/// In torch's letters: "1I3", "0SEND_F1". Where the peer is not the
/// neighbouring stage, which torch cannot say, it follows: "0SEND_F1>2".
std::string shortText(const ScheduleAction &action);
/// "rank 2, action 7: BackwardInput of stage 1, microbatch 3"; how every error
/// names its action. Where it was read from a file, as that has it: "row 3
/// (rank 2), column 8: '1I3'".
std::string actionAt(const Schedule &schedule, int64_t rank, size_t index);
/// "rank 2", or "row 3 (rank 2)" of a file.
std::string rankText(const Schedule &schedule, int64_t rank);
/// A headline and a row a rank, in columns; "&" ties an overlapped pair.
std::string dump(const Schedule &schedule);

/// Appends what ends a training step: ReduceGradients of each stage that
/// `reduces` marks (a flag a stage, or empty), in ascending order, then Step.
void addUpdate(Schedule &schedule, const std::vector<bool> &reduces = {});

} // namespace pipec

#endif // PIPEC_RUNTIME_SCHEDULE_SCHEDULE_H

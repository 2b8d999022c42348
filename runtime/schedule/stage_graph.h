// What a schedule has to know of the model: which stages hand values to which,
// and what backward work each has. Plain data, made from the partition's
// transfers.
#ifndef PIPEC_RUNTIME_SCHEDULE_STAGE_GRAPH_H
#define PIPEC_RUNTIME_SCHEDULE_STAGE_GRAPH_H

#include "runtime/schedule/schedule.h"

namespace pipec {

/// All values between the same two stages travel as one edge.
struct StageEdge {
  int64_t from = 0;
  int64_t to = 0;

  bool operator==(const StageEdge &o) const {
    return from == o.from && to == o.to;
  }
};

/// Which gradients a stage computes: a frozen first stage none, a frozen stage
/// behind a trained one those of its inputs only, a first stage (torch's rule)
/// or one behind frozen stages those of its weights only.
enum class BackwardWork : uint8_t { None, InputOnly, WeightOnly, Full };

inline bool hasInputWork(BackwardWork work) {
  return work == BackwardWork::InputOnly || work == BackwardWork::Full;
}
inline bool hasWeightWork(BackwardWork work) {
  return work == BackwardWork::WeightOnly || work == BackwardWork::Full;
}

inline BackwardWork backwardWork(bool input, bool weight) {
  return input ? (weight ? BackwardWork::Full : BackwardWork::InputOnly)
               : (weight ? BackwardWork::WeightOnly : BackwardWork::None);
}

struct StageGraph {
  int64_t stages = 0;
  /// From the stage that makes a value straight to each that reads it.
  std::vector<StageEdge> forward;
  /// From a later reader of a value to the next earlier one, and from the
  /// earliest to its maker: the sum of gradients is handed down.
  std::vector<StageEdge> gradient;
  /// One a stage; empty means Full everywhere.
  std::vector<BackwardWork> backward;

  /// Each stage feeds the next, all gradients flow.
  static StageGraph chain(int64_t stages);
  /// Adds the edges of a value. `gradientReaders` are those of `readers` that
  /// give it a gradient; either in any order.
  void addValue(int64_t maker, const std::vector<int64_t> &readers,
                const std::vector<int64_t> &gradientReaders);
  /// Adds the edge of one transfer, once however many values it has.
  void addTransfer(int64_t from, int64_t to, bool isGradient);
  BackwardWork workOf(int64_t stage) const {
    return backward.empty() ? BackwardWork::Full
                            : backward[static_cast<size_t>(stage)];
  }
  /// Values go to later stages and gradients to earlier ones, each edge is
  /// there once, a gradient leaves a stage that computes it and reaches one
  /// that has backward work. Errors name the edge.
  Status verify() const;
};

} // namespace pipec

#endif // PIPEC_RUNTIME_SCHEDULE_STAGE_GRAPH_H

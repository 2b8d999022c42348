// What an action waits for, private to the phase: the one place that says it,
// for the verifier, the simulator and the placement of sends alike.
#ifndef PIPEC_RUNTIME_SCHEDULE_NEEDS_H
#define PIPEC_RUNTIME_SCHEDULE_NEEDS_H

#include "runtime/schedule/stage_graph.h"

namespace pipec {

enum class Phase : uint8_t { Forward, Input, Weight };

/// A stage's phase that has run, or a remote edge's value that has arrived.
/// `slot` numbers either among its kind, microbatch included.
struct Need {
  bool arrival = false;
  Phase phase = Phase::Forward; // unless arrival
  StageEdge edge; // of an arrival; else from == to == the stage that runs
  bool gradient = false; // of an arrival
  size_t slot = 0;
};

/// "the Forward of stage 1"; "the gradient from stage 3 to stage 1".
std::string str(const Need &need);

/// Requires a schedule and a graph of the same stages, both in range.
class Needs {
public:
  Needs(const Schedule &schedule, const StageGraph &graph);

  size_t numRanSlots() const { return 3 * stages * microbatches; }
  size_t numArrivalSlots() const { return edges.size() * microbatches; }
  size_t ranSlot(Phase phase, int64_t stage, int64_t microbatch) const {
    return (static_cast<size_t>(stage) * 3 + static_cast<size_t>(phase)) *
               microbatches +
           static_cast<size_t>(microbatch);
  }
  /// What has to be there before a compute action or a send begins. Receives
  /// have none but their send.
  std::vector<Need> of(const ScheduleAction &action) const;
  /// Which phases have run once `action` has.
  static std::vector<Phase> phasesOf(ScheduleAction::Kind kind);

  struct Remote {
    StageEdge edge;
    bool gradient;
    size_t index; // among the graph's edges of its kind
  };
  /// Edges over which the result of `action` has to be sent, in graph order.
  std::vector<const Remote *> sentBy(const ScheduleAction &action) const;
  size_t slotOf(const Remote &remote, int64_t microbatch) const {
    return static_cast<size_t>(&remote - edges.data()) * microbatches +
           static_cast<size_t>(microbatch);
  }
  /// The edge between the stages of a send or receive; null where the graph has
  /// none or both stages are on one rank.
  const Remote *remoteOf(const ScheduleAction &action) const;
  const std::vector<Remote> &remotes() const { return edges; }

private:
  void addEdges(const Schedule &schedule, bool gradient);
  void needInputs(std::vector<Need> &needs, const ScheduleAction &action,
                  bool gradient) const;
  Need ran(Phase phase, int64_t stage, int64_t microbatch) const;

  const StageGraph &graph;
  size_t stages;
  size_t microbatches;
  std::vector<Remote> edges;
  struct Link {
    int64_t from;
    int64_t remote; // in edges, or -1 on one rank
  };
  /// By stage: where its values and its gradients come from.
  std::vector<std::vector<Link>> links[2];
  std::vector<std::vector<size_t>> leaving[2]; // by stage: in edges
};

} // namespace pipec

#endif // PIPEC_RUNTIME_SCHEDULE_NEEDS_H

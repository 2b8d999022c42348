// What a worker does, as plain data: an ordered list of actions a stage.
#ifndef PIPEC_RUNTIME_EXECUTOR_ACTIONS_H
#define PIPEC_RUNTIME_EXECUTOR_ACTIONS_H

#include "runtime/package/package_impl.h"

namespace pipec {

struct Action {
  enum class Kind : uint8_t {
    Receive, // wait for transfer `index`, bind its value
    Forward, // run the forward program
    Send,    // send the value of transfer `index`
    Emit,    // merge graph output `index`
    Release, // give the slot of transfer `index` back
    Report,  // tell the caller that the microbatch is through
  };
  Kind kind;
  int64_t microbatch;
  uint32_t index = 0;

  bool operator==(const Action &o) const {
    return kind == o.kind && microbatch == o.microbatch && index == o.index;
  }
};

using ActionList = std::vector<Action>;

/// All microbatches in ascending order, each received, run, sent on, released.
/// Free of deadlock for any queue capacity: an action waits only for actions
/// of earlier microbatches, or of earlier stages and the same microbatch.
ActionList forwardActions(const StageRouting &routing, int64_t microbatches,
                          bool lastStage);

/// "receive transfer 2, microbatch 0".
std::string str(const Action &action);

} // namespace pipec

#endif

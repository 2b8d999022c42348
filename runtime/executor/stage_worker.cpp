// Actions of one stage, one after the other. In: the list and the run it
// belongs to; out: values sent, outputs merged, or the error that ended it.
// Tests: test/unit/runtime/ExecutorTest.cpp, ErrorTest.cpp.
#include "runtime/executor/stage_worker.h"

namespace pipec {

Status StageWorker::run(RunContext &context, const RunControl &control) {
  for (const Action &action : context.actions[stage.stageIndex()]) {
    if (control.stopped())
      return cancelled("another stage failed");
    PIPEC_RETURN_IF_ERROR(perform(action, context, control));
  }
  return stage.synchronize();
}

Status StageWorker::perform(const Action &action, RunContext &context,
                            const RunControl &control) {
  const int64_t k = action.microbatch;
  const size_t variant = context.plan.microbatches[k].variant;
  switch (action.kind) {
  case Action::Kind::Receive: {
    const size_t bytes =
        package.transfers[action.index].types[variant].byteSize();
    PIPEC_ASSIGN_OR_RETURN(void *data, channels[action.index]->receive(
                                           stage.getStream(), k, bytes));
    stage.bindInput(variant, stage.inputOfTransfer(variant, action.index),
                    data);
    return {};
  }
  case Action::Kind::Forward:
    PIPEC_RETURN_IF_ERROR(bindGraphInputs(context, k));
    return stage.forward(variant, k, &control);
  case Action::Kind::Send: {
    TensorView value = stage.outputValue(
        variant, ProgramOutputDesc::Target::Transfer, action.index);
    return channels[action.index]->send(stage.getStream(), k, value.data,
                                        value.type.byteSize());
  }
  case Action::Kind::Emit:
    return emit(context, action);
  case Action::Kind::Release:
    return channels[action.index]->release(stage.getStream());
  case Action::Kind::Report:
    if (context.progress)
      context.progress(k + 1, context.plan.count());
    return {};
  }
  return internalError("unknown action");
}

Status StageWorker::bindGraphInputs(const RunContext &context,
                                    int64_t microbatch) {
  const Microbatch &piece = context.plan.microbatches[microbatch];
  const auto &inputs = stage.program(piece.variant).inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].transfer)
      continue;
    const uint32_t graphInput = inputs[i].index;
    const uint8_t *data = context.inputs[graphInput].as<uint8_t>();
    if (package.isCut(graphInput, piece.variant))
      data += inputs[i].type.byteSize() /
              static_cast<size_t>(inputs[i].type.shape[0]) *
              static_cast<size_t>(piece.firstRow);
    PIPEC_RETURN_IF_ERROR(stage.bindHostInput(piece.variant, i, data));
  }
  return {};
}

Status StageWorker::emit(RunContext &context, const Action &action) {
  const size_t variant = context.plan.microbatches[action.microbatch].variant;
  TensorView value = stage.outputValue(
      variant, ProgramOutputDesc::Target::GraphOutput, action.index);
  const void *data = value.data;
  if (!context.hostCopies.empty()) {
    Tensor &copy = context.hostCopies[action.index];
    PIPEC_RETURN_IF_ERROR(stage.getDevice().copy(stage.getStream(), copy.data(),
                                                 data, value.type.byteSize()));
    data = copy.data();
  }
  PIPEC_RETURN_IF_ERROR(stage.synchronize());
  return context.mergers[action.index].add(data);
}

} // namespace pipec

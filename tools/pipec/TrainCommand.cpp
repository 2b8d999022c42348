// `pipec train`: a model file, data, a loss; parameters that learned.
// Tests: test/e2e/cli, test/conformance/train_models.py.
#include "tools/pipec/Commands.h"
#include "tools/pipec/TrainRun.h"

namespace pipec::tool {

void addTrainCommand(CLI::App &app, Exit &exit) {
  auto arguments = std::make_shared<TrainArguments>();
  CLI::App *command =
      app.add_subcommand("train", "Train a model in pipeline stages");
  arguments->addTo(*command);
  command->footer(
      "Example: pipec train model.onnx --stages 4 --microbatches 8 --schedule "
      "1f1b --loss cross_entropy --inputs data.safetensors --batch 32 --steps "
      "1000 --optimizer adamw --lr 3e-4 --log log.jsonl --save-params "
      "trained.safetensors");
  command->callback(
      [arguments, &exit] { exit.set(TrainRun(*arguments).run()); });
}

} // namespace pipec::tool

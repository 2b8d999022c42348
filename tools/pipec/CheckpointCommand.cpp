// `pipec checkpoint`: looks into checkpoints, and makes one file of weights out
// of them. Tests: test/e2e/cli/checkpoint.test.
#include "tools/pipec/CommandPaths.h"
#include "tools/pipec/Commands.h"

#include "runtime/base/temporaries.h"
#include "runtime/base/write_target.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/step_folder.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <set>

namespace fs = std::filesystem;

namespace pipec::tool {
namespace {

using Json = nlohmann::ordered_json;

struct CheckpointCommandArguments {
  std::string folder, output;
  bool json = false, overwrite = false, quiet = false;
};

Json tensorsJson(const TensorTable &table,
                 const std::vector<std::string> &buffers) {
  const std::set<std::string> isBuffer(buffers.begin(), buffers.end());
  Json list = Json::array();
  for (const std::string &name : table.names()) {
    const TensorType &type = *table.find(name);
    Json entry;
    entry["name"] = name;
    entry["dtype"] = dtypeName(type.dtype);
    entry["shape"] = type.shape;
    entry["bytes"] = type.byteSize();
    entry["file"] = fs::path(table.fileOf(name)).filename().string();
    if (isBuffer.count(name))
      entry["buffer"] = true;
    list.push_back(std::move(entry));
  }
  return list;
}

std::string jsonText(const Checkpoint &checkpoint,
                     const std::vector<int64_t> &steps) {
  const CheckpointInfo &info = checkpoint.info();
  Json object;
  object["path"] = checkpoint.path();
  object["step"] = info.step;
  object["data_position"] = info.dataPosition;
  object["seed"] = info.seed;
  object["optimizer"] = Json(info.optimizer);
  object["notes"] = Json(info.notes);
  object["weights"] = tensorsJson(checkpoint.weights(), checkpoint.buffers());
  object["optimizer_state"] = tensorsJson(checkpoint.optimizer(), {});
  object["tied"] = checkpoint.tied();
  object["steps"] = steps;
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status inspect(const CheckpointCommandArguments &arguments) {
  PIPEC_ASSIGN_OR_RETURN(const Checkpoint checkpoint,
                         Checkpoint::open(arguments.folder));
  // None where the argument is one checkpoint.
  PIPEC_ASSIGN_OR_RETURN(const std::vector<int64_t> steps,
                         listSteps(arguments.folder));
  std::string text = arguments.json ? jsonText(checkpoint, steps)
                                    : describeCheckpoint(checkpoint);
  if (!arguments.json && steps.size() > 1) {
    text += "all of " + arguments.folder + ":";
    for (int64_t step : steps)
      text += " step-" + std::to_string(step);
    text += "\n";
  }
  std::fputs(text.c_str(), stdout);
  return {};
}

Status exportTo(const CheckpointCommandArguments &arguments) {
  PIPEC_RETURN_IF_ERROR(
      checkWholeFileTarget(arguments.output).withPrefix("--output"));
  PIPEC_ASSIGN_OR_RETURN(const Checkpoint checkpoint,
                         Checkpoint::open(arguments.folder));
  CommandPaths paths;
  paths.written = {{"--output", arguments.output}};
  paths.checkpoints =
      fs::weakly_canonical(fs::absolute(checkpoint.path())).parent_path();
  PIPEC_RETURN_IF_ERROR(checkPaths(paths));
  std::error_code ignored;
  if (!arguments.overwrite &&
      fs::exists(fs::symlink_status(arguments.output, ignored)))
    return invalidArgument(arguments.output +
                           " exists; pass --overwrite to replace it");
  {
    auto whole = postponeInterrupts();
    PIPEC_RETURN_IF_ERROR(
        exportWeights(checkpoint, arguments.output, arguments.overwrite));
  }
  if (arguments.quiet)
    return {};
  std::printf("wrote %s: %zu tensors of step %lld\n", arguments.output.c_str(),
              checkpoint.weights().names().size(),
              static_cast<long long>(checkpoint.info().step));
  return {};
}

using Arguments = std::shared_ptr<CheckpointCommandArguments>;

void addFolder(CLI::App &command, const Arguments &arguments) {
  command
      .add_option("DIR", arguments->folder,
                  "A checkpoint (run1/step-1000), or the folder that 'pipec "
                  "train --checkpoint' wrote to: then its latest")
      ->required();
}

void addInspect(CLI::App &group, const Arguments &arguments, Exit &exit) {
  CLI::App *command = group.add_subcommand(
      "inspect", "Show step, seed, data, optimizer and every tensor");
  addFolder(*command, arguments);
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer("Example: pipec checkpoint inspect run1");
  command->callback([arguments, &exit] { exit.set(inspect(*arguments)); });
}

void addExport(CLI::App &group, const Arguments &arguments, Exit &exit) {
  CLI::App *command = group.add_subcommand(
      "export", "Write parameters and buffers into one safetensors file");
  addFolder(*command, arguments);
  command
      ->add_option("-o,--output", arguments->output,
                   "File to write, such as model.safetensors")
      ->required();
  command->add_flag("--overwrite", arguments->overwrite,
                    "Replace an existing file");
  command->add_flag("-q,--quiet", arguments->quiet,
                    "Do not say what was written");
  command->footer(
      "The names are those of PyTorch's state_dict; tied parameters are there "
      "under each of theirs.\n"
      "Example: pipec checkpoint export run1/step-1000 -o model.safetensors\n"
      "  in Python: model.load_state_dict(safetensors.torch.load_file("
      "\"model.safetensors\"), strict=False)\n"
      "  a new run: pipec train model.onnx --weights model.safetensors ...");
  command->callback([arguments, &exit] { exit.set(exportTo(*arguments)); });
}

} // namespace

void addCheckpointCommand(CLI::App &app, Exit &exit) {
  auto arguments = std::make_shared<CheckpointCommandArguments>();
  CLI::App *group = app.add_subcommand(
      "checkpoint", "Look into checkpoints of 'pipec train', export weights");
  group->require_subcommand(1);
  group->footer(
      "A checkpoint is a folder DIR/step-<k>, written after k steps: "
      "checkpoint.json, and safetensors files with\n"
      "parameters under their PyTorch names and the optimizer's state. It "
      "appears whole or not at all.\n"
      "Train and resume with any number of stages:\n"
      "  pipec train model.onnx --stages 4 ... --steps 1000 --checkpoint run1 "
      "--checkpoint-every 100\n"
      "  pipec train model.onnx --stages 2 ... --steps 2000 --checkpoint run1 "
      "--resume\n"
      "  pipec checkpoint inspect run1\n"
      "  pipec checkpoint export run1 -o model.safetensors");
  addInspect(*group, arguments, exit);
  addExport(*group, arguments, exit);
}

} // namespace pipec::tool

// Writes the files of a checkpoint. In: views of parameters, buffers, optimizer
// state. Out: a folder as checkpoint_format.h says.
// Tests: test/unit/checkpoint/CheckpointTest.cpp.
#include "runtime/checkpoint/checkpoint_writer.h"

#include <algorithm>

namespace pipec {
namespace {

std::string partFile(const char *kind, int part) {
  return std::string(kind) + "-" + std::to_string(part) + ".safetensors";
}

/// A name and its bytes; tied weights have several of these.
struct Piece {
  const std::string *name;
  const TensorView *view;
};

// Wide element types first: every tensor is then aligned in the file.
std::vector<Piece> piecesOf(const std::vector<NamedView> &views) {
  std::vector<Piece> pieces;
  for (const NamedView &view : views)
    for (const std::string &name : view.names)
      pieces.push_back({&name, &view.view});
  std::stable_sort(
      pieces.begin(), pieces.end(), [](const Piece &a, const Piece &b) {
        return byteSize(a.view->type.dtype) > byteSize(b.view->type.dtype);
      });
  return pieces;
}

} // namespace

StatusOr<std::unique_ptr<CheckpointWriter>>
CheckpointWriter::begin(const std::string &dir, int64_t step, bool overwrite) {
  std::unique_ptr<CheckpointWriter> writer(new CheckpointWriter);
  writer->dir = dir;
  writer->step = step;
  PIPEC_ASSIGN_OR_RETURN(writer->folder,
                         StepFolder::create(dir, step, overwrite));
  return writer;
}

Status
CheckpointWriter::reserveName(const std::string &name, const std::string &file,
                              std::map<std::string, std::string> &files) {
  const auto [at, isNew] = files.emplace(name, file);
  if (isNew)
    return Status();
  return invalidArgument("'" + name + "' is written to " + at->second +
                         " and again to " + file +
                         ": a shared weight is written by one part only");
}

// Under the lock: which part holds which name.
Status CheckpointWriter::reserve(int part, const CheckpointPart &contents) {
  if (part < 0 || !parts.insert(part).second)
    return invalidArgument("part " + std::to_string(part) +
                           " of a checkpoint is negative or written twice");
  const std::string weights = partFile("part", part);
  for (const auto *views : {&contents.parameters, &contents.buffers})
    for (const NamedView &view : *views) {
      for (const std::string &name : view.names)
        PIPEC_RETURN_IF_ERROR(reserveName(name, weights, written.weightFiles));
      if (view.names.size() > 1)
        written.tied.push_back(view.names);
      if (views == &contents.buffers)
        written.buffers.insert(written.buffers.end(), view.names.begin(),
                               view.names.end());
    }
  for (const auto &[name, view] : contents.optimizer)
    PIPEC_RETURN_IF_ERROR(
        reserveName(name, partFile("optimizer", part), written.optimizerFiles));
  return Status();
}

Status CheckpointWriter::writeFile(const std::string &name,
                                   const std::vector<NamedView> &views) const {
  const std::vector<Piece> pieces = piecesOf(views);
  if (pieces.empty())
    return Status();
  std::vector<SafetensorsWriter::Item> items;
  items.reserve(pieces.size());
  for (const Piece &piece : pieces)
    items.push_back({*piece.name, piece.view->type});
  // "format" is what Hugging Face's loaders ask for; the step lets open() see
  // files of different checkpoints mixed.
  PIPEC_ASSIGN_OR_RETURN(
      const auto writer,
      SafetensorsWriter::create(
          folder->path() + "/" + name, items, false,
          {{"format", "pt"}, {"pipec.step", std::to_string(step)}},
          SafetensorsWriter::Seal::Yes));
  for (const Piece &piece : pieces)
    PIPEC_RETURN_IF_ERROR(
        writer->write(piece.view->data, piece.view->type.byteSize()));
  return writer->finish();
}

Status CheckpointWriter::writePart(int part, const CheckpointPart &contents) {
  Status status;
  {
    const std::lock_guard<std::mutex> guard(mutex);
    status = reserve(part, contents);
  }
  if (status.ok()) {
    std::vector<NamedView> weights = contents.parameters;
    weights.insert(weights.end(), contents.buffers.begin(),
                   contents.buffers.end());
    status = writeFile(partFile("part", part), weights);
  }
  if (status.ok()) {
    std::vector<NamedView> state;
    for (const auto &[name, view] : contents.optimizer)
      state.push_back({{name}, view});
    status = writeFile(partFile("optimizer", part), state);
  }
  if (status.ok())
    return status;
  const std::lock_guard<std::mutex> guard(mutex);
  hasFailed = true;
  return status.withPrefix("checkpoint of step " + std::to_string(step));
}

Status CheckpointWriter::commit(const CheckpointInfo &info, int64_t keep) {
  const std::lock_guard<std::mutex> guard(mutex);
  const std::string prefix = "checkpoint of step " + std::to_string(step);
  if (!folder)
    return invalidArgument(prefix + ": committed twice");
  if (hasFailed || parts.empty())
    return invalidArgument(prefix + (hasFailed ? ": a part could not be written"
                                               : ": no part was written"));
  if (info.step != step || info.dataPosition < 0)
    return invalidArgument(prefix + ": its description says step " +
                           std::to_string(info.step) + ", data position " +
                           std::to_string(info.dataPosition));
  written.info = info;
  // Parts came in any order; the file says the same for all.
  std::sort(written.tied.begin(), written.tied.end());
  std::sort(written.buffers.begin(), written.buffers.end());
  Status status = folder->write(kCheckpointFile, checkpointJson(written));
  if (status.ok())
    status = folder->publish();
  if (!status.ok())
    return status.withPrefix(prefix);
  folder.reset();
  return keep > 0 ? removeOldSteps(dir, keep, step) : Status();
}

} // namespace pipec

// Checkpoints for others: one file of weights, and a text for people.
// In: an opened checkpoint. Out: a safetensors file; lines.
// Tests: test/unit/checkpoint/ExportTest.cpp.
#include "runtime/base/printable.h"
#include "runtime/checkpoint/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

namespace pipec {
namespace {

// Name order, but wide element types first: every tensor is then aligned.
std::vector<std::string> fileOrder(const TensorTable &table) {
  std::vector<std::string> names = table.names();
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string &a, const std::string &b) {
                     return byteSize(table.find(a)->dtype) >
                            byteSize(table.find(b)->dtype);
                   });
  return names;
}

struct Total {
  size_t count = 0;
  uint64_t bytes = 0;
};

Total totalOf(const TensorTable &table) {
  Total total;
  for (const std::string &name : table.names()) {
    ++total.count;
    total.bytes += table.find(name)->byteSize();
  }
  return total;
}

void printMap(std::ostringstream &out, const char *title,
              const std::map<std::string, std::string> &fields) {
  if (fields.empty())
    return;
  out << title << "\n";
  for (const auto &[key, value] : fields)
    out << "  " << printable(key) << ": " << printable(value) << "\n";
}

} // namespace

Status exportWeights(const Checkpoint &checkpoint, const std::string &file,
                     bool overwrite) {
  const TensorTable &table = checkpoint.weights();
  const std::vector<std::string> names = fileOrder(table);
  std::vector<SafetensorsWriter::Item> items;
  items.reserve(names.size());
  for (const std::string &name : names)
    items.push_back({name, *table.find(name)});
  // Hugging Face's loaders refuse files without this field.
  PIPEC_ASSIGN_OR_RETURN(
      const auto writer,
      SafetensorsWriter::create(file, items, overwrite, {{"format", "pt"}}));
  for (const std::string &name : names) {
    PIPEC_ASSIGN_OR_RETURN(const Tensor tensor, table.get(name));
    PIPEC_RETURN_IF_ERROR(writer->write(tensor.data(), tensor.byteSize()));
  }
  return writer->finish();
}

std::string describeCheckpoint(const Checkpoint &checkpoint) {
  const CheckpointInfo &info = checkpoint.info();
  const TensorTable &table = checkpoint.weights();
  const Total weights = totalOf(table), state = totalOf(checkpoint.optimizer());
  std::ostringstream out;
  out << "checkpoint " << printable(checkpoint.path()) << "\n"
      << "step " << info.step << ", data position " << info.dataPosition
      << ", seed " << info.seed << "\n";
  printMap(out, "optimizer", info.optimizer);
  printMap(out, "notes", info.notes);
  out << "weights: " << weights.count << " names, " << weights.bytes
      << " bytes; optimizer state: " << state.count << " tensors, "
      << state.bytes << " bytes\n";
  const std::set<std::string> buffers(checkpoint.buffers().begin(),
                                      checkpoint.buffers().end());
  for (const std::string &name : table.names())
    out << "  " << printable(name) << "  " << table.find(name)->str() << "  "
        << printable(
               std::filesystem::path(table.fileOf(name)).filename().string())
        << (buffers.count(name) ? "  buffer" : "") << "\n";
  for (const auto &group : checkpoint.tied())
    out << "tied: " << printable(listNames(group)) << "\n";
  return out.str();
}

} // namespace pipec

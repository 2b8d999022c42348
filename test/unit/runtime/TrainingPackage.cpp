// Training packages by hand: programs, contexts, sites, schedules. In: how many
// stages. Out: what the compiler would write for such a chain.
#include "test/unit/runtime/TrainingPackage.h"

#include "passes/schedule/Communication.h"
#include "runtime/base/safetensors.h"
#include "runtime/schema/version.h"

#include <google/protobuf/util/json_util.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace pipec::test {
namespace {

constexpr int64_t kWidth = 4;
// The context: a slot of 64 bytes a value.
enum Slot : uint64_t {
  kIn,
  kGradHidden,
  kForWeight, // those before it are what W reads
  kSkip = kForWeight,
  kOut,
  kGradOut,
  kGradSkip,
  kSlots
};

void setType(schema::TensorType *type, const Shape &shape) {
  type->set_dtype(schema::F32);
  for (int64_t size : shape)
    type->add_shape(size);
}

/// One program, a value and an instruction at a time.
class Writer {
public:
  Writer(schema::Program &program, const std::string &module)
      : program(program), module(module) {}

  uint32_t graphInput(uint32_t index, const std::string &name,
                      const Shape &shape) {
    auto *input = program.add_inputs();
    input->set_name(name);
    setType(input->mutable_type(), shape);
    input->set_graph_input(index);
    auto *value = addValue(shape);
    value->set_input(program.inputs_size() - 1);
    return last();
  }
  uint32_t transfer(uint32_t index, const std::string &name, const Shape &shape,
                    Slot slot) {
    auto *input = program.add_inputs();
    input->set_name(name);
    setType(input->mutable_type(), shape);
    input->set_transfer(index);
    input->set_in_context(true);
    input->set_context_offset(64 * slot);
    return kept(shape, slot);
  }
  uint32_t kept(const Shape &shape, Slot slot) {
    addValue(shape)->set_context_offset(64 * slot);
    return last();
  }
  uint32_t weight() {
    addValue({kWidth, kWidth})->set_weight(0);
    return last();
  }
  uint32_t literal(float value) {
    addValue({})->set_literal(&value, sizeof value);
    return last();
  }
  /// In the arena, or in the context with a slot.
  uint32_t op(const std::string &name, std::vector<uint32_t> inputs,
              const Shape &shape,
              std::vector<schema::Attribute> attributes = {}, int slot = -1) {
    auto *value = addValue(shape);
    if (slot >= 0)
      value->set_context_offset(64 * slot);
    else
      value->set_arena_offset(64 * arena++);
    auto *instruction = program.add_instructions();
    instruction->set_op(name);
    instruction->mutable_origin()->set_module(module);
    instruction->mutable_origin()->set_node(name);
    for (uint32_t input : inputs)
      instruction->add_inputs(input);
    instruction->add_outputs(last());
    for (const auto &attribute : attributes)
      *instruction->add_attributes() = attribute;
    program.set_arena_bytes(64 * arena);
    return last();
  }
  uint32_t dot(uint32_t lhs, uint32_t rhs, int64_t l, int64_t r,
               const Shape &shape, int slot = -1) {
    return op("dot_general", {lhs, rhs}, shape,
              {intsAttr("lhs_contract", {l}), intsAttr("rhs_contract", {r}),
               intsAttr("lhs_batch", {}), intsAttr("rhs_batch", {})},
              slot);
  }
  schema::ProgramOutput *output(uint32_t value) {
    auto *output = program.add_outputs();
    output->set_value(value);
    return output;
  }

private:
  schema::Value *addValue(const Shape &shape) {
    auto *value = program.add_values();
    setType(value->mutable_type(), shape);
    return value;
  }
  uint32_t last() const { return program.values_size() - 1; }

  schema::Program &program;
  std::string module;
  uint64_t arena = 0;
};

schema::Attribute kindAttr(const std::string &kind) {
  schema::Attribute attribute;
  attribute.set_name("kind");
  attribute.set_s(kind);
  return attribute;
}

/// Transfers by name.
class Chain {
public:
  Chain(TrainingPackage &package, int64_t stages, int64_t rows)
      : package(package), stages(stages), shape{rows, kWidth} {}

  void build() {
    writeInterface();
    writeTransfers();
    package.forward.resize(stages);
    package.backwardInput.resize(stages);
    package.backwardWeight.resize(stages);
    package.weights.resize(stages);
    for (int64_t s = 0; s < stages; ++s) {
      writeStage(s);
      s + 1 < stages ? writeMiddle(s) : writeLast(s);
    }
  }

private:
  TrainingPackage &package;
  const int64_t stages;
  const Shape shape;
  std::map<std::string, uint32_t> transfers;

  bool skips() const { return stages > 2; }
  static std::string valueOf(int64_t s) { return "y" + std::to_string(s); }
  static std::string gradOf(int64_t from) { return "g" + std::to_string(from); }

  void writeInterface() {
    schema::Manifest &manifest = package.manifest;
    manifest.set_format_version(kPackageFormatVersion);
    manifest.set_model("chain.onnx");
    manifest.add_variants()->set_microbatch_rows(shape[0]);
    auto *x = manifest.add_inputs();
    x->set_name("x");
    setType(x->add_types(), shape);
    auto *scale = manifest.add_inputs();
    scale->set_name("loss_scale");
    scale->set_whole(true);
    scale->set_role(schema::LOSS_SCALE);
    setType(scale->add_types(), {});
    auto *loss = manifest.add_outputs();
    loss->set_name("loss");
    loss->set_merge(schema::SUM);
    setType(loss->add_types(), {});
    manifest.mutable_training()->set_loss(schema::OUTPUT);
  }

  void addTransfer(const std::string &name, int64_t from, int64_t to) {
    transfers[name + ">" + std::to_string(to)] =
        package.manifest.transfers_size();
    auto *transfer = package.manifest.add_transfers();
    transfer->set_value(name);
    transfer->set_from(from);
    transfer->set_to(to);
    transfer->set_gradient(from > to);
    setType(transfer->add_types(), shape);
  }
  uint32_t transfer(const std::string &name, int64_t to) const {
    return transfers.at(name + ">" + std::to_string(to));
  }

  void writeTransfers() {
    for (int64_t s = 0; s + 1 < stages; ++s)
      addTransfer(valueOf(s), s, s + 1);
    if (skips())
      addTransfer(valueOf(0), 0, stages - 1);
    for (int64_t s = 1; s < stages; ++s)
      addTransfer(gradOf(s), s, s - 1);
    if (skips())
      addTransfer("skip", stages - 1, 1);
  }

  void writeStage(int64_t s) {
    auto *stage = package.manifest.add_stages();
    stage->set_index(s);
    stage->add_flops(100);
    stage->add_context_bytes(64 * kSlots);
    // Without a B, W reads the rest as well, and all is free after it.
    stage->add_context_weight_bytes(64 * kForWeight);
    stage->set_backward_input(s > 0);
    stage->set_backward_weight(true);
    // The last stage has the first one's weight.
    bool tied = stages > 1 && s + 1 == stages;
    auto *weight = stage->add_weights();
    weight->set_name("w" + std::to_string(tied ? 0 : s));
    setType(weight->mutable_type(), {kWidth, kWidth});
    auto *site = stage->add_sites();
    site->set_order(tied ? 1 : 0);
    package.weights[s][weight->name()] =
        pattern({kWidth, kWidth}, static_cast<uint32_t>(tied ? 0 : s) + 7);
  }

  uint32_t input(Writer &writer, int64_t s) const {
    return s == 0 ? writer.graphInput(0, "x", shape)
                  : writer.transfer(transfer(valueOf(s - 1), s), valueOf(s - 1),
                                    shape, kIn);
  }
  std::string moduleOf(int64_t s) const { return "layer" + std::to_string(s); }

  void writeMiddle(int64_t s) {
    Writer f(package.forward[s], moduleOf(s));
    uint32_t h = f.dot(input(f, s), f.weight(), 1, 1, shape);
    uint32_t y = f.op("tanh", {h}, shape, {}, kOut);
    f.output(y)->set_transfer(transfer(valueOf(s), s + 1));
    if (s == 0 && skips())
      f.output(y)->set_transfer(transfer(valueOf(0), stages - 1));

    // dh = g * (1 - y^2), in B where the stage has one, else in W.
    auto hidden = [&](Writer &p) {
      uint32_t g = p.transfer(transfer(gradOf(s + 1), s), gradOf(s + 1), shape,
                              kGradOut);
      uint32_t kept = p.kept(shape, kOut);
      uint32_t square = p.op("mul", {kept, kept}, shape);
      uint32_t slope = p.op("sub", {p.literal(1), square}, shape);
      return p.op("mul", {g, slope}, shape, {}, kGradHidden);
    };
    Writer w(package.backwardWeight[s], moduleOf(s));
    uint32_t dh = 0;
    if (s > 0) {
      Writer b(package.backwardInput[s], moduleOf(s));
      uint32_t gradHidden = hidden(b);
      uint32_t gx = b.dot(gradHidden, b.weight(), 1, 0, shape);
      if (s == 1 && skips()) {
        uint32_t sum =
            b.transfer(transfer("skip", 1), "skip", shape, kGradSkip);
        gx = b.op("add", {sum, gx}, shape);
      }
      b.output(gx)->set_transfer(transfer(gradOf(s), s - 1));
      dh = w.kept(shape, kGradHidden);
    } else {
      dh = hidden(w);
    }
    uint32_t x = s == 0 ? w.graphInput(0, "x", shape) : w.kept(shape, kIn);
    w.output(w.dot(dh, x, 0, 0, {kWidth, kWidth}))->set_gradient_site(0);
  }

  void writeLast(int64_t s) {
    Writer f(package.forward[s], moduleOf(s));
    uint32_t x = input(f, s), w = f.weight();
    uint32_t scale = f.graphInput(1, "loss_scale", {});
    uint32_t z = 0;
    if (skips()) {
      uint32_t skip =
          f.transfer(transfer(valueOf(0), s), valueOf(0), shape, kSkip);
      uint32_t h = f.dot(x, w, 1, 1, shape);
      z = f.op("add", {h, skip}, shape, {}, kOut);
    } else {
      z = f.dot(x, w, 1, 1, shape, kOut);
    }
    uint32_t square = f.op("mul", {z, z}, shape);
    uint32_t sum = f.op("reduce", {square}, {},
                        {kindAttr("sum"), intsAttr("dims", {0, 1})});
    f.output(f.op("mul", {sum, scale}, {}))->set_graph_output(0);

    auto gradient = [&](Writer &p) {
      uint32_t factor =
          p.op("mul", {p.graphInput(1, "loss_scale", {}), p.literal(2)}, {});
      return p.op("mul", {p.kept(shape, kOut), factor}, shape, {}, kGradHidden);
    };
    Writer bw(package.backwardWeight[s], moduleOf(s));
    uint32_t dz = 0;
    if (s > 0) {
      Writer b(package.backwardInput[s], moduleOf(s));
      uint32_t g = gradient(b);
      uint32_t gx = b.dot(g, b.weight(), 1, 0, shape);
      b.output(gx)->set_transfer(transfer(gradOf(s), s - 1));
      if (skips())
        b.output(g)->set_transfer(transfer("skip", 1));
      dz = bw.kept(shape, kGradHidden);
    } else {
      dz = gradient(bw);
    }
    uint32_t in = s == 0 ? bw.graphInput(0, "x", shape) : bw.kept(shape, kIn);
    bw.output(bw.dot(dz, in, 0, 0, {kWidth, kWidth}))->set_gradient_site(0);
  }
};

Status writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  return file.good() ? Status() : ioError(path);
}

StageGraph graphOf(const schema::Manifest &manifest) {
  StageGraph graph;
  graph.stages = manifest.stages_size();
  for (const auto &transfer : manifest.transfers())
    graph.addTransfer(transfer.from(), transfer.to(), transfer.gradient());
  for (const auto &stage : manifest.stages())
    graph.backward.push_back(
        backwardWork(stage.backward_input(), stage.backward_weight()));
  return graph;
}

} // namespace

TrainingPackage::TrainingPackage(int64_t stages, int64_t rows) {
  Chain(*this, stages, rows).build();
}

Status TrainingPackage::setSchedule(Schedule schedule) {
  PIPEC_RETURN_IF_ERROR(addCommunication(schedule, graphOf(manifest)));
  setRawSchedule(schedule);
  return {};
}

void TrainingPackage::setRawSchedule(const Schedule &schedule) {
  auto *message = manifest.mutable_training()->mutable_schedule();
  message->Clear();
  message->set_name(schedule.name);
  message->set_microbatches(schedule.microbatches);
  for (int64_t rank : schedule.rankOfStage)
    message->add_rank_of_stage(rank);
  for (const ScheduleList &list : schedule.lists) {
    auto *rank = message->add_ranks();
    for (const ScheduleAction &action : list) {
      rank->add_kind(static_cast<uint32_t>(action.kind));
      rank->add_stage(action.stage);
      rank->add_microbatch(action.microbatch);
      rank->add_peer(action.peerStage);
      rank->add_overlaps_next(action.overlapsNext);
    }
  }
}

Status TrainingPackage::write(const std::string &path) const {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(manifest, &json).ok())
    return internalError("no JSON");
  PIPEC_RETURN_IF_ERROR(writeBytes(path + "/manifest.json", json));
  for (size_t s = 0; s < forward.size(); ++s) {
    const std::string folder = path + "/stage" + std::to_string(s);
    std::filesystem::create_directories(folder, error);
    PIPEC_RETURN_IF_ERROR(
        writeBytes(folder + "/program0.pb", forward[s].SerializeAsString()));
    if (manifest.stages(static_cast<int>(s)).backward_input())
      PIPEC_RETURN_IF_ERROR(writeBytes(folder + "/backward_input0.pb",
                                       backwardInput[s].SerializeAsString()));
    PIPEC_RETURN_IF_ERROR(writeBytes(folder + "/backward_weight0.pb",
                                     backwardWeight[s].SerializeAsString()));
    PIPEC_RETURN_IF_ERROR(saveSafetensors(folder + "/weights.safetensors",
                                          weights[s], /*overwrite=*/true));
  }
  return {};
}

TensorMap trainingBatch(int64_t rows) {
  return {{"x", pattern({rows, kWidth}, 99)}};
}

} // namespace pipec::test

// Test packages from small graphs. In: a Model; out: a package whose arena
// gives each value a place of its own. Serves the tests of this folder,
// test/install and test/fuzz/package.
#include "test/unit/runtime/PackageBuilder.h"

#include "runtime/base/safetensors.h"
#include "runtime/schema/version.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include <unistd.h>

namespace pipec::test {
namespace {

void setType(schema::TensorType *type, DType dtype, const Shape &shape,
             int64_t rows) {
  type->set_dtype(static_cast<schema::DType>(dtype));
  for (int64_t dim : shape)
    type->add_shape(dim < 0 ? rows : dim);
}

/// Cuts a model: which value crosses where, then a program a stage and variant.
class Cutter {
public:
  Cutter(const Model &model, PackageBuilder &package)
      : model(model), package(package) {}

  void run() {
    for (const Model::Node &node : model.nodes)
      stageOf[node.result] = node.stage;
    writeManifest();
    package.programs.resize(model.stages);
    package.weights.resize(model.stages);
    for (uint32_t s = 0; s < model.stages; ++s) {
      declareWeights(s);
      for (int64_t rows : model.rows)
        package.programs[s].push_back(makeProgram(s, rows));
    }
  }

private:
  const Model::Node *findNode(const std::string &name) const {
    for (const Model::Node &node : model.nodes)
      if (node.result == name)
        return &node;
    return nullptr;
  }
  uint32_t outputStage(const Model::Output &output) const {
    auto it = stageOf.find(output.value);
    // An explicit later stage emits a value that it receives.
    if (it == stageOf.end() || output.stage > it->second)
      return output.stage;
    return it->second;
  }
  void noteTransfer(const std::string &value, uint32_t to) {
    auto it = stageOf.find(value);
    if (it == stageOf.end() || it->second == to ||
        transferIndex.count({value, to}))
      return;
    transferIndex[{value, to}] = package.manifest.transfers_size();
    schema::Transfer *transfer = package.manifest.add_transfers();
    transfer->set_value(value);
    transfer->set_from(it->second);
    transfer->set_to(to);
    const Model::Node *node = findNode(value);
    transfer->set_producer(node->module);
    for (int64_t rows : model.rows)
      setType(transfer->add_types(), node->dtype, node->shape, rows);
  }

  void writeManifest() {
    schema::Manifest &manifest = package.manifest;
    manifest.set_format_version(kPackageFormatVersion);
    manifest.set_producer("pipec tests");
    manifest.set_model("model.onnx");
    for (int64_t rows : model.rows)
      manifest.add_variants()->set_microbatch_rows(rows);
    for (const Model::Input &input : model.inputs) {
      schema::GraphInput *added = manifest.add_inputs();
      added->set_name(input.name);
      added->set_whole(input.whole);
      for (int64_t rows : model.rows)
        setType(added->add_types(), input.dtype, input.shape, rows);
    }
    for (const Model::Node &node : model.nodes)
      for (const std::string &operand : node.operands)
        noteTransfer(operand, node.stage);
    for (const Model::Output &output : model.outputs) {
      noteTransfer(output.value, outputStage(output));
      schema::GraphOutput *added = manifest.add_outputs();
      added->set_name(output.name);
      added->set_merge(output.merge);
      for (int64_t rows : model.rows)
        addOutputType(added->add_types(), output.value, rows);
    }
    for (uint32_t s = 0; s < model.stages; ++s) {
      schema::Stage *stage = manifest.add_stages();
      stage->set_index(s);
      for (size_t v = 0; v < model.rows.size(); ++v)
        stage->add_flops(100);
    }
  }

  void addOutputType(schema::TensorType *type, const std::string &value,
                     int64_t rows) const {
    if (const Model::Node *node = findNode(value))
      return setType(type, node->dtype, node->shape, rows);
    for (const Model::Input &input : model.inputs)
      if (input.name == value)
        return setType(type, input.dtype, input.shape, rows);
    const Tensor &weight = model.weights.at(value);
    setType(type, weight.dtype(), weight.shape(), rows);
  }

  void declareWeights(uint32_t s) {
    std::set<std::string> used;
    for (const Model::Node &node : model.nodes)
      if (node.stage == s)
        used.insert(node.operands.begin(), node.operands.end());
    for (const Model::Output &output : model.outputs)
      if (outputStage(output) == s)
        used.insert(output.value);
    for (const auto &[name, tensor] : model.weights) {
      if (!used.count(name))
        continue;
      schema::Weight *weight =
          package.manifest.mutable_stages(s)->add_weights();
      weight->set_name(name);
      setType(weight->mutable_type(), tensor.dtype(), tensor.shape(), 0);
      package.weights[s].emplace(name, tensor);
    }
  }

  /// Index of the value `name` in the program being made, which it adds when it
  /// comes from outside.
  uint32_t use(schema::Program &program, uint32_t s, int64_t rows,
               std::map<std::string, uint32_t> &values,
               const std::string &name) {
    if (auto it = values.find(name); it != values.end())
      return it->second;
    const uint32_t index = program.values_size();
    schema::Value *value = program.add_values();
    values[name] = index;
    const auto &weights = package.manifest.stages(s).weights();
    for (int w = 0; w < weights.size(); ++w)
      if (weights[w].name() == name) {
        *value->mutable_type() = weights[w].type();
        value->set_weight(w);
        return index;
      }
    value->set_input(program.inputs_size());
    schema::ProgramInput *input = program.add_inputs();
    input->set_name(name);
    addOutputType(value->mutable_type(), name, rows);
    *input->mutable_type() = value->type();
    if (findNode(name)) {
      input->set_transfer(transferIndex.at({name, s}));
      return index;
    }
    for (size_t i = 0; i < model.inputs.size(); ++i)
      if (model.inputs[i].name == name)
        input->set_graph_input(i);
    return index;
  }

  schema::Program makeProgram(uint32_t s, int64_t rows) {
    schema::Program program;
    std::map<std::string, uint32_t> values;
    uint64_t arena = 0;
    for (size_t n = 0; n < model.nodes.size(); ++n) {
      const Model::Node &node = model.nodes[n];
      if (node.stage != s)
        continue;
      schema::Instruction instruction;
      instruction.set_op(node.op);
      for (const std::string &operand : node.operands)
        instruction.add_inputs(use(program, s, rows, values, operand));
      instruction.add_outputs(program.values_size());
      for (const schema::Attribute &attribute : node.attributes)
        *instruction.add_attributes() = attribute;
      instruction.mutable_origin()->set_module(node.module);
      instruction.mutable_origin()->set_node("node_" + node.result);
      instruction.mutable_origin()->set_op(node.op);
      instruction.mutable_origin()->set_file("model.py");
      instruction.mutable_origin()->set_line(10 + n);
      values[node.result] = program.values_size();
      schema::Value *value = program.add_values();
      setType(value->mutable_type(), node.dtype, node.shape, rows);
      value->set_arena_offset(arena);
      TensorType type{
          node.dtype,
          {value->type().shape().begin(), value->type().shape().end()}};
      arena += (type.byteSize() + 63) / 64 * 64;
      *program.add_instructions() = instruction;
    }
    program.set_arena_bytes(arena);
    addOutputs(program, s, rows, values);
    return program;
  }

  void addOutputs(schema::Program &program, uint32_t s, int64_t rows,
                  std::map<std::string, uint32_t> &values) {
    for (size_t o = 0; o < model.outputs.size(); ++o)
      if (outputStage(model.outputs[o]) == s) {
        uint32_t value = use(program, s, rows, values, model.outputs[o].value);
        schema::ProgramOutput *output = program.add_outputs();
        output->set_value(value);
        output->set_graph_output(o);
      }
    for (const auto &[key, index] : transferIndex)
      if (stageOf.at(key.first) == s) {
        schema::ProgramOutput *output = program.add_outputs();
        output->set_value(values.at(key.first));
        output->set_transfer(index);
      }
  }

  const Model &model;
  PackageBuilder &package;
  std::map<std::string, uint32_t> stageOf; // nodes only
  std::map<std::pair<std::string, uint32_t>, uint32_t> transferIndex;
};

Status writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file.good() ? Status() : ioError(path + ": could not be written");
}

} // namespace

schema::Attribute intsAttr(const std::string &name,
                           std::vector<int64_t> values) {
  schema::Attribute attribute;
  attribute.set_name(name);
  schema::IntList *list = attribute.mutable_ints();
  for (int64_t value : values)
    list->add_values(value);
  return attribute;
}

schema::Attribute intAttr(const std::string &name, int64_t value) {
  schema::Attribute attribute;
  attribute.set_name(name);
  attribute.set_i(value);
  return attribute;
}

schema::Attribute dtypeAttr(const std::string &name, DType dtype) {
  schema::Attribute attribute;
  attribute.set_name(name);
  attribute.set_dtype(static_cast<schema::DType>(dtype));
  return attribute;
}

Tensor f32(Shape shape, std::vector<float> values) {
  return *Tensor::copyOf({DType::F32, std::move(shape)}, values.data());
}

Tensor i64(Shape shape, std::vector<int64_t> values) {
  return *Tensor::copyOf({DType::I64, std::move(shape)}, values.data());
}

Tensor pattern(Shape shape, uint32_t seed) {
  Tensor tensor = *Tensor::allocate({DType::F32, std::move(shape)});
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    state = state * 1664525u + 1013904223u;
    tensor.as<float>()[i] =
        static_cast<float>(static_cast<int32_t>(state >> 8) - (1 << 23)) /
        static_cast<float>(1 << 23);
  }
  return tensor;
}

PackageBuilder::PackageBuilder(const Model &model) {
  Cutter(model, *this).run();
}

std::string PackageBuilder::manifestJson() const {
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  if (!google::protobuf::util::MessageToJsonString(manifest, &json, options)
           .ok())
    json.clear();
  return json;
}

Status PackageBuilder::write(const std::string &path) const {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  PIPEC_RETURN_IF_ERROR(writeFile(path + "/manifest.json", manifestJson()));
  for (size_t s = 0; s < programs.size(); ++s) {
    const std::string folder = path + "/stage" + std::to_string(s);
    std::filesystem::create_directories(folder, error);
    for (size_t v = 0; v < programs[s].size(); ++v)
      PIPEC_RETURN_IF_ERROR(
          writeFile(folder + "/program" + std::to_string(v) + ".pb",
                    programs[s][v].SerializeAsString()));
    PIPEC_RETURN_IF_ERROR(saveSafetensors(folder + "/weights.safetensors",
                                          weights[s], /*overwrite=*/true));
  }
  return {};
}

Model mlp(uint32_t stages, std::vector<int64_t> rows, int64_t width) {
  Model model;
  model.stages = stages;
  model.rows = std::move(rows);
  model.inputs = {{"x", {-1, width}}};
  std::string in = "x";
  for (uint32_t k = 0; k < 4; ++k) {
    const std::string n = std::to_string(k), module = "fc" + n;
    const uint32_t stage = k * stages / 4;
    model.weights[module + ".weight"] = pattern({width, width}, k + 1);
    model.weights[module + ".bias"] = pattern({width}, k + 100);
    model.nodes.push_back(
        {"dot_general",
         {in, module + ".weight"},
         "dot" + n,
         {-1, width},
         stage,
         DType::F32,
         {intsAttr("lhs_contract", {1}), intsAttr("rhs_contract", {1})},
         module});
    model.nodes.push_back({"add",
                           {"dot" + n, module + ".bias"},
                           "sum" + n,
                           {-1, width},
                           stage,
                           DType::F32,
                           {},
                           module});
    in = "sum" + n;
    if (k < 3) {
      model.nodes.push_back({"relu",
                             {in},
                             "act" + n,
                             {-1, width},
                             stage,
                             DType::F32,
                             {},
                             module + ".act"});
      in = "act" + n;
    }
    if (k == 2) {
      model.nodes.push_back({"add",
                             {in, "act0"},
                             "skip",
                             {-1, width},
                             stage,
                             DType::F32,
                             {},
                             "skip"});
      in = "skip";
    }
  }
  model.outputs = {{"y", in}};
  return model;
}

TempFolder::TempFolder() {
  std::string name =
      (std::filesystem::temp_directory_path() / "pipec-test-XXXXXX").string();
  path = mkdtemp(name.data()) ? name : "";
}

TempFolder::~TempFolder() {
  std::error_code error;
  if (!path.empty())
    std::filesystem::remove_all(path, error);
}

Package openBuilt(const PackageBuilder &builder, const std::string &path) {
  if (Status status = builder.write(path); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  }
  auto package = Package::open(path);
  if (!package.ok()) {
    std::fprintf(stderr, "%s\n", package.status().message().c_str());
    std::exit(1);
  }
  return *package;
}

} // namespace pipec::test

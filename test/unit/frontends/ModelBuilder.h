// Small ONNX models in code, for the frontend's tests.
//
// In: nodes, initializers, inputs. Out: a ModelProto, and files in a folder of
// their own that goes with the object.
#ifndef PIPEC_TEST_UNIT_FRONTENDS_MODELBUILDER_H
#define PIPEC_TEST_UNIT_FRONTENDS_MODELBUILDER_H

#include "onnx-ml.pb.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace pipec::onnx::testing {

/// A folder that is removed with the object.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "pipec-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(folder); }
  std::string path(const std::string &name) const {
    return (folder / name).string();
  }
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

private:
  std::filesystem::path folder;
};

class ModelBuilder {
public:
  explicit ModelBuilder(int64_t opset = 18) {
    proto.set_ir_version(8);
    proto.add_opset_import()->set_version(opset);
    graph()->set_name("g");
  }

  ::onnx::GraphProto *graph() { return proto.mutable_graph(); }

  ::onnx::ValueInfoProto *input(const std::string &name,
                                const std::vector<std::string> &dims,
                                int type = ::onnx::TensorProto::FLOAT) {
    return port(graph()->add_input(), name, dims, type);
  }
  ::onnx::ValueInfoProto *output(const std::string &name,
                                 const std::vector<std::string> &dims = {},
                                 int type = ::onnx::TensorProto::FLOAT) {
    ::onnx::ValueInfoProto *info =
        port(graph()->add_output(), name, dims, type);
    if (dims.empty())
      info->mutable_type()->mutable_tensor_type()->clear_shape();
    return info;
  }

  ::onnx::NodeProto *node(const std::string &op,
                          const std::vector<std::string> &inputs,
                          const std::vector<std::string> &outputs,
                          const std::string &name = "") {
    ::onnx::NodeProto *made = graph()->add_node();
    made->set_op_type(op);
    made->set_name(name.empty() ? "node_" + outputs[0] : name);
    for (const std::string &value : inputs)
      made->add_input(value);
    for (const std::string &value : outputs)
      made->add_output(value);
    return made;
  }

  /// An initializer with raw_data.
  template <typename T>
  ::onnx::TensorProto *initializer(const std::string &name, int type,
                                   const std::vector<int64_t> &dims,
                                   const std::vector<T> &values) {
    ::onnx::TensorProto *tensor = graph()->add_initializer();
    fill(*tensor, name, type, dims, values);
    return tensor;
  }
  ::onnx::TensorProto *floats(const std::string &name,
                              const std::vector<int64_t> &dims,
                              const std::vector<float> &values) {
    return initializer(name, ::onnx::TensorProto::FLOAT, dims, values);
  }
  ::onnx::TensorProto *ints(const std::string &name,
                            const std::vector<int64_t> &dims,
                            const std::vector<int64_t> &values) {
    return initializer(name, ::onnx::TensorProto::INT64, dims, values);
  }

  template <typename T>
  static void fill(::onnx::TensorProto &tensor, const std::string &name,
                   int type, const std::vector<int64_t> &dims,
                   const std::vector<T> &values) {
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (int64_t dim : dims)
      tensor.add_dims(dim);
    tensor.set_raw_data(values.data(), values.size() * sizeof(T));
  }

  static void attribute(::onnx::NodeProto *node, const std::string &name,
                        int64_t value) {
    auto *made = node->add_attribute();
    made->set_name(name);
    made->set_type(::onnx::AttributeProto::INT);
    made->set_i(value);
  }
  static void attribute(::onnx::NodeProto *node, const std::string &name,
                        const std::vector<int64_t> &values) {
    auto *made = node->add_attribute();
    made->set_name(name);
    made->set_type(::onnx::AttributeProto::INTS);
    for (int64_t value : values)
      made->add_ints(value);
  }
  static void metadata(::onnx::NodeProto *node, const std::string &key,
                       const std::string &value) {
    auto *made = node->add_metadata_props();
    made->set_key(key);
    made->set_value(value);
  }
  /// What the file says of a value in between.
  void value(const std::string &name, const std::vector<std::string> &dims) {
    port(graph()->add_value_info(), name, dims, ::onnx::TensorProto::FLOAT);
  }
  /// The exporter computed `value` from `sources`, a list as Python writes it.
  void foldedFrom(const std::string &value, const std::string &sources) {
    auto *info = graph()->add_value_info();
    info->set_name(value);
    auto *made = info->add_metadata_props();
    made->set_key("pkg.onnxscript.optimizer.folded_from");
    made->set_value(sources);
  }
  void signature(const std::string &text) {
    auto *made = graph()->add_metadata_props();
    made->set_key("pkg.torch.export.ExportedProgram.graph_signature");
    made->set_value(text);
  }

  std::string bytes() const { return proto.SerializeAsString(); }

  ::onnx::ModelProto proto;

private:
  /// Dims are numbers or symbols.
  static ::onnx::ValueInfoProto *port(::onnx::ValueInfoProto *info,
                                      const std::string &name,
                                      const std::vector<std::string> &dims,
                                      int type) {
    info->set_name(name);
    auto *tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (const std::string &dim : dims) {
      auto *made = tensor->mutable_shape()->add_dim();
      if (isdigit(static_cast<unsigned char>(dim[0])) || dim[0] == '-')
        made->set_dim_value(std::atoll(dim.c_str()));
      else
        made->set_dim_param(dim);
    }
    return info;
  }
};

/// The node's module, and its fx call up to the keywords.
inline void fxNode(::onnx::NodeProto *node, const std::string &module,
                   const std::string &call,
                   const std::string &result = "call") {
  ModelBuilder::metadata(node, "pkg.torch.onnx.name_scopes",
                         "['', '" + module + "', 'call']");
  ModelBuilder::metadata(node, "pkg.torch.onnx.fx_node",
                         "%" + result +
                             " : [num_users=1] = call_function[target=torch."
                             "ops." +
                             call + ", kwargs = {})");
}

} // namespace pipec::onnx::testing

#endif

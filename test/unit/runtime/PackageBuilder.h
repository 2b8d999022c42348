// Packages made by hand, for tests that need no compiler: a small graph, cut
// where the test says, becomes manifest, programs and weights.
#ifndef PIPEC_TEST_UNIT_RUNTIME_PACKAGEBUILDER_H
#define PIPEC_TEST_UNIT_RUNTIME_PACKAGEBUILDER_H

#include "pipec/package.h"

#include "package.pb.h"

namespace pipec::test {

/// -1 in a shape stands for the rows of a microbatch.
using Shape = std::vector<int64_t>;

schema::Attribute intsAttr(const std::string &name,
                           std::vector<int64_t> values);
schema::Attribute intAttr(const std::string &name, int64_t value);
schema::Attribute dtypeAttr(const std::string &name, DType dtype);

Tensor f32(Shape shape, std::vector<float> values);
Tensor i64(Shape shape, std::vector<int64_t> values);
/// Small, exactly reproducible values between -1 and 1.
Tensor pattern(Shape shape, uint32_t seed);

/// Values have names; a node reads inputs, weights and earlier nodes.
struct Model {
  struct Input {
    std::string name;
    Shape shape;
    DType dtype = DType::F32;
    bool whole = false;
  };
  struct Node {
    std::string op;
    std::vector<std::string> operands;
    std::string result;
    Shape shape;
    uint32_t stage = 0;
    DType dtype = DType::F32;
    std::vector<schema::Attribute> attributes = {};
    std::string module = "";
  };
  struct Output {
    std::string name, value;
    schema::Merge merge = schema::CONCAT;
    uint32_t stage =
        0; // of an input or weight passed through; a node's own stage else
  };
  std::vector<Input> inputs;
  std::map<std::string, Tensor> weights;
  std::vector<Node> nodes;
  std::vector<Output> outputs;
  std::vector<int64_t> rows = {2}; // a variant each
  uint32_t stages = 1;
};

/// A package before it is written: change any part to corrupt it.
struct PackageBuilder {
  explicit PackageBuilder(const Model &model);

  /// Writes the folder `path`, replacing files that are there.
  Status write(const std::string &path) const;
  std::string manifestJson() const;

  schema::Program &program(size_t stage, size_t variant = 0) {
    return programs[stage][variant];
  }

  schema::Manifest manifest;
  std::vector<std::vector<schema::Program>> programs; // [stage][variant]
  std::vector<TensorMap> weights;                     // by stage
};

/// y = fc3(relu(fc2(relu(fc1(relu(fc0(x))))) + relu(fc0(x)))): four layers of
/// `width` cut in 1 to 4 stages; the sum is a skip connection over a stage.
Model mlp(uint32_t stages, std::vector<int64_t> rows, int64_t width = 4);

/// A fresh folder below the test's temporary one, removed with the object.
class TempFolder {
public:
  TempFolder();
  ~TempFolder();
  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }
  std::string path;
};

/// Writes and opens; the test fails when that does not work.
Package openBuilt(const PackageBuilder &builder, const std::string &path);

} // namespace pipec::test

#endif

// What the compiler sees of a model file, whatever its format: a frontend opens
// the file and hands out an OpenedModel (frontends/OpenModel.h picks it).
//
// In: shapes of inputs, sizes of symbols, ties. Out: the model's interface,
// its `pipe.graph`, and what the file does not keep. Tensor bytes stay where
// they lie and become `#pipe.source` references. Files are untrusted: every
// error names the file and the node, and nothing throws.
#ifndef PIPEC_FRONTENDS_COMMON_OPENEDMODEL_H
#define PIPEC_FRONTENDS_COMMON_OPENEDMODEL_H

#include "pipec/tensor.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Most of the frontend reads names and bytes: MLIR's headers are for those that
// import.
namespace mlir {
class MLIRContext;
class ModuleOp;
template <typename OpTy> class OwningOpRef;
} // namespace mlir

namespace pipec::frontend {

/// What a model file declares, before any size is bound.
struct ModelInterface {
  /// -1 with a name: symbolic. -1 without: unknown.
  struct Dim {
    int64_t size = -1;
    std::string symbol;
  };
  struct Port {
    std::string name;
    DType dtype = DType::F32;
    bool hasShape = true;
    std::vector<Dim> shape;
  };
  std::vector<Port> inputs; // graph inputs that are no initializer
  std::vector<Port> outputs;
};

/// A message for the user that is no error: "lm_head.weight is tied to ...".
using Notice = std::function<void(const std::string &)>;

struct ImportOptions {
  /// Shape of each graph input for one microbatch, by name; those absent come
  /// from `bindings` or are static.
  std::map<std::string, std::vector<int64_t>> inputShapes;
  /// Sizes of symbolic dimensions (`--bind batch=32`).
  std::map<std::string, int64_t> bindings;
  /// Graph inputs that every microbatch gets uncut: marked `pipe.whole`.
  std::vector<std::string> wholeInputs;
  /// `--tie A=B`: two parameters of equal type are one. `--untie NAME`: undo a
  /// recognised tie.
  std::vector<std::pair<std::string, std::string>> ties;
  std::vector<std::string> unties;
  /// A safetensors file with the state_dict that the model was exported with
  /// (`--names`): tensors get its names, by their bytes. Empty: none.
  std::string names;
  /// The graph is to be trained: BatchNormalization in training mode is taken.
  bool training = false;
  /// Told, before it starts, of work that takes seconds; import() sets it.
  Notice progress;
};

/// A tensor that the exporter computed and that a node reads in place of values
/// of the model.
struct ComputedTensor {
  std::string name;  // of the initializer
  std::string where; // "node 'node_mul_1' (Mul, fc, net.py:3)"
  std::vector<std::string> parameters; // state_dict names: what it may be from
  bool certain = false;                // the file says that it is from them
};

/// Parameters that the file has no tensor of, although something was made of
/// them: they went into other tensors, or into constants. One that nothing
/// reads leaves no trace and is not among them.
struct LostParameters {
  std::vector<std::string> names; // or those of what was made of them
  size_t all = 0;                 // with the parameters that the file has
};

/// What a file does not keep of a model and training would need.
struct TrainingLosses {
  /// Tensors that may have been computed from parameters which the file still
  /// has; through these the parameters get no gradient.
  std::vector<ComputedTensor> computed;
  /// Parameters of a file that does not tell buffers from parameters, with a
  /// last name that is not usual for a parameter.
  std::vector<std::string> possibleBuffers;
  /// Parameters whose names come from the modules that read them, as the file
  /// has only numbers: "l.weight" of onnx::MatMul_12. What an exporter made of
  /// a parameter (half of it) looks alike.
  std::vector<std::string> guessedNames;
  /// Tables of a legacy file with a row of zeros, which padding_idx may have
  /// made: PyTorch then does not train it, and the file does not say so.
  std::map<std::string, int64_t> paddedTables;
};

/// An opened model: parsed and checked once, imported once per microbatch size.
/// Used by one thread at a time.
class OpenedModel {
public:
  virtual ~OpenedModel() = default;

  virtual const ModelInterface &interface() const = 0;
  /// Paths of the files that hold tensors: the model's own, and those beside it
  /// (external data). Each once.
  virtual std::vector<std::string> files() const = 0;
  /// Module with one `pipe.graph @main` and its `pipe.weight`s. Deterministic.
  /// Origins (`#pipe.origin`) are numbered in the order of the walk that made
  /// the graph, the same for every size. Unsupported ops are all listed in one
  /// error (Unsupported) with counts and the first node of each; shape
  /// conflicts name input or node, expected and got.
  virtual StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
  import(mlir::MLIRContext &context, const ImportOptions &options,
         const Notice &notice) const = 0;
  /// Parameters that the exporter folded away, as far as the file names them;
  /// else by the name of what it made of them. Of the options, ties, unties and
  /// names count, here and below; where import() refuses them, nothing is
  /// listed.
  virtual std::vector<std::string>
  foldedParameters(const ImportOptions &options = {}) const = 0;
  virtual LostParameters
  lostParameters(const ImportOptions &options = {}) const = 0;
  /// What training cannot know from the file.
  virtual TrainingLosses
  trainingLosses(const ImportOptions &options = {}) const = 0;
};

} // namespace pipec::frontend

#endif

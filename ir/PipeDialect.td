// The `pipe` dialect: what it is, what enters and what leaves it.
#ifndef PIPEC_IR_PIPEDIALECT_TD
#define PIPEC_IR_PIPEDIALECT_TD

include "mlir/IR/OpBase.td"

def Pipe_Dialect : Dialect {
  let name = "pipe";
  let cppNamespace = "::pipec::pipe";
  let summary = "Whole-tensor graphs, their weights, and their cut into pipeline stages";
  let description = [{
    ```
      .onnx  ──frontends──▶  pipe.graph of tensor ops        (import: shapes bound, constants folded)
                                │  passes/partition
                                ▼
                             pipe.graph of pipe.stage and pipe.transfer ops
                                │  passes/lower, compiler/
                                ▼
                             package: one program and one weight file a stage
    ```

    Enters: one `pipe.graph` per model and microbatch size, `pipe.weight`
    declarations beside it. Leaves: the same graph holding only `pipe.stage`,
    `pipe.transfer` and `pipe.output`.

    Invariants of the whole dialect, cited in code as PIPE-I1 to PIPE-I7:

    1. Every tensor type has a static shape and an element type of
       `Pipe_Tensor`; sizes in bytes fit 2^62.
    2. Every tensor op is pure: no side effects, no aliasing, no in-place update.
    3. Ops stand in the order of the model file. A pass may remove, replace or
       add ops, never move one across another module's; only what depends on
       weights alone moves, in front of its first reader, when stages are given.
    4. Every tensor op carries a `#pipe.origin` in its location: module path,
       node, operator and position in the walk that imported the graph.
       Rewrites keep it.
    5. Weights and constants are references to where bytes lie. The only bytes
       in the IR are `pipe.constant` literals of at most 16 elements, or splats.
    6. The types of results follow from operands and attributes alone
       (`InferTypeOpInterface`), and are verified against what is declared.
    7. After partitioning, data flows from a stage to a later one only, and
       each value crosses to each consumer stage by exactly one `pipe.transfer`.
       Gradients flow to earlier stages only: the running sum of a value's
       gradient goes from each consumer stage to the next earlier one, from the
       first of them to the producer.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasNonDefaultDestructor = 1;
  let extraClassDeclaration = [{
    /// Discardable attribute with the stage that an op is assigned to,
    /// between annotation and outlining (i64).
    static constexpr llvm::StringLiteral kStageIndexAttr = "pipe.stage_index";
    /// Argument and result attribute of a graph: the model's name for it (string).
    static constexpr llvm::StringLiteral kNameAttr = "pipe.name";
    /// Argument attribute of a graph: every microbatch gets the argument uncut (unit).
    static constexpr llvm::StringLiteral kWholeAttr = "pipe.whole";
    /// Argument attribute of a graph that is trained: what the runtime feeds it
    /// ("labels", "loss_scale", "random_key"); absent: data (string).
    static constexpr llvm::StringLiteral kRoleAttr = "pipe.role";
    /// Result attribute of a graph that is trained: the buffer whose new value
    /// it is (string); absent on the loss, which is result 0.
    static constexpr llvm::StringLiteral kBufferAttr = "pipe.buffer";

    /// Bytes of constants made at compile time.
    ConstantPool &getConstantPool() { return *constantPool; }

  private:
    // One for each kind of op, each in its own file.
    void registerElementwiseOps();
    void registerReduceOps();
    void registerShapeOps();
    void registerIndexOps();
    void registerLinearOps();
    void registerNormOps();
    void registerTrainingOps();
    void registerPipelineOps();

    std::unique_ptr<ConstantPool> constantPool;

  public:
  }];
}

class Pipe_Op<string mnemonic, list<Trait> traits = []> : Op<Pipe_Dialect, mnemonic, traits>;

#endif

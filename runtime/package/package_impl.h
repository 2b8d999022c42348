// A package as the runtime holds it after all checks: plain data, free of the
// schema's classes. Whatever is here may be used without checking again.
//
// Guarantees (PKG-G<n>), made by manifest_reader, program_reader,
// arena_checks and routing_checks:
//   1. Every index is in range; every type has a known dtype and a size that
//   fits 2^62.
//   2. Each value is defined before use, and once; instructions write arena
//   values only.
//   3. Arena values lie inside the arena, 64-byte aligned, and share bytes with
//   no other live value,
//      except along reshapes marked `alias`.
//   4. Every transfer leaves its stage and enters its stage exactly once per
//   variant, with equal types;
//      every graph output leaves exactly one stage, the same in all variants.
#ifndef PIPEC_RUNTIME_PACKAGE_PACKAGE_IMPL_H
#define PIPEC_RUNTIME_PACKAGE_PACKAGE_IMPL_H

#include "pipec/package.h"
#include "runtime/base/op.h"

namespace pipec {

/// Alignment of arena values, in bytes.
constexpr uint64_t kArenaAlignment = 64;

struct ExternalRange {
  std::string file; // as the manifest has it
  uint64_t offset = 0, length = 0;
  uint64_t fileSize = 0;   // when the package was made; with fileMtimeNs 0: not
  int64_t fileMtimeNs = 0; // checked
  std::vector<int64_t> storedShape, permutation; // both empty: as it lies
};

struct ValueDesc {
  enum class Storage { Arena, Input, Weight, Literal };
  TensorType type;
  Storage storage = Storage::Arena;
  uint64_t offset = 0; // in the arena
  uint32_t index = 0;  // of the program input or stage weight
  std::string literal; // the bytes
};

struct InstructionDesc {
  OpDesc op;
  std::vector<uint32_t> inputs, outputs; // indices of values
  bool alias = false; // a reshape whose result is its operand's bytes
};

struct ProgramInputDesc {
  std::string name;
  TensorType type;
  bool transfer = false; // else a graph input
  uint32_t index = 0;    // of the transfer or graph input
};

struct ProgramOutputDesc {
  uint32_t value = 0;
  bool transfer = false; // else a graph output
  uint32_t index = 0;
};

struct ProgramDesc {
  std::vector<ValueDesc> values;
  std::vector<InstructionDesc> instructions;
  std::vector<ProgramInputDesc> inputs;
  std::vector<ProgramOutputDesc> outputs;
  uint64_t arenaBytes = 0;
};

/// What crosses a stage's border, as indices of transfers and graph outputs.
struct StageRouting {
  std::vector<uint32_t> receives, sends, emits;
};

struct Package::Impl {
  std::string path, modelName, producer;
  std::vector<InputInfo> inputs;
  std::vector<OutputInfo> outputs;
  std::vector<StageInfo> stages;
  std::vector<TransferInfo> transfers;
  std::vector<int64_t> microbatchRows;
  /// Beside stages[s].weights: where the bytes are, when not in the stage's own
  /// file.
  std::vector<std::vector<std::optional<ExternalRange>>> external;
  /// [stage][variant]; empty where the stage's folder is not on this host.
  std::vector<std::vector<ProgramDesc>> programs;
  std::vector<StageRouting> routing;

  size_t variantCount() const { return microbatchRows.size(); }
  /// Whether axis 0 of input `i` is cut into microbatches in variant `v`.
  bool isCut(size_t i, size_t v) const {
    return !inputs[i].whole && microbatchRows[v] > 0 &&
           !inputs[i].types[v].shape.empty();
  }
  std::string stageFolder(size_t stage) const {
    return path + "/stage" + std::to_string(stage);
  }
  /// An error (Io) unless the stage's folder was there when the package was
  /// opened.
  Status requireStage(size_t stage) const;
};

} // namespace pipec

#endif

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
//      except along reshapes marked `alias`. Context values lie inside the
//      context, 64-byte aligned; an instruction's results share no bytes with
//      its operands.
//   4. Every transfer leaves its stage and enters its stage exactly once per
//   variant, with equal types;
//      every graph output leaves exactly one stage, the same in all variants.
#ifndef PIPEC_RUNTIME_PACKAGE_PACKAGE_IMPL_H
#define PIPEC_RUNTIME_PACKAGE_PACKAGE_IMPL_H

#include "pipec/package.h"
#include "runtime/base/op.h"
#include "runtime/schedule/stage_graph.h"

#include <array>
#include <iterator>

namespace pipec {

/// Alignment of arena values, in bytes.
constexpr uint64_t kArenaAlignment = 64;

struct ExternalRange {
  std::string file;        // as the manifest has it
  std::string fingerprint; // of the file; empty: not known
  uint64_t offset = 0, length = 0;
  uint64_t fileSize = 0;   // when the package was made; with fileMtimeNs 0: not
  int64_t fileMtimeNs = 0; // checked
  std::vector<int64_t> storedShape, permutation; // both empty: as it lies
};

struct ValueDesc {
  enum class Storage { Arena, Input, Weight, Literal, Context };
  TensorType type;
  Storage storage = Storage::Arena;
  uint64_t offset = 0; // in the arena or the context
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
  bool transfer = false;  // else a graph input
  uint32_t index = 0;     // of the transfer or graph input
  bool inContext = false; // its bytes lie in the context, at contextOffset
  uint64_t contextOffset = 0;
};

struct ProgramOutputDesc {
  enum class Target { GraphOutput, Transfer, GradientSite, Buffer, LossTotal };
  uint32_t value = 0;
  Target target = Target::GraphOutput;
  uint32_t index = 0; // of the output, transfer, site, stage weight or input
};

struct ProgramDesc {
  std::vector<ValueDesc> values;
  std::vector<InstructionDesc> instructions;
  std::vector<ProgramInputDesc> inputs;
  std::vector<ProgramOutputDesc> outputs;
  uint64_t arenaBytes = 0;
};

/// A use of a parameter in a stage; see schema::GradientSite.
struct SiteDesc {
  uint32_t weight = 0; // of the stage
  uint32_t order = 0;
};

enum class LossKind { CrossEntropy, Mse, Output };

struct TrainingDesc {
  LossKind loss = LossKind::Output;
  bool mean = true;
  std::string labels; // input; empty: none
  int64_t ignoreIndex = 0;
  Schedule schedule; // verified
};

/// The programs of a stage: forward, and those of training where it has them.
/// LossTotals run before all others of a step, and keep no context.
enum class ProgramPhase { Forward, BackwardInput, BackwardWeight, LossTotals };
constexpr ProgramPhase kPhases[] = {
    ProgramPhase::Forward, ProgramPhase::BackwardInput,
    ProgramPhase::BackwardWeight, ProgramPhase::LossTotals};
constexpr size_t kPhaseCount = std::size(kPhases);
/// "program", "backward_input", "backward_weight", "loss_totals": how their
/// files start.
const char *fileStem(ProgramPhase phase);

/// Types that totals of the loss are added up in.
constexpr bool canBeTotal(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F64 || dtype == DType::I64 ||
         dtype == DType::I32 || dtype == DType::I16 || dtype == DType::I8 ||
         dtype == DType::U8;
}

/// What crosses a stage's border, as indices of transfers and graph outputs.
struct StageRouting {
  std::vector<uint32_t> receives, sends, emits; // of all phases
};

struct Package::Impl {
  PackageOptions options;
  std::string path, modelName, producer;
  std::vector<std::string> batchMixes;            // see schema::Manifest
  std::vector<std::string> missing, guessedNames; // see schema::Training
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
  /// To train; empty where a stage has none.
  std::vector<std::vector<ProgramDesc>> backwardInput, backwardWeight,
      lossTotals;
  std::vector<StageRouting> routing;
  std::optional<TrainingDesc> training;
  std::vector<std::vector<SiteDesc>> sites; // by stage
  // By stage and variant. The first `contextWeightBytes` are what W reads; the
  // rest is free after B, where the stage has a B.
  std::vector<std::vector<uint64_t>> contextBytes, contextWeightBytes;
  std::vector<std::map<std::string, std::string>> digests; // of program files
  /// To train: whether a stage computes its forward again in the backward.
  std::vector<bool> recomputes;
  /// Whether the manifest says that a stage has a phase.
  std::vector<std::array<bool, kPhaseCount>> hasPhase;

  bool has(size_t stage, ProgramPhase phase) const {
    return hasPhase[stage][static_cast<size_t>(phase)];
  }
  /// The last phase of a stage, after which a microbatch's context is free.
  ProgramPhase lastPhase(size_t stage) const {
    return has(stage, ProgramPhase::BackwardWeight)
               ? ProgramPhase::BackwardWeight
           : has(stage, ProgramPhase::BackwardInput)
               ? ProgramPhase::BackwardInput
               : ProgramPhase::Forward;
  }
  /// Whether a stage with a backward keeps values that it could compute again.
  bool keepsForward() const {
    for (size_t s = 0; s < stages.size(); ++s)
      if (!recomputes[s] && lastPhase(s) != ProgramPhase::Forward)
        return true;
    return false;
  }
  /// Whether the part of a context that only F and B read is free after it.
  bool releasesInputPart(size_t stage, ProgramPhase phase) const {
    return phase == (has(stage, ProgramPhase::BackwardInput)
                         ? ProgramPhase::BackwardInput
                         : lastPhase(stage));
  }

  std::vector<std::vector<ProgramDesc>> &programsOf(ProgramPhase phase) {
    return phase == ProgramPhase::Forward          ? programs
           : phase == ProgramPhase::BackwardInput  ? backwardInput
           : phase == ProgramPhase::BackwardWeight ? backwardWeight
                                                   : lossTotals;
  }
  const std::vector<std::vector<ProgramDesc>> &
  programsOf(ProgramPhase phase) const {
    return const_cast<Impl *>(this)->programsOf(phase);
  }

  size_t variantCount() const { return microbatchRows.size(); }
  /// Whether axis 0 of input `i` is cut into microbatches in variant `v`.
  bool isCut(size_t i, size_t v) const {
    return !inputs[i].whole && microbatchRows[v] > 0 &&
           !inputs[i].types[v].shape.empty();
  }
  /// Whether the caller feeds input `i`, else the runtime does.
  bool isFed(size_t i) const {
    return inputs[i].role == InputRole::Data ||
           inputs[i].role == InputRole::Labels;
  }
  std::string stageFolder(size_t stage) const {
    return path + "/stage" + std::to_string(stage);
  }
  /// An error (Io) unless the stage's folder was there when the package was
  /// opened.
  Status requireStage(size_t stage) const;
  /// What a schedule has to know of this package.
  StageGraph stageGraph() const;
};

} // namespace pipec

#endif

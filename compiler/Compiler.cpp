// The driver: one import per microbatch size, one plan for all, then emission.
//
// The plan is made on the first (largest) size and holds positions in the model
// file, so it means the same for every size.
// Tests: test/unit/compiler/CompilerTest.cpp, test/conformance.
#include "compiler/Compiler.h"

#include "compiler/BatchMixes.h"
#include "compiler/Diagnostics.h"
#include "compiler/Emit.h"
#include "compiler/ExportRemarks.h"
#include "compiler/GivenInputs.h"
#include "compiler/Microbatches.h"
#include "compiler/OwnLoss.h"
#include "frontends/OpenModel.h"
#include "ir/OpDescs.h"
#include "passes/differentiate/Passes.h"
#include "passes/import/Passes.h"
#include "passes/lower/Passes.h"
#include "passes/partition/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace mlir;

namespace pipec {
namespace {

/// Runs one phase's pipeline on `module`.
Status runPhase(ModuleOp module, const std::string &name,
                llvm::function_ref<void(OpPassManager &)> build) {
  DiagnosticCollector diagnostics(module.getContext());
  PassManager manager(module.getContext());
  manager.enableVerifier(false); // once, behind the phase
  build(manager);
  return succeeded(manager.run(module)) && succeeded(verify(module))
             ? Status()
             : diagnostics.status(name);
}

StatusOr<pipe::PartitionPlan>
makePlan(pipe::GraphOp graph, const std::vector<pipe::GraphNode> &nodes,
         const CompileOptions &options) {
  if (nodes.empty() && options.splits.empty() && options.stages <= 1)
    return pipe::PartitionPlan{}; // a model that only hands inputs or constants
                                  // through
  if (!options.splits.empty()) {
    PIPEC_ASSIGN_OR_RETURN(pipe::PartitionPlan plan,
                           pipe::planFromSplits(nodes, options.splits));
    const auto stages = static_cast<int64_t>(plan.numStages());
    if (options.stages > 1 && options.stages != stages)
      return invalidArgument(
          "--split and --stages exclude each other where they differ: the "
          "split points make " +
          std::to_string(stages) + (stages == 1 ? " stage" : " stages") +
          ", --stages asks for " + std::to_string(options.stages));
    return plan;
  }
  return pipe::planBalanced(graph, nodes, options.stages);
}

/// What is done with a loss that is not seen through.
constexpr char kMeanOfMeans[] =
    ", so that the loss is taken for the mean of the microbatches' losses";

std::string rowsText(int64_t rows) {
  return rows ? std::to_string(rows) + (rows == 1 ? " row" : " rows")
              : "the whole batch";
}

class Compilation {
public:
  Compilation(const std::string &path, CompileOptions options,
              const Reporter &report)
      : path(path), options(std::move(options)), report(report) {
    context.loadDialect<pipe::PipeDialect>();
    context.disableMultithreading();    // graphs are small; one thread keeps
                                        // messages in order
    context.printOpOnDiagnostic(false); // a whole graph is no message
  }

  StatusOr<CompiledModel> run() {
    report("reading " + path);
    PIPEC_ASSIGN_OR_RETURN(model, frontend::openModel(path));
    PIPEC_RETURN_IF_ERROR(checkGivenInputs(model->interface(), options));
    bool uncut = false;
    PIPEC_ASSIGN_OR_RETURN(options,
                           wholeWhereUncut(model->interface(), options, uncut));
    if (uncut)
      report("the inputs' first dimensions differ and there is one "
             "microbatch: nothing is cut");
    PIPEC_ASSIGN_OR_RETURN(std::vector<VariantShapes> variants,
                           planVariants(model->interface(), options));
    if (const std::string unbound = unboundSizes(); !unbound.empty())
      report("sizes without a --bind count as 1; to give them: --bind " +
             unbound);
    PIPEC_RETURN_IF_ERROR(checkFoldedParameters());
    PIPEC_ASSIGN_OR_RETURN(CompiledModel compiled, compileVariants(variants));
    if (recomputesByMemory())
      PIPEC_RETURN_IF_ERROR(fitMemory(variants, compiled));
    return compiled;
  }

private:
  StatusOr<CompiledModel>
  compileVariants(const std::vector<VariantShapes> &variants) {
    std::vector<OwningOpRef<ModuleOp>> modules, totals(variants.size());
    if (isFirstTry)
      readOwnLoss(variants);
    for (size_t v = 0; v < variants.size(); ++v) {
      if (isFirstTry)
        report("importing for microbatches of " + rowsText(variants[v].rows));
      StatusOr<OwningOpRef<ModuleOp>> imported =
          import(variants[v], isFirstTry && v == 0, &totals[v]);
      if (!imported.ok())
        return aboutUnboundSizes(imported.status());
      if (options.training)
        PIPEC_RETURN_IF_ERROR(
            dropOtherOutputs(**imported, pipe::findGraph(**imported)));
      modules.push_back(std::move(*imported));
    }
    kept.clear();
    if (isFirstTry)
      PIPEC_RETURN_IF_ERROR(planFor(modules));
    for (size_t v = 0; v < variants.size(); ++v)
      PIPEC_RETURN_IF_ERROR(
          cut(*modules[v], variants[v], isFirstTry && v == 0));
    for (OwningOpRef<ModuleOp> &module : totals)
      if (module)
        PIPEC_RETURN_IF_ERROR(prepareTotals(*module));
    if (isFirstTry)
      report("emitting " + std::to_string(plan.numStages()) +
             (plan.numStages() == 1 ? " stage" : " stages"));
    EmitInput input;
    input.modelName =
        llvm::json::fixUTF8(llvm::sys::path::filename(path)); // of any bytes
    input.options = &options;
    input.interface = &model->interface();
    for (size_t v = 0; v < variants.size(); ++v)
      input.variants.push_back(
          {variants[v].rows, pipe::findGraph(*modules[v]),
           totals[v] ? pipe::findGraph(*totals[v]) : pipe::GraphOp()});
    input.lossAdds = lossAdds();
    PIPEC_ASSIGN_OR_RETURN(CompiledModel compiled, emitModel(input));
    compiled.plan = planText;
    for (const std::string &mix : batchMixes)
      compiled.manifest.add_batch_mixes(llvm::json::fixUTF8(mix));
    if (options.training)
      recordLosses(*compiled.manifest.mutable_training());
    for (schema::Stage &stage : *compiled.manifest.mutable_stages())
      stage.set_recomputes(recomputes(stage.index()));
    isFirstTry = false;
    return compiled;
  }

  /// "batch=SIZE,seq=SIZE" for the sizes that nobody gave; "" without any.
  std::string unboundSizes() const {
    std::set<std::string> unbound;
    for (const auto &input : model->interface().inputs)
      for (const auto &dim : input.shape)
        if (options.defaultBindings && dim.size < 0 && !dim.symbol.empty() &&
            !options.bindings.count(dim.symbol))
          unbound.insert(dim.symbol + "=SIZE");
    return llvm::join(unbound, ",");
  }

  /// A size that nobody gave may be what does not fit.
  Status aboutUnboundSizes(const Status &status) const {
    const std::string unbound = unboundSizes();
    if (unbound.empty() || status.getCode() != StatusCode::DataLoss)
      return status;
    return Status(status.getCode(),
                  status.message() +
                      "; sizes without a --bind counted as 1: give them with "
                      "--bind " +
                      unbound);
  }

  bool recomputes(int64_t stage) const {
    return options.training &&
           (options.training->recompute == TrainingOptions::Recompute::Full ||
            llvm::is_contained(recomputedStages, stage));
  }

  bool recomputesByMemory() const {
    return options.training &&
           options.training->recompute == TrainingOptions::Recompute::Auto &&
           options.training->memoryLimit;
  }

  /// Lets as few stages recompute as the limit asks for: those first that save
  /// most by it. What a stage saves depends on no other stage.
  Status fitMemory(const std::vector<VariantShapes> &variants,
                   CompiledModel &compiled) {
    const auto &count = options.training->stepMemory;
    if (!count)
      return internalError("recomputing by memory needs who counts it");
    PIPEC_ASSIGN_OR_RETURN(StepMemory step, count(compiled));
    if (step.fits.ok())
      return {};
    const std::vector<uint64_t> kept = step.stageBytes;
    for (size_t s = 0; s < kept.size(); ++s)
      recomputedStages.push_back(static_cast<int64_t>(s));
    PIPEC_ASSIGN_OR_RETURN(compiled, compileVariants(variants));
    PIPEC_ASSIGN_OR_RETURN(step, count(compiled));
    recomputedStages = fewestStages(kept, step.stageBytes);
    if (recomputedStages.size() < kept.size()) {
      PIPEC_ASSIGN_OR_RETURN(compiled, compileVariants(variants));
      PIPEC_ASSIGN_OR_RETURN(step, count(compiled));
    }
    if (!step.fits.ok())
      return step.fits.withPrefix("recomputed as far as that saves memory, a "
                                  "step still does not fit");
    for (int64_t stage : recomputedStages)
      report("stage " + std::to_string(stage) +
             " computes its forward again in the backward, for --memory");
    return {};
  }

  /// By what the stages take without recomputing and with it. Where nothing
  /// fits: all that save any.
  llvm::SmallVector<int64_t> fewestStages(const std::vector<uint64_t> &kept,
                                          const std::vector<uint64_t> &again) {
    llvm::SmallVector<int64_t> saving, chosen;
    uint64_t total = 0;
    for (size_t s = 0; s < kept.size(); ++s) {
      total = llvm::SaturatingAdd(total, kept[s]);
      if (again[s] < kept[s])
        saving.push_back(static_cast<int64_t>(s));
    }
    llvm::stable_sort(saving, [&](int64_t a, int64_t b) {
      return kept[a] - again[a] > kept[b] - again[b];
    });
    for (int64_t stage : saving) {
      if (total <= options.training->memoryLimit)
        break;
      total -= kept[stage] - again[stage];
      chosen.push_back(stage);
    }
    llvm::sort(chosen);
    return chosen;
  }

  const std::string &path;
  CompileOptions options;
  const Reporter &report;
  MLIRContext context;
  std::unique_ptr<frontend::OpenedModel> model;
  pipe::PartitionPlan plan;
  std::string planText;
  std::vector<std::string> batchMixes;
  std::optional<OwnLoss> ownLoss; // of a mean that the model takes itself
  /// The file for one size, as the frontend makes it, and what it said.
  struct Imported {
    OwningOpRef<ModuleOp> module;
    std::vector<std::string> notices;
  };
  std::map<int64_t, Imported> kept; // by rows, while several look at them
  bool isFirstTry = true;
  llvm::SmallVector<int64_t> recomputedStages; // of Recompute::Auto

  /// Inference does not miss them; whoever means to train should know now.
  Status checkFoldedParameters() {
    const std::vector<std::string> folded =
        model->foldedParameters(tieOptions());
    if (options.training && !options.training->allowFolded)
      PIPEC_RETURN_IF_ERROR(
          checkLost(path, model->lostParameters(tieOptions())));
    if (!folded.empty())
      report((options.training ? "warning: " : "") +
             describeFolded(folded, options.training.has_value()));
    return {};
  }

  /// What is saved later says what it lacks.
  void recordLosses(schema::Training &training) {
    for (const std::string &name : model->foldedParameters(tieOptions()))
      training.add_missing(llvm::json::fixUTF8(name));
    for (const std::string &name :
         model->trainingLosses(tieOptions()).guessedNames)
      training.add_guessed_names(llvm::json::fixUTF8(name));
  }

  frontend::ImportOptions tieOptions() const {
    frontend::ImportOptions importOptions;
    importOptions.ties = options.ties;
    importOptions.unties = options.unties;
    importOptions.names = options.names;
    importOptions.training = options.training.has_value();
    importOptions.progress = report;
    return importOptions;
  }

  bool lossAdds() const { return ownLoss && ownLoss->adds(); }

  /// Where the model takes a mean itself: which one it is. A batch that nothing
  /// cuts is whole.
  void readOwnLoss(const std::vector<VariantShapes> &variants) {
    if (!options.training || !options.training->mean ||
        options.training->loss != TrainingOptions::Loss::Output ||
        variants[0].rows == 0)
      return;
    ownLoss.emplace(variants, variants[0].batchRows * options.accumulate,
                    options.training->output, model->interface(), options,
                    [&](const VariantShapes &shapes) {
                      return importFile(shapes, /*first=*/false, /*keep=*/true);
                    });
  }

  /// The program of the totals is of one stage, whatever the cut is.
  Status prepareTotals(ModuleOp module) {
    PIPEC_RETURN_IF_ERROR(
        runPhase(module, "import", [&](OpPassManager &manager) {
          manager.addPass(pipe::createRemoveDead());
          pipe::buildImportPipeline(manager, {});
        }));
    pipe::annotateStages(pipe::findGraph(module), pipe::PartitionPlan{});
    PIPEC_RETURN_IF_ERROR(
        runPhase(module, "partition", pipe::buildPartitionPipeline));
    return runPhase(module, "lower", pipe::buildLowerPipeline);
  }

  /// As the frontend makes it. `keep`: it will be asked for again.
  StatusOr<OwningOpRef<ModuleOp>> importFile(const VariantShapes &variant,
                                             bool first, bool keep = false) {
    auto at = kept.find(variant.rows);
    std::optional<Imported> once;
    if (at == kept.end()) {
      PIPEC_ASSIGN_OR_RETURN(Imported made, readFile(variant));
      if (keep)
        at = kept.emplace(variant.rows, std::move(made)).first;
      else
        once = std::move(made);
    }
    const Imported &imported = once ? *once : at->second;
    // A remark about the file is made once, not once a size.
    if (first)
      for (const std::string &text : imported.notices)
        report(text);
    if (once)
      return std::move(once->module);
    return OwningOpRef<ModuleOp>(imported.module.get().clone());
  }

  StatusOr<Imported> readFile(const VariantShapes &variant) {
    frontend::ImportOptions importOptions = tieOptions();
    importOptions.inputShapes = variant.inputShapes;
    importOptions.bindings = otherBindings(variant);
    for (const auto &input : model->interface().inputs)
      if (isWholeInput(input, options))
        importOptions.wholeInputs.push_back(input.name);
    Imported imported;
    frontend::Notice notice = [&](const std::string &text) {
      imported.notices.push_back(text);
    };
    DiagnosticCollector diagnostics(&context);
    PIPEC_ASSIGN_OR_RETURN(imported.module,
                           model->import(context, importOptions, notice));
    // A frozen parameter may be in what a mean is taken over.
    if (options.training)
      for (const std::string &pattern : options.training->freeze)
        freeze(*imported.module, pattern);
    return imported;
  }

  /// How many parameters `pattern` means; those are frozen from here on.
  int64_t freeze(ModuleOp module, const std::string &pattern) {
    int64_t count = 0;
    for (auto weight : module.getOps<pipe::WeightOp>())
      if (weight.getKind() == pipe::WeightKind::parameter &&
          matchesAnyName(weight, pattern)) {
        weight->setAttr(pipe::kFrozenAttr, UnitAttr::get(&context));
        ++count;
      }
    return count;
  }

  /// `totals`: gets what the loss has to know of the whole batch, if anything.
  StatusOr<OwningOpRef<ModuleOp>>
  import(const VariantShapes &variant, bool first,
         OwningOpRef<ModuleOp> *totals = nullptr) {
    PIPEC_ASSIGN_OR_RETURN(OwningOpRef<ModuleOp> module,
                           importFile(variant, first));
    if (lossAdds()) {
      PIPEC_ASSIGN_OR_RETURN(OwningOpRef<ModuleOp> parts,
                             ownLoss->apply(*module, variant.rows));
      if (totals)
        *totals = std::move(parts);
    }
    if (first)
      reportDropout(*module);
    if (first)
      reportBatchNorm(*module);
    pipe::ImportPipelineOptions phase;
    phase.training = options.training.has_value();
    phase.microbatchRows = variant.rows;
    phase.batchNormTraining =
        phase.training && !options.training->batchNormFrozen;
    PIPEC_RETURN_IF_ERROR(
        runPhase(*module, "import", [&](OpPassManager &manager) {
          pipe::buildImportPipeline(manager, phase);
        }));
    return module;
  }

  void reportBatchNorm(ModuleOp module) {
    int64_t batch = 0, instance = 0;
    module.walk([&](pipe::BatchNormOp op) {
      ++(pipe::isInstanceNorm(op) ? instance : batch);
    });
    if (!options.training)
      return;
    if (options.training->batchNormFrozen) {
      if (batch + instance == 0)
        report("--batch-norm frozen changes nothing: the model has no "
               "BatchNorm nodes");
      return;
    }
    auto nodes = [](int64_t count, const char *kind) {
      return std::to_string(count) + " " + kind +
             (count == 1 ? " node is" : " nodes are") + " in training mode: ";
    };
    if (batch)
      report((cutsBatches() ? "warning: " : "") + nodes(batch, "BatchNorm") +
             "statistics of each microbatch" +
             (cutsBatches() ? ", not of the whole batch" : "") +
             "; --batch-norm frozen keeps the stored ones");
    if (instance)
      report(nodes(instance, "InstanceNorm") +
             "statistics of each row, and the stored ones move with each "
             "microbatch; --batch-norm frozen keeps and uses those");
    reportStillStatistics(module);
  }

  /// PyTorch's cumulative average (momentum=None) is a momentum of 1 in ONNX.
  void reportStillStatistics(ModuleOp module) {
    std::vector<std::string> names;
    module.walk([&](pipe::BatchNormOp op) {
      if (op.getMomentum().convertToDouble() != 1.0 ||
          !pipe::loadOfStatistic(op.getMean()))
        return;
      const Origin origin = pipe::originOf(op.getLoc());
      names.push_back(origin.module.empty() ? origin.node : origin.module);
    });
    if (!names.empty())
      report("warning: " + describeStillStatistics(names));
  }

  void reportDropout(ModuleOp module) {
    int64_t active = 0;
    module.walk([&](pipe::DropoutOp) { ++active; });
    if (active && !options.training)
      report(std::to_string(active) +
             " Dropout nodes are active in this file; inference leaves them "
             "out");
  }

  /// Bindings of symbols that stand for no cut dimension: the cut one has the
  /// microbatch's size.
  std::map<std::string, int64_t> otherBindings(const VariantShapes &variant) {
    std::map<std::string, int64_t> bindings = options.bindings;
    for (const auto &input : model->interface().inputs)
      if (!isWholeInput(input, options) && input.hasShape &&
          !input.shape.empty())
        bindings.erase(input.shape[0].symbol);
    return bindings;
  }

  /// Made on the first, largest size. An op that another size folds away, as a
  /// flip of one row is, fills no stage.
  Status planFor(const std::vector<OwningOpRef<ModuleOp>> &modules) {
    pipe::GraphOp graph = pipe::findGraph(*modules[0]);
    std::vector<pipe::GraphNode> nodes = pipe::collectGraphNodes(graph);
    for (size_t v = 1; v < modules.size(); ++v) {
      std::set<int64_t> filled;
      for (const pipe::GraphNode &node :
           pipe::collectGraphNodes(pipe::findGraph(*modules[v])))
        if (!node.isRepeated)
          filled.insert(node.origin.index);
      for (pipe::GraphNode &node : nodes)
        node.isRepeated |= filled.count(node.origin.index) == 0;
    }
    PIPEC_ASSIGN_OR_RETURN(plan, makePlan(graph, nodes, options));
    planText = plan.dump(nodes);
    return {};
  }

  Status cut(ModuleOp module, const VariantShapes &variant, bool first) {
    pipe::GraphOp graph = pipe::findGraph(module);
    if (options.training)
      PIPEC_RETURN_IF_ERROR(prepareTraining(module, graph, first));
    if (first)
      findBatchMixes(graph, variant);
    pipe::annotateStages(graph, plan);
    PIPEC_RETURN_IF_ERROR(
        runPhase(module, "partition", pipe::buildPartitionPipeline));
    if (options.training)
      PIPEC_RETURN_IF_ERROR(
          runPhase(module, "differentiate", [&](OpPassManager &manager) {
            pipe::DifferentiateOptions how;
            using Recompute = TrainingOptions::Recompute;
            bool all = options.training->recompute == Recompute::Full;
            how.recompute = all || !recomputedStages.empty() ? "full" : "none";
            how.stages = recomputedStages;
            manager.addPass(pipe::createDifferentiate(how));
          }));
    return runPhase(module, "lower", pipe::buildLowerPipeline);
  }

  bool cutsBatches() const {
    return options.microbatches > 1 || options.accumulate > 1;
  }

  /// Once for all sizes: they hold the same ops.
  void findBatchMixes(pipe::GraphOp graph, const VariantShapes &variant) {
    if (variant.rows == 1 && (cutsBatches() || options.defaultBindings))
      batchMixes = batchMixesOfTwoRows(variant);
    else
      batchMixes = describeBatchMixes(graph, variant.rows, model->interface(),
                                      options, lossAdds());
    if (batchMixes.empty() && variant.rows)
      batchMixes =
          describeBatchPairs(model->interface(), options, [&](int64_t rows) {
            auto module = importFile(
                withRows(variant, rows, model->interface(), options), false);
            return module.ok() ? std::move(*module) : OwningOpRef<ModuleOp>();
          });
    if (batchMixes.empty() && !options.training && variant.rows &&
        cutsBatches())
      findOtherMerges(variant);
    if (batchMixes.empty() && ownLoss && !ownLoss->adds())
      batchMixes.push_back(ownLoss->whyNot() + kMeanOfMeans);
    if (batchMixes.empty() || !cutsBatches())
      return;
    const bool parts = options.accumulate > 1;
    report(batchMixWarning(
        batchMixes, parts ? "--microbatches 1 --accumulate 1 keeps them equal"
                          : "--microbatches 1 keeps them equal"));
  }

  /// Outputs whose microbatches are averaged by their rows, and which are no
  /// mean over rows, such as one over the labels that count; and sums.
  void findOtherMerges(const VariantShapes &variant) {
    for (const auto &[name, merge] : options.merges) {
      if (merge != Merge::Mean && merge != Merge::Sum)
        continue;
      const bool isMean = merge == Merge::Mean;
      const OwnLoss found(
          {variant}, variant.batchRows, name, model->interface(), options,
          [&](const VariantShapes &shapes) {
            return importFile(shapes, /*first=*/false,
                              /*keep=*/true);
          },
          /*takesTotals=*/false);
      if (isMean ? found.isRowMean() : found.isSum())
        continue;
      const std::string what = isMean ? "mean" : "sum";
      batchMixes.push_back(
          (found.adds() ? "output '" + name + "' is no " + what + " over rows"
                        : found.whyNot()) +
          ", so that output '" + name + "' is taken for the " + what +
          " of the microbatches' values");
    }
    kept.clear();
  }

  /// Of one row nothing is left to mix, so another size is imported. Where the
  /// file allows no other there is nothing to tell.
  std::vector<std::string> batchMixesOfTwoRows(const VariantShapes &variant) {
    const VariantShapes two = withRows(variant, 2, model->interface(), options);
    StatusOr<OwningOpRef<ModuleOp>> module = import(two, /*first=*/false);
    if (!module.ok())
      return {};
    pipe::GraphOp graph = pipe::findGraph(**module);
    if (options.training &&
        (!dropOtherOutputs(**module, graph).ok() ||
         !prepareTraining(**module, graph, /*first=*/false).ok()))
      return {};
    return describeBatchMixes(graph, two.rows, model->interface(), options,
                              lossAdds());
  }

  /// Before the plan is made: what only other outputs need is no work to
  /// balance.
  Status dropOtherOutputs(ModuleOp module, pipe::GraphOp graph) {
    DiagnosticCollector diagnostics(&context);
    if (failed(pipe::keepLossOutput(graph, options.training->output)))
      return diagnostics.status("loss");
    return runPhase(module, "loss", [](OpPassManager &manager) {
      manager.addPass(pipe::createRemoveDead());
    });
  }

  /// The loss, and which parameters it is not differentiated for. The plan is
  /// made already: a cut behind the last node of the model stays an error.
  Status prepareTraining(ModuleOp module, pipe::GraphOp graph, bool first) {
    const TrainingOptions &training = *options.training;
    PIPEC_RETURN_IF_ERROR(freezeParameters(module, training.freeze, first));
    pipe::LossSpec loss;
    using Loss = TrainingOptions::Loss;
    loss.kind = training.loss == Loss::CrossEntropy
                    ? pipe::LossSpec::Kind::CrossEntropy
                : training.loss == Loss::Mse ? pipe::LossSpec::Kind::Mse
                                             : pipe::LossSpec::Kind::Output;
    loss.output = training.output;
    loss.labels = training.labels;
    loss.labelBits = training.labelType == DType::I32 ? 32 : 64;
    loss.ignoreIndex = training.ignoreIndex;
    loss.labelSmoothing = training.labelSmoothing;
    if (first && pipe::hasTwoClassDimensions(graph, loss))
      report("cross_entropy takes the classes from the last dimension of the "
             "output; dimension 1, where PyTorch has them, is of the same "
             "size: transpose the output in the model if they are there");
    DiagnosticCollector diagnostics(&context);
    if (failed(pipe::attachLoss(graph, loss)))
      return diagnostics.status("loss");
    return runPhase(module, "loss", [](OpPassManager &manager) {
      manager.addPass(pipe::createRemoveDead());
    });
  }

  Status freezeParameters(ModuleOp module,
                          const std::vector<std::string> &patterns,
                          bool first) {
    for (const std::string &pattern : patterns) {
      const int64_t count = freeze(module, pattern);
      if (!count)
        PIPEC_RETURN_IF_ERROR(freezeFolded(pattern, first));
      if (first && count)
        report("frozen by " + pattern + ": " + std::to_string(count) +
               (count == 1 ? " parameter" : " parameters"));
    }
    PIPEC_RETURN_IF_ERROR(checkSomeLeft(module, patterns));
    PIPEC_RETURN_IF_ERROR(checkTrainable(module));
    if (first)
      warnOfLosses(module);
    return {};
  }

  /// The optimizers move f32. All that are something else, at once, and before
  /// any more work is done.
  static Status checkTrainable(ModuleOp module) {
    const std::set<llvm::StringRef> trained = trainedParameters(module);
    std::string names;
    int64_t count = 0;
    for (auto weight : module.getOps<pipe::WeightOp>()) {
      const auto type = cast<RankedTensorType>(weight.getType());
      if (!trained.count(weight.getSymName()) ||
          !isa<FloatType>(type.getElementType()) ||
          type.getElementType().isF32())
        continue;
      ++count;
      names += "\n  " + weight.getSymName().str() + " " +
               pipe::toTensorType(type).str();
    }
    if (!count)
      return {};
    return unsupported(
        std::to_string(count) +
        (count == 1 ? " parameter is" : " parameters are") +
        " not f32, which alone can be trained: export the model in f32, "
        "model.float() before torch.onnx.export, or keep them as they are "
        "with --freeze" +
        names);
  }

  /// Training goes on as well as the file allows, but not without a word.
  void warnOfLosses(ModuleOp module) {
    frontend::TrainingLosses losses = model->trainingLosses(tieOptions());
    const std::set<llvm::StringRef> trained = trainedParameters(module);
    auto isIdle = [&](const std::string &name) { return !trained.count(name); };
    llvm::erase_if(losses.possibleBuffers, isIdle);
    llvm::erase_if(losses.guessedNames, isIdle);
    for (auto table = losses.paddedTables.begin();
         table != losses.paddedTables.end();)
      table = isIdle(table->first) ? losses.paddedTables.erase(table)
                                   : std::next(table);
    for (const std::string &line : describe(losses))
      report("warning: " + line);
  }

  /// Those that the loss reads and nobody froze.
  static std::set<llvm::StringRef> trainedParameters(ModuleOp module) {
    std::set<llvm::StringRef> read, trained;
    module.walk(
        [&](pipe::LoadWeightOp load) { read.insert(load.getWeight()); });
    for (auto weight : module.getOps<pipe::WeightOp>())
      if (weight.getKind() == pipe::WeightKind::parameter &&
          !weight->hasAttr(pipe::kFrozenAttr) &&
          read.count(weight.getSymName()))
        trained.insert(weight.getSymName());
    return trained;
  }

  /// Where no parameter of the file is meant: one that the exporter folded is
  /// not trained anyway.
  Status freezeFolded(const std::string &pattern, bool first) {
    std::vector<std::string> folded = model->foldedParameters(tieOptions());
    llvm::erase_if(folded, [&](const std::string &name) {
      return !matchesPattern(name, pattern);
    });
    if (folded.empty())
      return invalidArgument("--freeze " + pattern +
                             ": no parameter has that name; patterns may "
                             "hold *, as in 'encoder.*'");
    if (first)
      report("--freeze " + pattern + ": the exporter folded " +
             llvm::join(folded, ", ") + " into other tensors, " +
             (folded.size() == 1 ? "it is" : "they are") +
             " not trained in any case");
    return {};
  }

  static Status checkSomeLeft(ModuleOp module,
                              const std::vector<std::string> &patterns) {
    if (patterns.empty() || !trainedParameters(module).empty())
      return {};
    return invalidArgument("--freeze " + llvm::join(patterns, " --freeze ") +
                           " leaves no parameter to train");
  }

  static bool matchesAnyName(pipe::WeightOp weight,
                             const std::string &pattern) {
    if (matchesPattern(weight.getSymName(), pattern))
      return true;
    ArrayAttr aliases = weight.getAliasesAttr();
    return aliases && llvm::any_of(aliases, [&](Attribute alias) {
             return matchesPattern(cast<StringAttr>(alias).getValue(), pattern);
           });
  }

  /// `*` stands for any characters.
  static bool matchesPattern(llvm::StringRef name, llvm::StringRef pattern) {
    auto [head, tail] = pattern.split('*');
    if (!pattern.contains('*'))
      return name == pattern;
    if (!name.consume_front(head))
      return false;
    for (size_t at = 0; at <= name.size(); ++at)
      if (matchesPattern(name.drop_front(at), tail))
        return true;
    return false;
  }
};

} // namespace

StatusOr<std::map<std::string, TensorType>>
modelInputTypes(const std::string &modelPath, const CompileOptions &options,
                const std::string &rowsFrom, int64_t rows) {
  PIPEC_ASSIGN_OR_RETURN(auto model, frontend::openModel(modelPath));
  auto shapes = batchShapes(model->interface(), options, rowsFrom, rows);
  if (!shapes.ok())
    return shapes.status().withPrefix(modelPath);
  std::map<std::string, TensorType> types;
  for (const auto &input : model->interface().inputs)
    types[input.name] = {input.dtype, shapes->at(input.name)};
  return types;
}

StatusOr<CompiledModel> compileModel(const std::string &modelPath,
                                     const CompileOptions &options,
                                     const Reporter &report) {
  StatusOr<CompiledModel> compiled =
      Compilation(modelPath, options, report).run();
  // Errors that do not name a file already are about it all the same.
  const bool isOfSchedule =
      !compiled.ok() && options.training && options.training->scheduleCsv &&
      compiled.status().message().rfind(options.training->schedule + ": ", 0) ==
          0;
  if (!compiled.ok() && !isOfSchedule &&
      compiled.status().message().find(
          llvm::sys::path::filename(modelPath).str()) == std::string::npos)
    return compiled.status().withPrefix(modelPath);
  return compiled;
}

} // namespace pipec

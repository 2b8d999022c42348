// The manifest: interface, stages, transfers and variants of a cut model.
// Tests: test/unit/compiler/CompilerTest.cpp.
#include "compiler/Emit.h"

#include "compiler/Microbatches.h"
#include "ir/OpDescs.h"
#include "passes/differentiate/Passes.h"
#include "passes/lower/Passes.h"
#include "passes/partition/CostModel.h"
#include "passes/partition/GraphOps.h"
#include "pipec/version.h"
#include "runtime/schema/version.h"

#include <set>

using namespace mlir;

namespace pipec {
namespace {

/// What two microbatch sizes have in common of a transfer: the node that makes
/// the value, with the result's number where there are several, and which of
/// that node's values it is.
struct TransferKey {
  std::string value, producer;
  int64_t from, to;
  int repeat;
  auto tie() const { return std::tie(from, value, to, producer, repeat); }
  bool operator<(const TransferKey &o) const { return tie() < o.tie(); }
};

/// Gives transfers names that no input has, nor another value: two things that
/// a stage reads are never called alike. A value keeps its name wherever it
/// goes, and the sum of its gradient has one in each stage that it comes to.
class TransferNames {
public:
  std::set<std::string> inputs;

  std::string of(const TransferKey &key, bool gradient) {
    TransferKey value = key;
    if (!gradient)
      value.to = -1;
    auto [at, isNew] = given.insert({value, ""});
    if (isNew)
      at->second = freeName(key, gradient);
    return at->second;
  }

private:
  std::map<TransferKey, std::string> given;
  std::set<std::string> values;
  std::map<int64_t, std::set<std::string>> gradients; // by the stage they go to

  std::string freeName(const TransferKey &key, bool gradient) {
    auto isTaken = [&](const std::string &name) {
      if (inputs.count(name) || values.count(name))
        return true;
      if (gradient)
        return gradients[key.to].count(name) > 0;
      return llvm::any_of(gradients, [&](const auto &stage) {
        return stage.second.count(name) > 0;
      });
    };
    std::string name = key.value;
    for (int n = 1; isTaken(name); ++n)
      name = key.value + "#" + std::to_string(n);
    (gradient ? gradients[key.to] : values).insert(name);
    return name;
  }
};

class ModelEmitter {
public:
  explicit ModelEmitter(const EmitInput &input) : input(input) {}

  StatusOr<CompiledModel> run() {
    schema::Manifest &manifest = compiled.manifest;
    manifest.set_format_version(kPackageFormatVersion);
    manifest.set_producer(std::string("pipec ") + kVersion);
    manifest.set_model(input.modelName);
    for (const EmitVariant &variant : input.variants)
      manifest.add_variants()->set_microbatch_rows(variant.rows);
    addInputs();
    PIPEC_RETURN_IF_ERROR(addOutputs());
    collectTransfers();
    size_t numStages = stagesOf(0).size();
    compiled.programs.resize(numStages);
    compiled.backwardInput.resize(numStages);
    compiled.backwardWeight.resize(numStages);
    compiled.lossTotals.resize(numStages);
    for (size_t s = 0; s < numStages; ++s)
      PIPEC_RETURN_IF_ERROR(addStage(s));
    PIPEC_RETURN_IF_ERROR(checkOutputStages());
    PIPEC_RETURN_IF_ERROR(fillAbsentTransfers());
    addModules();
    if (input.options->training) {
      PIPEC_RETURN_IF_ERROR(addUnreadWeights());
      addTraining(*input.options->training);
      PIPEC_RETURN_IF_ERROR(addSchedule(manifest, *input.options));
    }
    return std::move(compiled);
  }

private:
  const EmitInput &input;
  CompiledModel compiled;
  std::vector<ProgramLinks> links; // per variant

  pipe::GraphOp graphOf(size_t variant) {
    return input.variants[variant].graph;
  }

  /// The forward stages, or those of another phase, in order of their index.
  std::vector<pipe::StageOp>
  stagesOf(size_t variant, pipe::StagePhase phase = pipe::StagePhase::forward) {
    std::vector<pipe::StageOp> stages;
    for (auto stage : graphOf(variant).getBody().getOps<pipe::StageOp>())
      if (stage.getPhase() == phase)
        stages.push_back(stage);
    llvm::stable_sort(stages, [](pipe::StageOp a, pipe::StageOp b) {
      return a.getIndex() < b.getIndex();
    });
    return stages;
  }

  static schema::Role roleOf(pipe::GraphOp graph, unsigned i) {
    auto role =
        graph.getArgAttrOfType<StringAttr>(i, pipe::PipeDialect::kRoleAttr);
    return !role                             ? schema::DATA
           : role.getValue() == "labels"     ? schema::LABELS
           : role.getValue() == "loss_scale" ? schema::LOSS_SCALE
           : role.getValue() == "loss_total" ? schema::LOSS_TOTAL
                                             : schema::RANDOM_KEY;
  }

  void addInputs() {
    pipe::GraphOp first = input.variants[0].graph;
    for (unsigned i = 0; i < first.getArgumentTypes().size(); ++i) {
      schema::GraphInput *message = compiled.manifest.add_inputs();
      message->set_name(first.getInputName(i).str());
      message->set_whole(first.isWhole(i));
      message->set_role(roleOf(first, i));
      for (const EmitVariant &variant : input.variants)
        setType(message->add_types(),
                pipe::toTensorType(
                    pipe::GraphOp(variant.graph).getArgumentTypes()[i]));
    }
  }

  /// Whether output `i` is made of constants and weights alone: the same in
  /// every microbatch.
  bool isOfNoInput(unsigned i) {
    pipe::GraphOp graph = input.variants[0].graph;
    std::vector<Value> open = {
        graph.getBody().front().getTerminator()->getOperand(i)};
    llvm::SmallPtrSet<void *, 16> seen;
    while (!open.empty()) {
      Value value = open.back();
      open.pop_back();
      if (!seen.insert(value.getAsOpaquePointer()).second)
        continue;
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        auto stage =
            dyn_cast<pipe::StageOp>(argument.getOwner()->getParentOp());
        if (!stage)
          return false;
        open.push_back(stage.getInputs()[argument.getArgNumber()]);
      } else if (auto stage = value.getDefiningOp<pipe::StageOp>()) {
        open.push_back(stage.getBody().front().getTerminator()->getOperand(
            cast<OpResult>(value).getResultNumber()));
      } else {
        llvm::append_range(open, value.getDefiningOp()->getOperands());
      }
    }
    return true;
  }

  /// Rows and the type of result `i`, by variant.
  std::vector<std::pair<int64_t, TensorType>> resultTypes(unsigned i) {
    std::vector<std::pair<int64_t, TensorType>> types;
    for (const EmitVariant &variant : input.variants)
      types.emplace_back(
          variant.rows,
          pipe::toTensorType(pipe::GraphOp(variant.graph).getResultTypes()[i]));
    return types;
  }

  Status addOutputs() {
    pipe::GraphOp first = input.variants[0].graph;
    std::set<std::string> known;
    std::string names;
    for (unsigned i = 0; i < first.getResultTypes().size(); ++i) {
      if (first.getResultAttr(i, pipe::PipeDialect::kBufferAttr))
        continue; // no output: it goes into the buffer
      schema::GraphOutput *message = compiled.manifest.add_outputs();
      std::string name = first.getOutputName(i).str();
      known.insert(name);
      names += (names.empty() ? "" : ", ") + name;
      message->set_name(name);
      const auto types = resultTypes(i);
      // The loss of the batch is the sum over microbatches (decision 8).
      Merge merge =
          input.options->training ? Merge::Sum
          : !input.options->merges.count(name) && isOfNoInput(i)
              ? Merge::Same
              : mergeOf(*input.interface, *input.options, name, types);
      message->set_merge(static_cast<schema::Merge>(merge));
      for (const auto &[rows, type] : types)
        setType(message->add_types(), type);
    }
    if (input.options->training) { // it has the loss alone left
      known.clear();
      names.clear();
      for (const auto &port : input.interface->outputs) {
        known.insert(port.name);
        names += (names.empty() ? "" : ", ") + port.name;
      }
    }
    for (const auto &[name, merge] : input.options->merges)
      if (!known.count(name))
        return invalidArgument("--merge " + name +
                               ": the model has no such output; it has " +
                               names);
    return {};
  }

  /// Node and module of what a transfer sends; of a gradient, of the value that
  /// it is the gradient of.
  static std::pair<std::string, std::string>
  valueName(pipe::TransferOp transfer) {
    if (transfer.getGradient()) {
      Origin origin = pipe::originOf(transfer.getLoc());
      std::string name = origin.node.empty() ? "value" : origin.node;
      if (auto result = transfer->getAttrOfType<IntegerAttr>(pipe::kResultAttr))
        name += "." + std::to_string(result.getInt());
      return {name + " gradient", origin.module};
    }
    Value value = transfer.getValue();
    auto stage = value.getDefiningOp<pipe::StageOp>();
    auto yield = cast<pipe::YieldOp>(stage.getBody().front().getTerminator());
    Value inner = yield.getOperand(cast<OpResult>(value).getResultNumber());
    Operation *def = inner.getDefiningOp();
    if (!def)
      return {"value", ""};
    Origin origin = pipe::originOf(def->getLoc());
    std::string name =
        origin.node.empty() ? def->getName().stripDialect().str() : origin.node;
    if (def->getNumResults() > 1)
      name += "." + std::to_string(cast<OpResult>(inner).getResultNumber());
    return {name, origin.module};
  }

  void collectTransfers() {
    std::map<TransferKey, uint32_t> known;
    TransferNames names;
    for (const schema::GraphInput &graphInput : compiled.manifest.inputs())
      names.inputs.insert(graphInput.name());
    for (size_t v = 0; v < input.variants.size(); ++v) {
      ProgramLinks &link = links.emplace_back();
      pipe::GraphOp graph = input.variants[v].graph;
      link.weights = std::make_unique<SymbolTable>(
          graph->getParentOfType<ModuleOp>().getOperation());
      for (auto [i, argument] :
           llvm::enumerate(graph.getBody().getArguments())) {
        link.graphInputs[argument] = i;
        link.inputNames.push_back(graph.getInputName(i).str());
      }
      // One file node may make several values that cross, and nodes may share
      // their names: number them in order.
      std::map<TransferKey, int> repeats;
      std::map<std::pair<void *, int64_t>, int> numbers; // by value
      for (auto transfer : graph.getBody().getOps<pipe::TransferOp>()) {
        auto [value, producer] = valueName(transfer);
        const auto to = static_cast<int64_t>(transfer.getTo());
        TransferKey key{value, producer,
                        static_cast<int64_t>(transfer.getFrom()), -1, 0};
        // A value has one name wherever it goes; a gradient goes to one stage.
        const int64_t place = transfer.getGradient() ? to : -1;
        key.to = place;
        auto [number, isNewValue] = numbers.insert(
            {{transfer.getValue().getAsOpaquePointer(), place}, 0});
        if (isNewValue)
          number->second = repeats[key]++;
        key.repeat = number->second;
        key.to = to;
        auto [at, isNew] = known.insert({key, known.size()});
        if (isNew)
          addTransfer(key, names.of(key, transfer.getGradient()),
                      transfer.getGradient());
        link.transfers[transfer] = at->second;
        setType(
            compiled.manifest.mutable_transfers(at->second)->mutable_types(v),
            pipe::toTensorType(transfer.getResult().getType()));
      }
    }
    for (ProgramLinks &link : links)
      for (const schema::Transfer &transfer : compiled.manifest.transfers())
        link.transferNames.push_back(transfer.value());
  }

  void addTransfer(const TransferKey &key, const std::string &name,
                   bool gradient) {
    schema::Transfer *message = compiled.manifest.add_transfers();
    message->set_value(name);
    message->set_producer(key.producer);
    message->set_from(key.from);
    message->set_to(key.to);
    message->set_gradient(gradient);
    for (size_t v = 0; v < input.variants.size(); ++v)
      message->add_types();
  }

  Status addStage(size_t s) {
    schema::Stage *message = compiled.manifest.add_stages();
    message->set_index(s);
    EmittedWeights weights;
    for (size_t v = 0; v < input.variants.size(); ++v) {
      std::vector<pipe::StageOp> stages = stagesOf(v);
      if (stages.size() != compiled.programs.size())
        return internalError(
            "microbatch sizes differ in their number of stages");
      // First: sites are numbered by the weights that the forward reads.
      PIPEC_ASSIGN_OR_RETURN(schema::Program program,
                             emitProgram(stages[s], links[v], weights));
      compiled.programs[s].push_back(std::move(program));
      addCosts(message, stages[s]);
      if (input.options->training)
        PIPEC_RETURN_IF_ERROR(addBackward(message, s, v, weights));
      if (input.variants[v].lossTotals && s + 1 == compiled.programs.size())
        PIPEC_RETURN_IF_ERROR(addLossTotals(message, s, v, weights));
    }
    for (schema::Weight &weight : weights.messages)
      *message->add_weights() = std::move(weight);
    compiled.weights.push_back(std::move(weights.sources));
    return {};
  }

  /// Parameters and buffers of the file that no stage reads, as those of
  /// another output than the loss's: in the last stage, so that who saves the
  /// model after training has all of it.
  Status addUnreadWeights() {
    std::set<std::string> read;
    for (const schema::Stage &stage : compiled.manifest.stages())
      for (const schema::Weight &weight : stage.weights())
        read.insert(weight.name());
    EmittedWeights unread;
    auto module = graphOf(0)->getParentOfType<ModuleOp>();
    for (auto weight : module.getOps<pipe::WeightOp>())
      if (weight.getKind() != pipe::WeightKind::constant &&
          !read.count(weight.getSymName().str()))
        PIPEC_RETURN_IF_ERROR(unread.indexOf(weight).status());
    const int last = compiled.manifest.stages_size() - 1;
    for (schema::Weight &weight : unread.messages) {
      weight.set_unread(true);
      *compiled.manifest.mutable_stages(last)->add_weights() =
          std::move(weight);
    }
    for (WeightSource &source : unread.sources)
      compiled.weights[last].push_back(std::move(source));
    return {};
  }

  static void addCosts(schema::Stage *message, pipe::StageOp stage) {
    uint64_t flops = 0;
    double seconds = 0;
    stage.walk([&](pipe::CostInterface op) {
      flops += op.getFlops();
      seconds += pipe::estimateSeconds(op);
    });
    message->add_flops(flops);
    message->add_estimated_seconds(seconds);
  }

  Status addBackward(schema::Stage *message, size_t s, size_t v,
                     EmittedWeights &weights) {
    PIPEC_RETURN_IF_ERROR(addSites(message, s, v, weights));
    auto bytesIn = [&](llvm::StringRef name) {
      auto bytes = stagesOf(v)[s]->getAttrOfType<IntegerAttr>(name);
      return bytes ? bytes.getInt() : 0;
    };
    message->add_context_bytes(bytesIn(pipe::kContextBytesAttr));
    message->add_context_weight_bytes(bytesIn(pipe::kContextWeightBytesAttr));
    for (auto phase : {pipe::StagePhase::backward_input,
                       pipe::StagePhase::backward_weight}) {
      bool ofInput = phase == pipe::StagePhase::backward_input;
      auto &programs =
          ofInput ? compiled.backwardInput[s] : compiled.backwardWeight[s];
      for (pipe::StageOp stage : stagesOf(v, phase)) {
        if (stage.getIndex() != s)
          continue;
        PIPEC_ASSIGN_OR_RETURN(schema::Program program,
                               emitProgram(stage, links[v], weights));
        programs.push_back(std::move(program));
      }
      if (!programs.empty() && programs.size() != v + 1)
        return internalError("microbatch sizes differ in the backward programs "
                             "of stage " +
                             std::to_string(s));
    }
    message->set_backward_input(!compiled.backwardInput[s].empty());
    message->set_backward_weight(!compiled.backwardWeight[s].empty());
    return {};
  }

  /// In the stage that makes the loss, which has the class weights already.
  Status addLossTotals(schema::Stage *message, size_t s, size_t v,
                       EmittedWeights &weights) {
    pipe::GraphOp graph = input.variants[v].lossTotals;
    ProgramLinks link;
    link.weights =
        std::make_unique<SymbolTable>(graph->getParentOfType<ModuleOp>());
    for (auto [i, argument] : llvm::enumerate(graph.getBody().getArguments())) {
      link.graphInputs[argument] = i;
      link.inputNames.push_back(graph.getInputName(i).str());
    }
    std::vector<uint32_t> totals;
    for (int i = 0; i < compiled.manifest.inputs_size(); ++i)
      if (compiled.manifest.inputs(i).role() == schema::LOSS_TOTAL)
        totals.push_back(i);
    llvm::SmallVector<pipe::StageOp> stages(
        graph.getBody().getOps<pipe::StageOp>());
    if (stages.size() != 1 || totals.size() != graph.getNumResults())
      return internalError("the totals of the loss are not of one stage");
    PIPEC_ASSIGN_OR_RETURN(schema::Program program,
                           emitProgram(stages[0], link, weights));
    for (schema::ProgramOutput &output : *program.mutable_outputs())
      output.set_loss_total(totals[output.graph_output()]);
    compiled.lossTotals[s].push_back(std::move(program));
    message->set_loss_totals(true);
    return {};
  }

  /// The sites of stage `s`; the same in every variant.
  Status addSites(schema::Stage *message, size_t s, size_t v,
                  EmittedWeights &weights) {
    int index = 0;
    for (auto gradient : graphOf(v).getBody().getOps<pipe::GradientOp>()) {
      auto stage = gradient.getValue().getDefiningOp<pipe::StageOp>();
      if (stage.getIndex() != s)
        continue;
      auto weight = weights.names().find(gradient.getWeight());
      if (weight == weights.names().end())
        return internalError("a gradient of a weight that its stage does not "
                             "read");
      if (v == 0) {
        schema::GradientSite *site = message->add_sites();
        site->set_weight(weight->second);
        site->set_order(gradient.getSite());
      } else if (index >= message->sites_size() ||
                 message->sites(index).weight() != weight->second ||
                 message->sites(index).order() != gradient.getSite()) {
        return internalError("microbatch sizes differ in their gradients");
      }
      links[v].sites[gradient] = index++;
    }
    return {};
  }

  void addTraining(const TrainingOptions &options) {
    schema::Training *message = compiled.manifest.mutable_training();
    using Loss = TrainingOptions::Loss;
    message->set_loss(options.loss == Loss::CrossEntropy ? schema::CROSS_ENTROPY
                      : options.loss == Loss::Mse        ? schema::MSE
                                                         : schema::OUTPUT);
    message->set_reduction(options.mean && !input.lossAdds
                               ? schema::REDUCE_MEAN
                               : schema::REDUCE_SUM);
    if (options.loss != Loss::Output)
      message->set_labels(options.labels);
    message->set_ignore_index(options.ignoreIndex);
  }

  /// An output leaves by the same stage whatever the microbatch's size.
  Status checkOutputStages() {
    for (const auto &stage : compiled.programs)
      for (size_t v = 1; v < stage.size(); ++v)
        for (int o = 0; o < compiled.manifest.outputs_size(); ++o)
          if (emits(stage[0], o) != emits(stage[v], o))
            return invalidArgument(
                "output '" + compiled.manifest.outputs(o).name() +
                "' leaves by another stage in microbatches of " +
                std::to_string(input.variants[v].rows) + " rows than of " +
                std::to_string(input.variants[0].rows) +
                "; choose --microbatches so that it divides the batch");
    return {};
  }

  static bool emits(const schema::Program &program, int output) {
    return llvm::any_of(program.outputs(), [&](const schema::ProgramOutput &o) {
      return o.has_graph_output() &&
             o.graph_output() == static_cast<uint32_t>(output);
    });
  }

  /// A variant that does not send one of the values sends an empty tensor in
  /// its place, so that all variants have the same transfers.
  Status fillAbsentTransfers() {
    const TensorType empty{DType::F32, {0}};
    for (int t = 0; t < compiled.manifest.transfers_size(); ++t) {
      schema::Transfer *transfer = compiled.manifest.mutable_transfers(t);
      for (size_t v = 0; v < input.variants.size(); ++v) {
        if (transfer->types(v).dtype() != schema::DTYPE_UNKNOWN)
          continue;
        setType(transfer->mutable_types(v), empty);
        if (transfer->gradient())
          return invalidArgument(
              "the gradient '" + transfer->value() +
              "' exists in some microbatch sizes only; choose --microbatches "
              "so that it divides the batch");
        schema::Program &sender = compiled.programs[transfer->from()][v];
        schema::ProgramOutput *output = sender.add_outputs();
        output->set_transfer(t);
        output->set_value(sender.values_size());
        schema::Value *sent = sender.add_values();
        setType(sent->mutable_type(), empty);
        sent->set_literal("");
        schema::Program &receiver = compiled.programs[transfer->to()][v];
        schema::Value *received = receiver.add_values();
        setType(received->mutable_type(), empty);
        received->set_input(receiver.inputs_size());
        schema::ProgramInput *message = receiver.add_inputs();
        setType(message->mutable_type(), empty);
        message->set_transfer(t);
        message->set_name(transfer->value());
        if (input.options->training) {
          message->set_in_context(true);
          received->set_context_offset(0);
        }
      }
    }
    return {};
  }

  void addModules() {
    std::vector<std::vector<std::string>> modules =
        stageModules(input.variants[0].graph);
    for (size_t s = 0; s < modules.size(); ++s)
      for (std::string &path : modules[s])
        compiled.manifest.mutable_stages(s)->add_modules(std::move(path));
  }
};

} // namespace

namespace {

/// Where the ops of each module path, and of the paths below it, lie.
struct ModulePlaces {
  std::vector<std::pair<std::string, size_t>> ops; // module and stage, in order
  std::map<std::string, std::set<size_t>> stagesOfPath;
  size_t numStages = 0;

  explicit ModulePlaces(pipe::GraphOp graph) {
    for (auto stage : graph.getBody().getOps<pipe::StageOp>()) {
      if (stage.getPhase() != pipe::StagePhase::forward)
        continue;
      for (Operation &op : stage.getBody().front().without_terminator())
        if (!pipe::isPlaceless(&op))
          add(pipe::originOf(op.getLoc()).module);
      ++numStages;
    }
  }

  /// The outermost path around `module` that lies in one stage; "" where even
  /// `module` itself is spread.
  std::string outermostWhole(const std::string &module) const {
    for (size_t dot = module.find('.');; dot = module.find('.', dot + 1)) {
      std::string path = module.substr(0, dot);
      if (stagesOfPath.at(path).size() == 1)
        return path;
      if (dot == std::string::npos)
        return "";
    }
  }

private:
  void add(const std::string &module) {
    if (module.empty())
      return;
    for (size_t dot = module.find('.');; dot = module.find('.', dot + 1)) {
      stagesOfPath[module.substr(0, dot)].insert(numStages);
      if (dot == std::string::npos)
        break;
    }
    ops.emplace_back(module, numStages);
  }
};

void addOnce(std::vector<std::string> &list, const std::string &name) {
  if (std::find(list.begin(), list.end(), name) == list.end())
    list.push_back(name);
}

} // namespace

std::vector<std::vector<std::string>> stageModules(pipe::GraphOp graph) {
  ModulePlaces places(graph);
  std::vector<std::vector<std::string>> result(places.numStages);
  for (const auto &[module, stage] : places.ops)
    if (std::string path = places.outermostWhole(module); !path.empty())
      addOnce(result[stage], path);
  // A stage that holds nothing whole is named by the parts that it holds.
  for (const auto &[module, stage] : places.ops)
    if (places.outermostWhole(module).empty() &&
        llvm::none_of(result[stage], [&](const std::string &path) {
          return places.stagesOfPath.at(path).size() == 1;
        }))
      addOnce(result[stage], module);
  return result;
}

StatusOr<CompiledModel> emitModel(const EmitInput &input) {
  return ModelEmitter(input).run();
}

} // namespace pipec

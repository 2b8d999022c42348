// A trainer's checkpoints. In: what the trainer holds; or a checkpoint, written
// with any cut and schedule. Out: a folder that appears whole; or a trainer
// that goes on as if it had never stopped.
// Tests: test/unit/compiler/TrainerStateTest.cpp,
// test/conformance/train_resume.py.
#include "runtime/checkpoint/compare_runs.h"
#include "runtime/training/trainer_impl.h"

#include <mutex>
#include <new>
#include <set>

namespace pipec {
namespace {

/// NAME of "optimizer.STATE.NAME".
std::string parameterOf(const std::string &state) {
  return state.substr(state.find('.', state.find('.') + 1) + 1);
}

std::string lrScheduleText(const OptimizerOptions &options) {
  std::string text = options.lrSchedule;
  if (text != "constant")
    text += " over " + std::to_string(options.totalSteps) + " steps";
  if (options.warmupSteps)
    text += ", " + std::to_string(options.warmupSteps) + " of them warm-up";
  return text;
}

bool isRandom(const Package &package) {
  for (const InputInfo &input : package.inputs())
    if (input.role == InputRole::RandomKey)
      return true;
  return false;
}

/// An error for another model; a remark for buffers that this one lacks, and
/// for parameters that decide nothing and that the checkpoint lacks.
Status checkNames(const Checkpoint &checkpoint,
                  const std::vector<NamedView> &model,
                  const std::set<std::string> &unread,
                  std::vector<std::string> &remarks) {
  const NameReport report = checkpoint.match(model);
  const std::set<std::string> buffers(checkpoint.buffers().begin(),
                                      checkpoint.buffers().end());
  bool fits = true;
  for (const std::string &name : report.missing)
    fits &= unread.count(name) != 0;
  for (const std::string &name : report.surplus)
    fits &= buffers.count(name) != 0;
  if (!fits)
    return invalidArgument("it is of another model" + report.indented());
  if (!report.surplus.empty())
    remarks.push_back("buffers that the model lacks are dropped: " +
                      listNames(report.surplus));
  if (!report.missing.empty())
    remarks.push_back(kUnreadKept + listNames(report.missing));
  return Status();
}

} // namespace

TiedNames Trainer::Impl::tied() const {
  TiedNames groups;
  for (NamedView &named : namedWeights())
    if (named.names.size() > 1)
      groups.push_back(std::move(named.names));
  return groups;
}

CheckpointInfo Trainer::Impl::describe(const CheckpointNotes &notes) const {
  const OptimizerOptions &o = options.optimizer;
  CheckpointInfo info;
  info.step = info.dataPosition = next;
  info.seed = options.seed;
  info.optimizer = config.fields();
  info.notes = notes.settings;
  info.notes["lr"] = shortestNumber(o.lr);
  info.notes["lr-schedule"] = lrScheduleText(o);
  info.notes["clip-norm"] = shortestNumber(o.clipNorm);
  // Dropout, batch norm and the order of sums go by it.
  info.notes["microbatches"] =
      std::to_string(schedule().microbatches * options.accumulate);
  info.notes[kModelNote] = package.modelName();
  if (!notes.data.empty())
    info.notes[kDataNote] = notes.data;
  return info;
}

/// A weight belongs to the first stage that uses it, and its state with it.
std::vector<CheckpointPart> Trainer::Impl::partsByStage() {
  std::vector<CheckpointPart> parts(stages.size());
  std::map<std::string, size_t> ownerOf;
  const std::vector<NamedView> named = namedWeights();
  for (size_t w = 0; w < weights.size(); ++w) {
    const size_t owner = weights[w].places.front().stage;
    ownerOf[weights[w].name] = owner;
    CheckpointPart &part = parts[owner];
    (weights[w].isBuffer ? part.buffers : part.parameters).push_back(named[w]);
  }
  for (const auto &[name, view] : optimizer->state())
    parts[ownerOf.at(parameterOf(name))].optimizer.emplace(name, view);
  return parts;
}

Status Trainer::Impl::writeParts(CheckpointWriter &writer) {
  const std::vector<CheckpointPart> parts = partsByStage();
  std::mutex mutex;
  Status first;
  auto work = [&](size_t rank) -> Status {
    for (size_t s = 0; s < parts.size(); ++s)
      if (schedule().rankOfStage[s] == static_cast<int64_t>(rank))
        PIPEC_RETURN_IF_ERROR(writer.writePart(static_cast<int>(s), parts[s]));
    return {};
  };
  team->run(work, [&](const Status &status) {
    const std::lock_guard<std::mutex> guard(mutex);
    if (first.ok())
      first = status;
  });
  return first;
}

StatusOr<std::string> Trainer::Impl::save(const std::string &dir,
                                          const CheckpointOptions &wanted) {
  PIPEC_ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointWriter> writer,
                         CheckpointWriter::begin(dir, next, wanted.overwrite));
  PIPEC_RETURN_IF_ERROR(writeParts(*writer));
  PIPEC_RETURN_IF_ERROR(writer->commit(describe(wanted.notes), wanted.keep));
  return stepPath(dir, next);
}

/// State of parameters that the run before did not train stays as it is: none
/// of their updates has been.
Status Trainer::Impl::loadOptimizer(const Checkpoint &checkpoint,
                                    std::vector<std::string> &remarks) {
  TiedNames ties = tied();
  ties.insert(ties.end(), checkpoint.tied().begin(), checkpoint.tied().end());
  auto wasTrained = [&](const std::string &name) {
    auto has = [&](const std::string &any) {
      return checkpoint.optimizer().find("optimizer.step." + any) != nullptr;
    };
    for (const auto &group : ties)
      for (const std::string &one : group)
        if (one == name)
          for (const std::string &other : group)
            if (has(other))
              return true;
    return has(name);
  };
  std::set<std::string> fresh;
  for (const SharedWeight &weight : weights)
    if (weight.slot >= 0 && !wasTrained(weight.name))
      fresh.insert(weight.name);
  auto state = optimizer->state();
  for (auto at = state.begin(); at != state.end();)
    at = fresh.count(parameterOf(at->first)) ? state.erase(at) : std::next(at);
  if (!fresh.empty())
    remarks.push_back("parameters that were not trained so far start without "
                      "optimizer state: " +
                      listNames({fresh.begin(), fresh.end()}));
  std::set<std::string> trained, frozen;
  for (const auto &[name, view] : state)
    trained.insert(parameterOf(name));
  for (const SharedWeight &weight : weights)
    if (!weight.isBuffer && !trained.count(weight.name) &&
        wasTrained(weight.name) && !fresh.count(weight.name))
      frozen.insert(weight.name);
  if (!frozen.empty())
    remarks.push_back("parameters that were trained so far are frozen from "
                      "now on, and their optimizer state is dropped: " +
                      listNames({frozen.begin(), frozen.end()}));
  return checkpoint.loadOptimizer(state, ties);
}

StatusOr<Resumed> Trainer::Impl::resume(const std::string &path,
                                        const CheckpointNotes &notes) {
  PIPEC_ASSIGN_OR_RETURN(const Checkpoint checkpoint, Checkpoint::open(path));
  const std::string where = "cannot resume from '" + checkpoint.path() + "'";
  Resumed result;
  result.path = checkpoint.path();
  result.step = checkpoint.info().step;
  auto load = [&]() -> Status {
    PIPEC_RETURN_IF_ERROR(checkNames(checkpoint, namedWeights(),
                                     unreadParameters(), result.remarks));
    PIPEC_ASSIGN_OR_RETURN(
        const std::vector<std::string> differences,
        compareRuns(checkpoint.info(), describe(notes), isRandom(package)));
    result.remarks.insert(result.remarks.end(), differences.begin(),
                          differences.end());
    PIPEC_RETURN_IF_ERROR(loadOptimizer(checkpoint, result.remarks));
    LoadRules rules;
    rules.compareTied = true;  // a run that had them apart made them differ
    rules.allowMissing = true; // what may be missing is checked by now
    return loadFrom(checkpoint.weights(), rules);
  };
  PIPEC_RETURN_IF_ERROR(load().withPrefix(where));
  next = result.step;
  return result;
}

StatusOr<std::string>
Trainer::saveCheckpoint(const std::string &dir,
                        const CheckpointOptions &options) {
  PIPEC_ASSIGN_OR_RETURN(const auto use, impl->enter());
  try {
    return impl->save(dir, options);
  } catch (const std::bad_alloc &) {
    return resourceExhausted("out of memory for a checkpoint in '" + dir + "'");
  }
}

StatusOr<Resumed> Trainer::resume(const std::string &path,
                                  const CheckpointNotes &notes) {
  PIPEC_ASSIGN_OR_RETURN(const auto use, impl->enter());
  try {
    return impl->resume(path, notes);
  } catch (const std::bad_alloc &) {
    return resourceExhausted("out of memory to resume from '" + path + "'");
  }
}

} // namespace pipec

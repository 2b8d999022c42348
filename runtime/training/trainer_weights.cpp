// The values that a trainer holds: shown, loaded from files, taken over from
// another trainer. Tests: test/unit/compiler/TrainerStateTest.cpp.
//
// What training moves is the stages' own memory and is written in place. Frozen
// parameters are mapped, often the bulk of a model: one is copied only where
// the value that comes differs from the one it has.
#include "runtime/checkpoint/weight_files.h"
#include "runtime/training/trainer_impl.h"

#include <cstring>
#include <set>

namespace pipec {

const Tensor &Trainer::Impl::valueOf(const SharedWeight &weight) const {
  const SharedWeight::Place &owner = weight.places.front();
  return stages[owner.stage]->weights()[owner.weight];
}

bool Trainer::Impl::isWritten(const SharedWeight &weight) const {
  const SharedWeight::Place &owner = weight.places.front();
  return stages[owner.stage]->isTrained(owner.weight);
}

/// Beside `weights`.
std::vector<NamedView> Trainer::Impl::namedWeights() const {
  std::vector<NamedView> views;
  for (const SharedWeight &weight : weights) {
    NamedView named;
    named.names = {weight.name};
    named.names.insert(named.names.end(), weight.aliases.begin(),
                       weight.aliases.end());
    named.view = valueOf(weight).view();
    views.push_back(std::move(named));
  }
  return views;
}

/// Programs read the new value after bindReplaced().
Status Trainer::Impl::replaceFrozen(const SharedWeight &weight,
                                    const TensorView &value) {
  const Tensor &current = valueOf(weight);
  if (current.byteSize() == 0 ||
      std::memcmp(current.data(), value.data, current.byteSize()) == 0)
    return {};
  PIPEC_ASSIGN_OR_RETURN(Tensor fresh, Tensor::copyOf(value.type, value.data));
  for (const SharedWeight::Place &place : weight.places)
    stages[place.stage]->replaceWeight(place.weight, fresh);
  return {};
}

Status Trainer::Impl::bindReplaced() {
  for (auto &stage : stages)
    PIPEC_RETURN_IF_ERROR(stage->bindReplaced());
  return {};
}

/// `table` has a value for every parameter, or `rules` allow that it lacks
/// some.
Status Trainer::Impl::loadFrom(const TensorTable &table,
                               const LoadRules &rules) {
  const std::vector<NamedView> named = namedWeights();
  std::vector<NamedView> written;
  for (size_t w = 0; w < weights.size(); ++w)
    if (isWritten(weights[w]))
      written.push_back(named[w]);
  PIPEC_RETURN_IF_ERROR(table.load(written, rules));
  for (size_t w = 0; w < weights.size(); ++w) {
    if (isWritten(weights[w]))
      continue;
    PIPEC_ASSIGN_OR_RETURN(
        const Tensor loaded,
        Tensor::copyOf(named[w].view.type, named[w].view.data));
    PIPEC_RETURN_IF_ERROR(table.load({{named[w].names, loaded.view()}}, rules));
    PIPEC_RETURN_IF_ERROR(replaceFrozen(weights[w], loaded.view()));
  }
  PIPEC_RETURN_IF_ERROR(bindReplaced());
  for (const SharedWeight &weight : weights)
    if (isWritten(weight))
      spread(weight, stages);
  return {};
}

const char *const kUnreadKept =
    "parameters that the loss does not read keep the model's values, as there "
    "are no others: ";

std::set<std::string> Trainer::Impl::unreadParameters() const {
  std::set<std::string> names;
  for (const SharedWeight &weight : weights)
    if (weight.isUnread && !weight.isBuffer)
      names.insert(weight.name);
  return names;
}

StatusOr<std::vector<std::string>>
Trainer::Impl::loadWeights(const std::vector<std::string> &paths) {
  PIPEC_ASSIGN_OR_RETURN(const WeightFiles files, WeightFiles::open(paths));
  NameReport report = files.match(namedWeights());
  std::set<std::string> buffers;
  for (const SharedWeight &weight : weights)
    if (weight.isBuffer)
      buffers.insert(weight.name);
  const std::set<std::string> unread = unreadParameters();
  NameReport fatal = report;
  // A state_dict lacks what is not persistent; files of the part that is
  // trained, the other parts.
  std::vector<std::string> kept, keptUnread;
  fatal.missing.clear();
  for (const std::string &name : report.missing)
    (buffers.count(name)  ? kept
     : unread.count(name) ? keptUnread
                          : fatal.missing)
        .push_back(name);
  if (!fatal.missing.empty())
    return invalidArgument("the weights do not fit the model" +
                           fatal.indented());
  LoadRules rules;
  rules.allowMissing = true;
  rules.widen = true;
  rules.compareTied = true;
  PIPEC_RETURN_IF_ERROR(loadFrom(files.table(), rules));
  std::vector<std::string> remarks;
  if (!kept.empty())
    remarks.push_back("buffers that the files lack keep the model's values: " +
                      listNames(kept));
  if (!keptUnread.empty())
    remarks.push_back(kUnreadKept + listNames(keptUnread));
  if (!report.surplus.empty())
    remarks.push_back("tensors of the files that are not used, " +
                      std::to_string(report.surplus.size()) + ": " +
                      listNames(report.surplus));
  return remarks;
}

Status Trainer::Impl::takeStateFrom(Impl &other) {
  std::map<std::string, const SharedWeight *> theirs;
  for (const SharedWeight &weight : other.weights)
    theirs[weight.name] = &weight;
  for (const SharedWeight &weight : weights) {
    const auto found = theirs.find(weight.name);
    if (found == theirs.end())
      return invalidArgument("the other trainer has no '" + weight.name + "'");
    const TensorView value = other.valueOf(*found->second).view();
    const TensorView own = valueOf(weight).view();
    if (value.type != own.type)
      return invalidArgument("'" + weight.name + "' is " + own.type.str() +
                             ", in the other trainer " + value.type.str());
    if (!isWritten(weight)) {
      PIPEC_RETURN_IF_ERROR(replaceFrozen(weight, value));
    } else if (own.type.byteSize() != 0) {
      std::memcpy(own.data, value.data, own.type.byteSize());
      spread(weight, stages);
    }
  }
  const auto state = other.optimizer->state();
  for (const auto &[name, view] : optimizer->state()) {
    const auto found = state.find(name);
    if (found == state.end())
      return invalidArgument("the other trainer has no " + name);
    if (const size_t bytes = view.type.byteSize())
      std::memcpy(view.data, found->second.data, bytes);
  }
  next = other.next;
  return bindReplaced();
}

StatusOr<std::vector<std::string>>
Trainer::loadWeights(const std::vector<std::string> &files) {
  PIPEC_ASSIGN_OR_RETURN(const auto use, impl->enter());
  return impl->loadWeights(files);
}

Status Trainer::takeStateFrom(const Trainer &other) {
  PIPEC_ASSIGN_OR_RETURN(const auto use, impl->enter());
  return impl->takeStateFrom(*other.impl);
}

TensorMap Trainer::parameters() const {
  TensorMap result;
  for (const SharedWeight &weight : impl->weights)
    if (!weight.isBuffer)
      result.emplace(weight.name, impl->valueOf(weight));
  return result;
}

TensorMap Trainer::buffers() const {
  TensorMap result;
  for (const SharedWeight &weight : impl->weights)
    if (weight.isBuffer)
      result.emplace(weight.name, impl->valueOf(weight));
  return result;
}

TensorMap Trainer::trainedParameters() const {
  TensorMap result;
  for (const SharedWeight &weight : impl->weights)
    if (weight.slot >= 0)
      result.emplace(weight.name, impl->valueOf(weight));
  return result;
}

void Trainer::weightsChanged() {
  for (const SharedWeight &weight : impl->weights)
    if (impl->isWritten(weight))
      spread(weight, impl->stages);
}

std::map<std::string, TensorView> Trainer::optimizerState() {
  return impl->optimizer->state();
}

std::map<std::string, std::vector<std::string>> Trainer::aliases() const {
  std::map<std::string, std::vector<std::string>> result;
  for (const SharedWeight &weight : impl->weights)
    if (!weight.aliases.empty())
      result.emplace(weight.name, weight.aliases);
  return result;
}

} // namespace pipec

// Names by a state_dict (--names): see Names.h.
//
// A tensor of the file has the name of the state_dict's tensor whose bytes it
// has, as they lie or with axes moved. Bytes that many tensors have (zeros) say
// nothing by themselves: where they fit the name that the tensor has, that
// stays, else the name is listed. What the file's own record calls a constant
// stays one.
//
// In: a table with names, a safetensors file. Out: the table with certain
// names. Tests: test/unit/frontends/StateNamesTest.cpp.
#include "frontends/common/Text.h"
#include "frontends/common/WeightTableBuilder.h"
#include "frontends/onnx/names/Names.h"
#include "runtime/base/safetensors.h"

#include <algorithm>
#include <cstring>

namespace pipec::onnx {
namespace {

constexpr const char *kCounter = "num_batches_tracked";

/// A tensor of the state_dict that has an initializer's bytes.
struct Match {
  std::string name;
  std::vector<Permutation> moves; // from the state_dict's to the file's form
};

class StateNaming {
public:
  StateNaming(const Model &model, const ImportOptions &options,
              WeightTable &table)
      : model(model), options(options), table(table),
        builder(model.initializers, options) {}
  Status run();

private:
  Status readState();
  std::vector<Match> matchesOf(int initializer) const;
  std::optional<Claim> claimFor(int initializer, const WeightUse &use);
  std::optional<Claim> keptClaim(int initializer, const WeightUse &use) const;
  std::optional<Claim> renamed(int initializer, const Match &match,
                               const WeightUse &use) const;
  bool mayBeState(int initializer, const std::string &name) const;
  bool isKeptApart(int initializer, const std::string &name);
  bool isNormalised(const std::string &name) const;
  bool isConfirmed(int initializer, const WeightUse &use) const;
  WeightKind kindOf(const std::string &name) const;
  Status checkOwnNames() const;
  void confirm();
  void rebuild();
  void addAliases();
  void report();

  const Model &model;
  const ImportOptions &options;
  WeightTable &table;
  WeightTableBuilder builder;
  std::map<std::string, TensorSource> state;
  std::map<Fingerprint, std::vector<std::string>> byKey;
  std::vector<std::vector<Match>> matches; // by initializer
  std::set<std::string> confirmed; // names that tensors have, and bytes prove
};

Status StateNaming::readState() {
  PIPEC_ASSIGN_OR_RETURN(SafetensorsFile file,
                         SafetensorsFile::open(options.names));
  PIPEC_ASSIGN_OR_RETURN(auto mapped, MappedFile::open(options.names));
  for (const std::string &name : file.names()) {
    TensorSource source;
    source.type = *file.find(name);
    source.file = mapped;
    PIPEC_ASSIGN_OR_RETURN(source.offset, file.offsetOf(name));
    source.length = source.type.byteSize();
    if (auto key = fingerprint(source))
      byKey[*key].push_back(name);
    state.emplace(name, std::move(source));
  }
  return {};
}

std::vector<Match> StateNaming::matchesOf(int initializer) const {
  const TensorSource &source = model.initializers[initializer].source;
  std::vector<Match> found;
  const auto key = fingerprint(source);
  auto names = key ? byKey.find(*key) : byKey.end();
  if (names == byKey.end())
    return found;
  for (const std::string &name : names->second) {
    const TensorSource &tensor = state.at(name);
    auto moves = permutationsTo({tensor, tensor.type.shape}, source,
                                announcing(options.progress, name,
                                           model.initializers[initializer].name,
                                           tensor.type));
    if (!moves.empty())
      found.push_back({name, std::move(moves)});
  }
  return found;
}

/// The tensor's name and form are those of the state_dict.
bool StateNaming::isConfirmed(int initializer, const WeightUse &use) const {
  const WeightDecl &decl = table.decls[use.decl];
  if (decl.kind == WeightKind::Constant)
    return false;
  return std::any_of(
      matches[initializer].begin(), matches[initializer].end(),
      [&](const Match &match) {
        const bool named = match.name == decl.name ||
                           std::find(decl.aliases.begin(), decl.aliases.end(),
                                     match.name) != decl.aliases.end();
        return named && state.at(match.name).type == decl.type &&
               samePermuted({state.at(match.name), decl.type.shape},
                            use.permutation,
                            model.initializers[initializer].source);
      });
}

/// Another state of the model than the exported one says nothing.
Status StateNaming::checkOwnNames() const {
  std::vector<std::string> other;
  for (const auto &[initializer, use] : table.defaults) {
    const WeightDecl &decl = table.decls[use.decl];
    if (decl.kind != WeightKind::Constant && state.count(decl.name) &&
        decl.name == model.initializers[initializer].name &&
        !isConfirmed(initializer, use))
      other.push_back(decl.name);
  }
  constexpr size_t kShown = 3;
  const size_t count = other.size();
  if (count > kShown) {
    other.resize(kShown);
    other.push_back("...");
  }
  if (!count)
    return {};
  return invalidArgument("--names: " + options.names +
                         " has other values for " + joined(other) + " than " +
                         model.path +
                         "; it has to be the state_dict that the model was "
                         "exported with");
}

void StateNaming::confirm() {
  auto note = [&](int initializer, const WeightUse &use) {
    if (isConfirmed(initializer, use))
      confirmed.insert(table.decls[use.decl].name);
  };
  for (const auto &[initializer, use] : table.defaults)
    note(initializer, use);
  for (const auto &[place, use] : table.uses)
    note(model.initializerByName.at(
             model.graph().node(place.first).input(place.second)),
         use);
}

WeightKind StateNaming::kindOf(const std::string &name) const {
  auto entry = model.signature.byTarget.find(name);
  if (entry != model.signature.byTarget.end())
    return model.signature.entries[entry->second].kind ==
                   GraphSignature::Kind::Parameter
               ? WeightKind::Parameter
               : WeightKind::Buffer;
  const std::string leaf = leafName(name);
  return isFloat(state.at(name).type.dtype) && leaf != "running_mean" &&
                 leaf != "running_var"
             ? WeightKind::Parameter
             : WeightKind::Buffer;
}

/// Whether a constant may be the state_dict's tensor: the file's record of what
/// it was computed from has the last word; without one, many different values
/// have to agree.
bool StateNaming::mayBeState(int initializer, const std::string &name) const {
  const std::string &own = model.initializers[initializer].name;
  // That a reader of it reads another tensor was seen beside its name.
  if (own == name ||
      (model.signature.contains(own) && !model.signature.isState(own)))
    return false;
  if (!model.signature.empty() && !model.folded.empty())
    return stateSourcesOf(model, own) == std::vector<std::string>{name};
  return isDistinctive(model.initializers[initializer].source) &&
         !isNormalised(name);
}

/// The direction of weight_norm: the model reads it only together with its
/// length, and has the product's bytes until it is trained.
bool StateNaming::isNormalised(const std::string &name) const {
  constexpr std::pair<const char *, const char *> kPairs[] = {
      {"weight_v", "weight_g"}, {"original1", "original0"}};
  return std::any_of(std::begin(kPairs), std::end(kPairs), [&](auto pair) {
    return leafName(name) == pair.first &&
           state.count(inModule(parentName(name), pair.second));
  });
}

/// The name that the tensor has, unless the state_dict has another tensor of
/// that name. A guess that it does not know is none.
std::optional<Claim> StateNaming::keptClaim(int initializer,
                                            const WeightUse &use) const {
  const WeightDecl &decl = table.decls[use.decl];
  const bool other = state.count(decl.name) ? !isConfirmed(initializer, use)
                                            : isNumbered(model, initializer);
  if (decl.kind == WeightKind::Constant || other)
    return std::nullopt;
  return Claim{decl.name, decl.kind,        decl.initializer,
               decl.type, decl.permutation, use.permutation};
}

/// Where several moves give the bytes, the one that the tensor has now.
std::optional<Claim> StateNaming::renamed(int initializer, const Match &match,
                                          const WeightUse &use) const {
  const Permutation *move = &match.moves[0];
  if (match.moves.size() > 1) {
    auto same =
        std::find(match.moves.begin(), match.moves.end(), use.permutation);
    if (same == match.moves.end() ||
        table.decls[use.decl].kind == WeightKind::Constant)
      return std::nullopt;
    move = &*same;
  }
  return Claim{match.name,
               kindOf(match.name),
               initializer,
               state.at(match.name).type,
               inversePermutation(*move),
               *move};
}

/// --untie names the tensor, or what it is a copy of.
bool StateNaming::isKeptApart(int initializer, const std::string &name) {
  for (const std::string &apart : {model.initializers[initializer].name, name})
    if (isApart(options, apart)) {
      table.apart.insert(apart);
      return true;
    }
  return false;
}

std::optional<Claim> StateNaming::claimFor(int initializer,
                                           const WeightUse &use) {
  if (isConfirmed(initializer, use))
    return keptClaim(initializer, use);
  const WeightDecl &decl = table.decls[use.decl];
  const bool constant = decl.kind == WeightKind::Constant;
  const Match *only = nullptr, *tied = nullptr;
  for (const Match &match : matches[initializer]) {
    if (constant && (!mayBeState(initializer, match.name) ||
                     isKeptApart(initializer, match.name)))
      continue;
    // Equal tensors of the state_dict: the one that no other tensor is.
    if (confirmed.count(match.name) && !constant) {
      tied = &match;
      continue;
    }
    if (only)
      return keptClaim(initializer, use);
    only = &match;
  }
  // A guess that the state_dict does not know, of the one tensor that it has.
  if (!only && tied && matches[initializer].size() == 1 &&
      isNumbered(model, initializer) && !state.count(decl.name) &&
      mayBeState(initializer, tied->name) &&
      !isKeptApart(initializer, tied->name)) {
    only = tied;
    table.copies[initializer] = tied->name;
  }
  if (!only)
    return keptClaim(initializer, use);
  auto claim = renamed(initializer, *only, use);
  return claim ? claim : keptClaim(initializer, use);
}

void StateNaming::rebuild() {
  std::set<int> read;
  for (const auto &[place, use] : table.uses) {
    const int initializer = model.initializerByName.at(
        model.graph().node(place.first).input(place.second));
    read.insert(initializer);
    builder.read(initializer, {place.first, place.second},
                 claimFor(initializer, use));
  }
  for (const auto &[initializer, use] : table.defaults)
    if (!read.count(initializer))
      builder.keep(initializer, claimFor(initializer, use));
  WeightTable made = builder.take();
  std::map<std::string, std::vector<std::string>> aliases;
  for (WeightDecl &old : table.decls)
    if (old.kind != WeightKind::Constant)
      aliases[old.name] = std::move(old.aliases);
  for (WeightDecl &decl : made.decls)
    if (decl.kind != WeightKind::Constant)
      decl.aliases = aliases[decl.name];
  // What nobody knows was made of something.
  for (const WeightDecl &decl : made.decls)
    if (decl.kind == WeightKind::Constant &&
        isNumbered(model, decl.initializer) && isFloat(decl.type.dtype) &&
        decl.type.numElements() > 1)
      made.addFolded(decl.name);
  made.notices = std::move(table.notices);
  made.trainingWarnings = std::move(table.trainingWarnings);
  made.refuted.insert(table.refuted.begin(), table.refuted.end());
  made.copies = std::move(table.copies);
  made.apart = std::move(table.apart);
  table = std::move(made);
}

/// A second name with the bytes of a tensor that the file has once: a tie.
void StateNaming::addAliases() {
  for (const auto &[initializer, use] : table.defaults) {
    WeightDecl &decl = table.decls[use.decl];
    if (decl.kind == WeightKind::Constant || !state.count(decl.name) ||
        !isDistinctive(model.initializers[initializer].source))
      continue;
    for (const Match &match : matches[initializer]) {
      const auto &moves = match.moves;
      if (table.find(match.name) >= 0 ||
          std::find(moves.begin(), moves.end(), use.permutation) ==
              moves.end() ||
          model.signature.contains(match.name) ||
          state.at(match.name).type != decl.type)
        continue;
      table.notices.push_back((options.training ? "warning: " : "") +
                              match.name + " is the same data as " + decl.name +
                              ": tied; --untie " + match.name +
                              " keeps them apart");
      decl.aliases.push_back(match.name);
    }
  }
}

/// What the state_dict has and the file has not, and the other way round.
void StateNaming::report() {
  std::vector<std::string> unknown;
  for (const WeightDecl &decl : table.decls)
    if (decl.kind != WeightKind::Constant && !state.count(decl.name))
      unknown.push_back(decl.name);
    else if (decl.kind != WeightKind::Constant)
      table.certain.insert(decl.name);
  if (!unknown.empty())
    table.notices.push_back("warning: " + options.names +
                            " has no tensor equal to " + joined(unknown) +
                            ": the names are the model file's");
  const std::vector<std::string> all = table.names();
  const std::set<std::string> named(all.begin(), all.end());
  for (const auto &[name, source] : state)
    if (leafName(name) != kCounter && !named.count(name) &&
        table.find(name) < 0)
      table.addFolded(name +
                      (kindOf(name) == WeightKind::Buffer ? " (buffer)" : ""));
}

Status StateNaming::run() {
  PIPEC_RETURN_IF_ERROR(readState().withPrefix("--names"));
  for (size_t i = 0; i < model.initializers.size(); ++i)
    matches.push_back(matchesOf(static_cast<int>(i)));
  if (std::all_of(matches.begin(), matches.end(),
                  [](const auto &found) { return found.empty(); }))
    return invalidArgument(
        "--names: no tensor of " + options.names + " equals one of " +
        model.path +
        "; it has to be the state_dict that the model was exported with: "
        "safetensors.torch.save_file(model.state_dict(), FILE)");
  PIPEC_RETURN_IF_ERROR(checkOwnNames());
  confirm();
  rebuild();
  addAliases();
  report();
  return {};
}

} // namespace

Status nameByState(const Model &model, const ImportOptions &options,
                   WeightTable &table) {
  return StateNaming(model, options, table).run();
}

} // namespace pipec::onnx

// What crosses the stages' borders, checked over all programs of a package.
// In: programs that are each checked by themselves; stages that are not on
// this host have none and are left out. Out: per stage the transfers it
// receives and sends and the graph outputs it emits (PKG-G4).
// Tests: test/unit/runtime/PackageCorruptionTest.cpp.
#include "runtime/package/readers.h"

#include <algorithm>

namespace pipec {
namespace {

std::string programName(const Package::Impl &package, size_t stage, size_t v) {
  return package.stageFolder(stage) + "/program" + std::to_string(v) + ".pb";
}

std::string describe(const TransferInfo &transfer) {
  return "transfer of '" + transfer.value + "' from stage " +
         std::to_string(transfer.from) + " to stage " +
         std::to_string(transfer.to);
}

/// Each of `expected` (sorted) exactly once in `found`.
Status checkTransfers(const Package::Impl &package,
                      const std::vector<uint32_t> &expected,
                      std::vector<uint32_t> found, const char *verb) {
  std::sort(found.begin(), found.end());
  auto twice = std::adjacent_find(found.begin(), found.end());
  if (twice != found.end())
    return dataLoss(std::string(verb) + " the " +
                    describe(package.transfers[*twice]) + " twice");
  for (uint32_t index : expected)
    if (!std::binary_search(found.begin(), found.end(), index))
      return dataLoss(std::string("never ") + verb + " the " +
                      describe(package.transfers[index]));
  return {};
}

/// What the programs of all phases of one variant exchange.
struct Exchange {
  std::vector<uint32_t> received, sent, emits, sites, totals;

  void add(const ProgramDesc &program) {
    using Target = ProgramOutputDesc::Target;
    for (const ProgramInputDesc &input : program.inputs)
      if (input.transfer)
        received.push_back(input.index);
    for (const ProgramOutputDesc &output : program.outputs)
      if (output.target == Target::Transfer)
        sent.push_back(output.index);
      else if (output.target == Target::GraphOutput)
        emits.push_back(output.index);
      else if (output.target == Target::GradientSite)
        sites.push_back(output.index);
      else if (output.target == Target::LossTotal)
        totals.push_back(output.index);
  }
};

/// A gradient is made for each site, once.
Status checkSites(const Package::Impl &package, size_t stage,
                  std::vector<uint32_t> found) {
  std::sort(found.begin(), found.end());
  const size_t count = package.sites[stage].size();
  for (size_t i = 0; i < std::max(count, found.size()); ++i)
    if (i >= count || i >= found.size() || found[i] != i)
      return dataLoss("gradient sites are made twice or not at all: made are " +
                      std::to_string(found.size()) + " of " +
                      std::to_string(count));
  return {};
}

/// The stage that has programs for the totals of the loss makes each once.
Status checkTotals(const Package::Impl &package, size_t stage,
                   std::vector<uint32_t> found) {
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < package.inputs.size(); ++i)
    if (package.has(stage, ProgramPhase::LossTotals) &&
        package.inputs[i].role == InputRole::LossTotal)
      expected.push_back(i);
  std::sort(found.begin(), found.end());
  return found == expected
             ? Status()
             : dataLoss("makes not each total of the loss, or one twice");
}

/// There are totals of one shape, and one stage makes them.
Status checkTotalInputs(const Package::Impl &package) {
  size_t makers = 0;
  bool any = false;
  for (size_t s = 0; s < package.stages.size(); ++s)
    makers += package.has(s, ProgramPhase::LossTotals);
  for (size_t i = 0; i < package.inputs.size(); ++i) {
    const InputInfo &input = package.inputs[i];
    if (input.role != InputRole::LossTotal)
      continue;
    any = true;
    if (!canBeTotal(input.types[0].dtype))
      return dataLoss(package.path + ": input '" + input.name +
                      "': a total of the loss is " + input.types[0].str() +
                      ", expected f32, f64 or an integer");
    for (const TensorType &type : input.types)
      if (!input.whole || type != input.types[0])
        return dataLoss(package.path + ": input '" + input.name +
                        "': a total of the loss is the same in every "
                        "microbatch");
  }
  return makers == (any ? 1 : 0)
             ? Status()
             : dataLoss(package.path + ": " + std::to_string(makers) +
                        " stages make the totals of the loss");
}

Status checkVariant(const Package::Impl &package, size_t stage, size_t v,
                    const StageRouting &routing, Exchange &exchange) {
  for (ProgramPhase phase : kPhases)
    if (const auto &programs = package.programsOf(phase)[stage];
        !programs.empty())
      exchange.add(programs[v]);
  PIPEC_RETURN_IF_ERROR(
      checkTransfers(package, routing.receives, exchange.received, "receives"));
  PIPEC_RETURN_IF_ERROR(
      checkTransfers(package, routing.sends, exchange.sent, "sends"));
  PIPEC_RETURN_IF_ERROR(checkSites(package, stage, exchange.sites));
  PIPEC_RETURN_IF_ERROR(checkTotals(package, stage, exchange.totals));
  auto &emits = exchange.emits;
  std::sort(emits.begin(), emits.end());
  auto twice = std::adjacent_find(emits.begin(), emits.end());
  if (twice != emits.end())
    return dataLoss("makes the output '" + package.outputs[*twice].name +
                    "' twice");
  return {};
}

Status checkStage(Package::Impl &package, size_t stage) {
  StageRouting &routing = package.routing[stage];
  for (size_t v = 0; v < package.programs[stage].size(); ++v) {
    Exchange exchange;
    PIPEC_RETURN_IF_ERROR(checkVariant(package, stage, v, routing, exchange)
                              .withPrefix(programName(package, stage, v)));
    if (v == 0)
      routing.emits = std::move(exchange.emits);
    else if (routing.emits != exchange.emits)
      return dataLoss(programName(package, stage, v) +
                      ": makes other outputs than program0.pb");
  }
  return {};
}

} // namespace

Status checkRouting(Package::Impl &package) {
  package.routing.resize(package.stages.size());
  for (uint32_t t = 0; t < package.transfers.size(); ++t) {
    package.routing[package.transfers[t].from].sends.push_back(t);
    package.routing[package.transfers[t].to].receives.push_back(t);
  }
  PIPEC_RETURN_IF_ERROR(checkTotalInputs(package));
  std::vector<int64_t> maker(package.outputs.size(), -1);
  bool complete = true;
  for (size_t s = 0; s < package.stages.size(); ++s) {
    PIPEC_RETURN_IF_ERROR(checkStage(package, s));
    complete &= !package.programs[s].empty();
    for (uint32_t output : package.routing[s].emits) {
      if (maker[output] >= 0)
        return dataLoss(package.path + ": stages " +
                        std::to_string(maker[output]) + " and " +
                        std::to_string(s) + " both make the output '" +
                        package.outputs[output].name + "'");
      maker[output] = static_cast<int64_t>(s);
    }
  }
  for (size_t o = 0; complete && o < maker.size(); ++o)
    if (maker[o] < 0)
      return dataLoss(package.path + ": no stage makes the output '" +
                      package.outputs[o].name + "'");
  return {};
}

} // namespace pipec

// Parameters over all stages: see gradients.h.
// Tests: test/unit/runtime/TrainerTest.cpp.
#include "runtime/training/gradients.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace pipec {
namespace {

struct Collected {
  SharedWeight weight;
  std::vector<std::pair<uint32_t, SharedWeight::Site>> sites; // by order
  int64_t mover = -1; // stage that moves the buffer
};

void collectStage(const Package::Impl &package, size_t s,
                  std::vector<Collected> &all,
                  std::map<std::string, size_t> &byName) {
  const auto &weights = package.stages[s].weights;
  std::vector<size_t> index(weights.size(), SIZE_MAX);
  for (size_t i = 0; i < weights.size(); ++i) {
    const WeightInfo &info = weights[i];
    if (info.kind == "constant")
      continue;
    auto [at, isNew] = byName.emplace(info.name, all.size());
    if (isNew) {
      Collected &made = all.emplace_back();
      made.weight.name = info.name;
      made.weight.aliases = info.aliases;
      made.weight.isBuffer = info.kind == "buffer";
      made.weight.isUnread = true;
    }
    index[i] = at->second;
    all[at->second].weight.isUnread &= info.unread;
    all[at->second].weight.places.push_back({s, i});
  }
  const auto &sites = package.sites[s];
  for (size_t k = 0; k < sites.size(); ++k)
    all[index[sites[k].weight]].sites.push_back({sites[k].order, {s, k}});
  for (const ProgramOutputDesc &output : package.programs[s][0].outputs)
    if (output.target == ProgramOutputDesc::Target::Buffer)
      all[index[output.index]].mover = static_cast<int64_t>(s);
}

bool forwardsAscend(const Package::Impl &package, int64_t stage) {
  int64_t next = 0;
  for (const ScheduleList &list : package.training->schedule.lists)
    for (const ScheduleAction &action : list)
      if (action.kind == ScheduleAction::Kind::Forward &&
          action.stage == stage && action.microbatch != next++)
        return false;
  return true;
}

} // namespace

StatusOr<std::vector<SharedWeight>>
collectWeights(const Package::Impl &package) {
  std::vector<Collected> all;
  std::map<std::string, size_t> byName;
  for (size_t s = 0; s < package.stages.size(); ++s)
    collectStage(package, s, all, byName);
  std::vector<SharedWeight> weights;
  for (Collected &entry : all) {
    if (entry.mover >= 0 && !forwardsAscend(package, entry.mover))
      return unsupported("the schedule does not run the forwards of stage " +
                         std::to_string(entry.mover) +
                         " in ascending order of microbatches, but buffer '" +
                         entry.weight.name +
                         "' moves in that order; pass --batch-norm frozen");
    if (entry.mover >= 0 && entry.weight.places.size() > 1)
      return unsupported(
          "buffer '" + entry.weight.name + "' is moved by stage " +
          std::to_string(entry.mover) +
          " and read by another one; cut so that all calls of its module lie "
          "in one stage, or pass --batch-norm frozen");
    std::sort(entry.sites.begin(), entry.sites.end(),
              [](const auto &a, const auto &b) { return a.first < b.first; });
    for (const auto &[order, site] : entry.sites)
      entry.weight.sites.push_back(site);
    weights.push_back(std::move(entry.weight));
  }
  return weights;
}

Tensor *totalGradient(const SharedWeight &weight,
                      std::vector<std::unique_ptr<TrainStage>> &stages) {
  Tensor *total = nullptr;
  for (const SharedWeight::Site &site : weight.sites) {
    TrainStage &stage = *stages[site.stage];
    if (!stage.hasGradient(site.site))
      continue;
    Tensor &sum = stage.gradients()[site.site];
    if (!total) {
      total = &sum;
      continue;
    }
    float *to = total->as<float>();
    const float *from = sum.as<float>();
    for (int64_t i = 0, n = total->numElements(); i < n; ++i)
      to[i] += from[i];
  }
  return total;
}

void spread(const SharedWeight &weight,
            std::vector<std::unique_ptr<TrainStage>> &stages) {
  const SharedWeight::Place &owner = weight.places.front();
  const Tensor &value = stages[owner.stage]->weights()[owner.weight];
  for (const SharedWeight::Place &place : weight.places) {
    Tensor &copy = stages[place.stage]->weights()[place.weight];
    if (copy.data() != value.data())
      std::memcpy(copy.data(), value.data(), value.byteSize());
  }
}

} // namespace pipec

// A simulated schedule as a text grid, as people paste into issues. In: the
// simulation; out: a row a rank, time from left to right.
// Tests: test/unit/passes/schedule/SimulateTest.cpp.
#include "passes/schedule/Simulate.h"

#include <algorithm>
#include <cmath>

namespace pipec {

std::string dumpTimeline(const Schedule &schedule, const Simulation &simulation,
                         double unit, size_t maxColumns) {
  const size_t ranks = schedule.lists.size();
  if (!(unit > 0))
    unit = 1;
  auto columnOf = [&](double time) {
    double column = std::round(time / unit);
    return column < static_cast<double>(maxColumns)
               ? static_cast<size_t>(std::max(column, 0.0))
               : maxColumns;
  };
  const size_t columns = columnOf(simulation.makespan);
  std::vector<std::vector<std::string>> grid(
      ranks, std::vector<std::string>(columns, "-"));
  size_t width = 1;
  for (size_t rank = 0; rank < ranks; ++rank)
    for (size_t i = 0; i < schedule.lists[rank].size(); ++i) {
      const ScheduleAction &action = schedule.lists[rank][i];
      const auto &interval = simulation.actions[rank][i];
      if (!action.isCompute())
        continue;
      const size_t first = columnOf(interval.start);
      for (size_t column = first; column < columnOf(interval.end); ++column)
        grid[rank][column] = column == first ? shortText(action) : ".";
      if (first < columns)
        width = std::max(width, grid[rank][first].size());
    }
  std::string text;
  for (size_t rank = 0; rank < ranks; ++rank) {
    text += "rank " + std::to_string(rank) + ":";
    for (const std::string &cell : grid[rank])
      text += " " + cell + std::string(width - cell.size(), ' ');
    while (text.back() == ' ')
      text.pop_back();
    text += "\n";
  }
  return text;
}

} // namespace pipec

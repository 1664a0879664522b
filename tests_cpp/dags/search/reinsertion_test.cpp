// The place that a task gets is the best of all, by paths that are computed for each anew.
#include "cosched/dags/search/reinsertion.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "dags/graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

// The longest path through a task where each unit takes its tasks in this order.
double through(const Instance& instance, const search::UnitNumbers& numbers, int task,
               const std::vector<int>& order, const std::vector<int>& units) {
  const int n = instance.tasks();
  std::vector<double> longest(n, -kInfinity), time(n);
  for (int index = 0; index < n; ++index)
    time[index] = instance.time(index, numbers.place(units[index]).type);
  const auto arc = [&](int a, int b) {  // from the end of a to the begin of b, b later in the order
    double cost = units[a] == units[b] ? 0 : -kInfinity;
    int edge = instance.transfers().first_out_edge(a);
    for (const int next : instance.graph().successors(a)) {
      if (next == b)
        cost = instance.transfers().cost(edge, numbers.place(units[a]), numbers.place(units[b]));
      ++edge;
    }
    return cost;
  };
  const int at = static_cast<int>(std::find(order.begin(), order.end(), task) - order.begin());
  const auto reach = [&](int begin, int step) {
    std::fill(longest.begin(), longest.end(), 0.0);
    for (int k = begin; k != at + step; k += step)
      for (int j = begin; j != k; j += step) {
        const int a = order[step > 0 ? j : k], b = order[step > 0 ? k : j];
        const int from = order[j];
        longest[order[k]] = std::max(longest[order[k]], longest[from] + time[from] + arc(a, b));
      }
    return longest[task];
  };
  const double before = reach(0, 1), after = reach(n - 1, -1);
  return before + time[task] + after;
}

TEST(Reinsertion, FindsTheBestPlace) {
  Rng rng(97);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 2 + static_cast<int>(rng.below(10));
    options.types = 1 + round % 3;
    options.density = 0.4 * rng.uniform();
    const Instance instance = graphs::with_transfers(rng, graphs::random(rng, options), 1);
    SHOW_ON_FAILURE(instance);
    if (instance.transfers().is_free()) continue;
    const search::PlaceDecoder decoder(instance);
    const int n = instance.tasks(), count = decoder.numbers().count();
    const auto fits = [&](int task, int unit) {
      return instance.can_run(task, decoder.numbers().place(unit).type);
    };
    std::vector<int> order = instance.graph().order(), units(n);
    for (int task = 0; task < n; ++task) do
        units[task] = static_cast<int>(rng.below(count));
      while (!fits(task, units[task]));
    const int task = static_cast<int>(rng.below(n));
    // Every third time the memory of one unit is asked for, which may not be able to run it.
    const int only = round % 9 < 3 ? static_cast<int>(rng.below(count)) : -1;
    const search::UnitNumbers& numbers = decoder.numbers();
    const bool any = only < 0 || !fits(task, only);
    std::vector<int> others;
    for (const int other_task : order)
      if (other_task != task) others.push_back(other_task);
    double best_end = kInfinity;
    for (int at = 0; at < n; ++at) {
      std::vector<int> tried = others;
      tried.insert(tried.begin() + at, task);
      std::vector<int> position(n);
      for (int k = 0; k < n; ++k) position[tried[k]] = k;
      bool valid = true;
      for (const int other_task : instance.graph().predecessors(task))
        valid = valid && position[other_task] < at;
      for (const int other_task : instance.graph().successors(task))
        valid = valid && position[other_task] > at;
      for (int unit = 0; valid && unit < count; ++unit) {
        if (!fits(task, unit) || (!any && numbers.memory(unit) != numbers.memory(only))) continue;
        std::vector<int> moved_units = units;
        moved_units[task] = unit;
        best_end = std::min(best_end, through(instance, numbers, task, tried, moved_units));
      }
    }
    units[task] = -1;
    const double length =
        search::Reinsertion(instance, decoder).insert(task, only, 0, rng, order, units);
    EXPECT_NEAR(length, best_end, 1e-9 * best_end);
    EXPECT_NEAR(length, through(instance, numbers, task, order, units), 1e-9 * length);
  }
}

}  // namespace
}  // namespace cosched::dags

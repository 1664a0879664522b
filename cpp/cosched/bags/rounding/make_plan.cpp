#include "cosched/bags/rounding/make_plan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"

namespace cosched::bags::rounding {

double water_level(const std::vector<double>& loads, double work) {
  std::vector<double> below = loads;  // S
  for (;;) {
    const double sum = std::accumulate(below.begin(), below.end(), 0.0);
    const double level = (sum + work) / static_cast<double>(below.size());
    const auto end =
        std::remove_if(below.begin(), below.end(), [&](double load) { return load >= level; });
    // Dropping a load >= level lowers the level; where all of S is at it, it is the level.
    if (end == below.end() || end == below.begin()) return level;
    below.erase(end, below.end());
  }
}

std::vector<std::int64_t> spread(std::vector<double>& loads, std::int64_t count, double length) {
  check_interrupt();
  const double level = water_level(loads, static_cast<double>(count) * length);
  std::vector<std::int64_t> taken(loads.size(), 0);
  std::int64_t left = count;
  for (std::size_t k = 0; k < loads.size() && left > 0; ++k) {
    // Rounded down by more than the division's rounding error: one task less at once is LPT too.
    const double room = (level - loads[k]) / length;
    const double whole = std::floor(room * (1 - 1e-12) - 1e-9);
    if (whole < 1) continue;
    taken[k] = whole < static_cast<double>(left) ? static_cast<std::int64_t>(whole) : left;
    left -= taken[k];
  }
  const auto end_of = [&](std::size_t k) {
    return loads[k] + static_cast<double>(taken[k]) * length;
  };
  using Slot = std::pair<double, std::size_t>;
  std::vector<Slot> slots;
  for (std::size_t k = 0; k < loads.size(); ++k) slots.emplace_back(end_of(k), k);
  std::priority_queue<Slot, std::vector<Slot>, std::greater<>> free(std::greater<>{},
                                                                    std::move(slots));
  Poll poll;
  for (; left > 0; --left) {
    poll.count(50);
    const std::size_t k = free.top().second;
    free.pop();
    ++taken[k];
    free.emplace(end_of(k), k);
  }
  for (std::size_t k = 0; k < loads.size(); ++k) loads[k] = end_of(k);
  return taken;
}

std::vector<int> longest_first(const Instance& instance, int j) {
  return sorted_numbers(instance.types(),
                        [&](int a, int b) { return instance.etc(a, j) > instance.etc(b, j); });
}

namespace {

using std::to_string;

void check_counts(const Instance& instance, const Counts& counts) {
  if (counts.rows() != instance.types() || counts.cols() != instance.machine_types())
    throw InvalidInstance("counts has shape (" + to_string(counts.rows()) + ", " +
                          to_string(counts.cols()) + "): expected (" + to_string(instance.types()) +
                          ", " + to_string(instance.machine_types()) + ")");
  for (int i = 0; i < instance.types(); ++i) {
    std::int64_t left = instance.count(i);
    for (int j = 0; j < instance.machine_types(); ++j) {
      const std::int64_t n = counts(i, j);
      if (n < 0 || n > left || (n > 0 && !instance.allowed(i, j)))
        throw InvalidInstance("counts[" + to_string(i) + ", " + to_string(j) +
                              "] = " + to_string(n) + ": expected 0.." +
                              to_string(instance.allowed(i, j) ? left : 0) + " of the " +
                              to_string(instance.count(i)) + " tasks");
      left -= n;
    }
    if (left > 0)
      throw InvalidInstance("counts[" + to_string(i) + "] leaves " + to_string(left) + " of " +
                            to_string(instance.count(i)) + " tasks without a machine type");
  }
}

std::vector<std::int64_t> column(const Counts& counts, int j) {
  std::vector<std::int64_t> result(counts.rows());
  for (std::ptrdiff_t i = 0; i < counts.rows(); ++i) result[i] = counts(i, j);
  return result;
}

}  // namespace

Plan make_plan(const Instance& instance, const Counts& counts) {
  check_counts(instance, counts);
  Plan plan;
  plan.counts = counts;
  for (int j = 0; j < instance.machine_types(); ++j) {
    std::vector<std::vector<Run>> of_machine(instance.machines(j));
    plan.loads.push_back(assign_locally(
        instance, j, column(counts, j), [&](int i, const std::vector<std::int64_t>& taken) {
          for (std::size_t k = 0; k < taken.size(); ++k)
            if (taken[k] > 0) of_machine[k].push_back({i, j, static_cast<int>(k), taken[k]});
        }));
    for (const std::vector<Run>& runs : of_machine)
      plan.runs.insert(plan.runs.end(), runs.begin(), runs.end());
  }
  return evaluated(instance, std::move(plan));
}

double profit_rate_of(const Instance& instance, const Counts& counts) {
  const double joules = joules_of(instance, counts);
  double makespan = instance.least_period(joules);
  for (int j = 0; j < instance.machine_types(); ++j)
    for (const double load :
         assign_locally(instance, j, column(counts, j), [](int, const auto&) {}))
      makespan = std::max(makespan, load);
  return instance.profit_rate(joules, makespan);
}

}  // namespace cosched::bags::rounding

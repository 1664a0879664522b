#include "cosched/bags/rounding/local_assign.hpp"

#include <functional>
#include <queue>

#include "cosched/core/assert.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"

namespace cosched::bags::rounding {
namespace {

// Poll steps (a nanosecond each) of a task that is given to the machine that is free first.
constexpr std::int64_t kPollStepsPerTask = 50;

}  // namespace

double water_level(const std::vector<double>& loads, double work) {
  COSCHED_ASSERT(!loads.empty() && work >= 0);
  std::vector<double> machines_below = loads;  // S
  for (;;) {
    const double sum = std::accumulate(machines_below.begin(), machines_below.end(), 0.0);
    const double level = (sum + work) / static_cast<double>(machines_below.size());
    const auto end = std::remove_if(machines_below.begin(), machines_below.end(),
                                    [&](double load) { return load >= level; });
    // Dropping a load >= level lowers the level; where all of S is at it, it is the level.
    if (end == machines_below.end() || end == machines_below.begin()) return level;
    machines_below.erase(end, machines_below.end());
  }
}

std::vector<std::int64_t> spread_by_lpt(std::vector<double>& loads, std::int64_t count,
                                        double length) {
  check_interrupt();
  const double level = water_level(loads, static_cast<double>(count) * length);
  std::vector<std::int64_t> tasks_of_machine(loads.size(), 0);
  std::int64_t remaining = count;
  for (std::size_t k = 0; k < loads.size() && remaining > 0; ++k) {
    // Rounded down by more than the division's rounding error: one task less at once is LPT too.
    const double free_tasks = (level - loads[k]) / length;
    const double whole_tasks = std::floor(free_tasks * (1 - kSumTolerance) - kExactTolerance);
    if (whole_tasks < 1) continue;
    tasks_of_machine[k] = whole_tasks < static_cast<double>(remaining)
                              ? static_cast<std::int64_t>(whole_tasks)
                              : remaining;
    remaining -= tasks_of_machine[k];
  }
  const auto end_of = [&](std::size_t k) {
    return loads[k] + static_cast<double>(tasks_of_machine[k]) * length;
  };
  using Slot = std::pair<double, std::size_t>;
  std::vector<Slot> slots;
  for (std::size_t k = 0; k < loads.size(); ++k) slots.emplace_back(end_of(k), k);
  std::priority_queue<Slot, std::vector<Slot>, std::greater<>> slots_by_end(std::greater<>{},
                                                                            std::move(slots));
  Poll poll;
  for (; remaining > 0; --remaining) {
    poll.count(kPollStepsPerTask);
    const std::size_t k = slots_by_end.top().second;
    slots_by_end.pop();
    ++tasks_of_machine[k];
    slots_by_end.emplace(end_of(k), k);
  }
  for (std::size_t k = 0; k < loads.size(); ++k) loads[k] = end_of(k);
  return tasks_of_machine;
}

std::vector<int> order_by_longest(const Instance& instance, int j) {
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
    std::int64_t remaining = instance.count(i);
    for (int j = 0; j < instance.machine_types(); ++j) {
      const std::int64_t n = counts(i, j);
      if (n < 0 || n > remaining || (n > 0 && !instance.is_allowed(i, j)))
        throw InvalidInstance("counts[" + to_string(i) + ", " + to_string(j) +
                              "] = " + to_string(n) + ": expected 0.." +
                              to_string(instance.is_allowed(i, j) ? remaining : 0) + " of the " +
                              to_string(instance.count(i)) + " tasks");
      remaining -= n;
    }
    if (remaining > 0)
      throw InvalidInstance("counts[" + to_string(i) + "] leaves " + to_string(remaining) + " of " +
                            to_string(instance.count(i)) + " tasks without a machine type");
  }
}

std::vector<std::int64_t> counts_on_machine_type(const Counts& counts, int j) {
  std::vector<std::int64_t> result(counts.rows());
  for (std::ptrdiff_t i = 0; i < counts.rows(); ++i) result[i] = counts(i, j);
  return result;
}

}  // namespace

BagPlan make_plan(const Instance& instance, const Counts& counts) {
  check_counts(instance, counts);
  BagPlan plan;
  plan.counts = counts;
  for (int j = 0; j < instance.machine_types(); ++j) {
    std::vector<std::vector<TaskRun>> runs_of_machine(instance.machines(j));
    plan.loads.push_back(assign_locally(
        instance, j, counts_on_machine_type(counts, j),
        [&](int i, const std::vector<std::int64_t>& tasks_of_machine) {
          for (std::size_t k = 0; k < tasks_of_machine.size(); ++k)
            if (tasks_of_machine[k] > 0)
              runs_of_machine[k].push_back({i, j, static_cast<int>(k), tasks_of_machine[k]});
        }));
    for (const std::vector<TaskRun>& runs : runs_of_machine)
      plan.runs.insert(plan.runs.end(), runs.begin(), runs.end());
  }
  return evaluate_plan(instance, std::move(plan));
}

double profit_rate_of(const Instance& instance, const Counts& counts) {
  const double joules = total_joules(instance, counts);
  double makespan = instance.least_period(joules);
  for (int j = 0; j < instance.machine_types(); ++j)
    for (const double load :
         assign_locally(instance, j, counts_on_machine_type(counts, j), [](int, const auto&) {}))
      makespan = std::max(makespan, load);
  return instance.profit_rate(joules, makespan);
}

}  // namespace cosched::bags::rounding

#include "cosched/bags/plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cosched/bags/local_assign.hpp"
#include "cosched/core/errors.hpp"

namespace cosched::bags {
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

// 0 of no machines.
double longest(const std::vector<double>& loads) {
  return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

// Makespan, energy and profit from counts, loads and joules.
void evaluate(const Instance& instance, Plan& plan) {
  plan.joules = joules_of(instance, plan.counts);
  plan.makespan = instance.least_period(plan.joules);
  for (const std::vector<double>& loads : plan.loads)
    plan.makespan = std::max(plan.makespan, longest(loads));
  plan.energy = plan.joules + instance.idle_power() * plan.makespan;
  plan.profit_rate = instance.profit_rate(plan.joules, plan.makespan);
}

}  // namespace

double joules_of(const Instance& instance, const Counts& counts) {
  double sum = 0;
  for (int i = 0; i < instance.types(); ++i)
    for (int j = 0; j < instance.machine_types(); ++j)
      if (counts(i, j) > 0) sum += static_cast<double>(counts(i, j)) * instance.joules(i, j);
  return sum;
}

std::vector<int> list_machines(const Instance& instance, std::vector<int>& kind,
                               std::vector<int>& number) {
  std::vector<int> first(instance.machine_types());
  for (int j = 0; j < instance.machine_types(); ++j) {
    first[j] = static_cast<int>(kind.size());
    for (int k = 0; k < instance.machines(j); ++k) {
      kind.push_back(j);
      number.push_back(k);
    }
  }
  return first;
}

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
  evaluate(instance, plan);
  return plan;
}

Plan plan_of_runs(const Instance& instance, std::vector<Run> runs) {
  Plan plan;
  plan.counts = Counts(instance.types(), instance.machine_types());
  for (int j = 0; j < instance.machine_types(); ++j)
    plan.loads.emplace_back(instance.machines(j), 0.0);
  for (const auto& [i, j, k, n] : runs) {
    plan.counts(i, j) += n;
    plan.loads[j][k] += static_cast<double>(n) * instance.etc(i, j);
  }
  plan.runs = std::move(runs);
  evaluate(instance, plan);
  return plan;
}

double profit_rate_of(const Instance& instance, const Counts& counts) {
  const double joules = joules_of(instance, counts);
  double makespan = instance.least_period(joules);
  for (int j = 0; j < instance.machine_types(); ++j)
    makespan = std::max(
        makespan, longest(assign_locally(instance, j, column(counts, j), [](int, const auto&) {})));
  return instance.profit_rate(joules, makespan);
}

Timetable timetable(const Instance& instance, const Plan& plan) {
  double latest = 0;
  for (const std::vector<double>& loads : plan.loads) latest = std::max(latest, longest(loads));
  const bool waits = plan.makespan > latest;
  const std::size_t rows = plan.runs.size();
  Timetable table{std::vector<double>(rows), std::vector<double>(rows)};
  bool late = true;  // of the machine that ends at `last`
  for (std::size_t last = rows; last > 0;) {
    std::size_t first = last - 1;
    const Run& run = plan.runs[first];
    while (first > 0 && plan.runs[first - 1].machine == run.machine &&
           plan.runs[first - 1].machine_type == run.machine_type)
      --first;
    double now = waits && late ? plan.makespan - plan.loads[run.machine_type][run.machine] : 0;
    for (std::size_t r = first; r < last; ++r) {
      table.start[r] = now;
      now += static_cast<double>(plan.runs[r].count) *
             instance.etc(plan.runs[r].task_type, plan.runs[r].machine_type);
      table.end[r] = now;
    }
    if (waits && late) table.end[last - 1] = plan.makespan;  // now, up to rounding
    late = !late;
    last = first;
  }
  return table;
}

}  // namespace cosched::bags

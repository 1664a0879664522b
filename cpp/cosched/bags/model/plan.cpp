#include "cosched/bags/model/plan.hpp"

#include <algorithm>
#include <utility>

namespace cosched::bags {
namespace {

// 0 of no machines.
double longest(const std::vector<double>& loads) {
  return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

}  // namespace

double joules_of(const Instance& instance, const Counts& counts) {
  double sum = 0;
  for (int i = 0; i < instance.types(); ++i)
    for (int j = 0; j < instance.machine_types(); ++j)
      if (counts(i, j) > 0) sum += static_cast<double>(counts(i, j)) * instance.joules(i, j);
  return sum;
}

Plan evaluated(const Instance& instance, Plan plan) {
  plan.joules = joules_of(instance, plan.counts);
  plan.makespan = instance.least_period(plan.joules);
  for (const std::vector<double>& loads : plan.loads)
    plan.makespan = std::max(plan.makespan, longest(loads));
  plan.energy = plan.joules + instance.idle_power() * plan.makespan;
  plan.profit_rate = instance.profit_rate(plan.joules, plan.makespan);
  return plan;
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
  return evaluated(instance, std::move(plan));
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

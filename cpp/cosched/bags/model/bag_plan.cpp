#include "cosched/bags/model/bag_plan.hpp"

namespace cosched::bags {
namespace {

// 0 of no machines.
double longest_load(const std::vector<double>& loads) {
  return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

}  // namespace

double total_joules(const Instance& instance, const Counts& counts) {
  double sum = 0;
  for (int i = 0; i < instance.types(); ++i)
    for (int j = 0; j < instance.machine_types(); ++j)
      if (counts(i, j) > 0) sum += static_cast<double>(counts(i, j)) * instance.joules(i, j);
  return sum;
}

BagPlan evaluate_plan(const Instance& instance, BagPlan plan) {
  plan.joules = total_joules(instance, plan.counts);
  plan.makespan = instance.least_period(plan.joules);
  for (const std::vector<double>& loads : plan.loads)
    plan.makespan = std::max(plan.makespan, longest_load(loads));
  plan.energy = plan.joules + instance.idle_power() * plan.makespan;
  plan.profit_rate = instance.profit_rate(plan.joules, plan.makespan);
  return plan;
}

std::vector<int> list_machines(const Instance& instance, std::vector<int>& machine_types,
                               std::vector<int>& numbers) {
  std::vector<int> run_begin(instance.machine_types());
  for (int j = 0; j < instance.machine_types(); ++j) {
    run_begin[j] = static_cast<int>(machine_types.size());
    for (int k = 0; k < instance.machines(j); ++k) {
      machine_types.push_back(j);
      numbers.push_back(k);
    }
  }
  return run_begin;
}

BagPlan make_plan_of_runs(const Instance& instance, std::vector<TaskRun> runs) {
  BagPlan plan;
  plan.counts = Counts(instance.types(), instance.machine_types());
  for (int j = 0; j < instance.machine_types(); ++j)
    plan.loads.emplace_back(instance.machines(j), 0.0);
  for (const auto& [i, j, k, n] : runs) {
    plan.counts(i, j) += n;
    plan.loads[j][k] += static_cast<double>(n) * instance.etc(i, j);
  }
  plan.runs = std::move(runs);
  return evaluate_plan(instance, std::move(plan));
}

Timetable make_timetable(const Instance& instance, const BagPlan& plan) {
  double latest = 0;
  for (const std::vector<double>& loads : plan.loads)
    latest = std::max(latest, longest_load(loads));
  const bool waits = plan.makespan > latest;
  const std::size_t rows = plan.runs.size();
  Timetable timetable{std::vector<double>(rows), std::vector<double>(rows)};
  bool is_shifted_to_end = true;  // of the machine that ends at `last`
  for (std::size_t run_end = rows; run_end > 0;) {
    std::size_t run_begin = run_end - 1;
    const TaskRun& run = plan.runs[run_begin];
    while (run_begin > 0 && plan.runs[run_begin - 1].machine == run.machine &&
           plan.runs[run_begin - 1].machine_type == run.machine_type)
      --run_begin;
    double time =
        waits && is_shifted_to_end ? plan.makespan - plan.loads[run.machine_type][run.machine] : 0;
    for (std::size_t r = run_begin; r < run_end; ++r) {
      timetable.start[r] = time;
      time += static_cast<double>(plan.runs[r].count) *
              instance.etc(plan.runs[r].task_type, plan.runs[r].machine_type);
      timetable.end[r] = time;
    }
    if (waits && is_shifted_to_end)
      timetable.end[run_end - 1] = plan.makespan;  // now, up to rounding
    is_shifted_to_end = !is_shifted_to_end;
    run_end = run_begin;
  }
  return timetable;
}

}  // namespace cosched::bags

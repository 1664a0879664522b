#include "cosched/bags/search/recreation.hpp"

#include "cosched/bags/search/dive.hpp"

namespace cosched::bags::search {
PlanRecreation::PlanRecreation(const Instance& instance, const BagPlan& plan,
                               std::vector<double> value, const RecreationParams& params)
    : params_(params), instance_(&instance), task_values_(std::move(value)) {
  const std::vector<int> first = list_machines(instance, machine_types_, numbers_in_type_);
  runs_on_machine_.resize(machine_types_.size());
  loads_.assign(machine_types_.size(), 0);
  for (const TaskRun& run : plan.runs) {
    const int m = first[run.machine_type] + run.machine;
    runs_on_machine_[m].push_back(run);
    loads_[m] += static_cast<double>(run.count) * instance.etc(run.task_type, run.machine_type);
  }
}

// Those longer than the limit, then of a few types.
std::vector<int> PlanRecreation::draw_machines(double limit, int max_machines, Rng& rng) const {
  std::vector<int> order(loads_.size());
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  std::vector<char> is_preferred(instance_->machine_types(), 0);
  for (int k = 0; k < params_.drawn_machine_types; ++k)
    is_preferred[machine_types_[order[rng.below(order.size())]]] = 1;
  const auto rank = [&](int m) {
    return loads_[m] > limit ? 0 : is_preferred[machine_types_[m]] ? 1 : 2;
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank(a) < rank(b); });
  order.resize(std::min<std::size_t>(order.size(), static_cast<std::size_t>(max_machines) + 1));
  return order;
}

std::optional<std::vector<TaskRun>> PlanRecreation::try_recreation(double limit, int max_machines,
                                                                   Rng& rng) const {
  const double time_limit = limit * (1 + kLoadTolerance);
  std::vector<int> chosen_machines = draw_machines(time_limit, max_machines, rng);
  if (static_cast<int>(chosen_machines.size()) > max_machines) {
    if (loads_[chosen_machines.back()] > time_limit) return std::nullopt;
    chosen_machines.pop_back();
  }
  Stock stock{std::vector<std::int64_t>(instance_->types(), 0),
              std::vector<std::int64_t>(instance_->machine_types(), 0)};
  std::vector<std::vector<int>> machines(instance_->machine_types());
  std::vector<Pattern> known_patterns;
  double joules_before = 0;
  bool has_overlong_machine = false;
  for (const int m : chosen_machines) {
    ++stock.machines[machine_types_[m]];
    machines[machine_types_[m]].push_back(m);
    std::vector<std::pair<int, std::int64_t>> tasks;
    for (const TaskRun& run : runs_on_machine_[m]) {
      stock.tasks[run.task_type] += run.count;
      tasks.emplace_back(run.task_type, run.count);
    }
    std::sort(tasks.begin(), tasks.end());
    Pattern pattern = make_pattern(*instance_, machine_types_[m], std::move(tasks));
    joules_before += pattern.joules;
    has_overlong_machine = has_overlong_machine || loads_[m] > time_limit;
    if (loads_[m] <= time_limit) known_patterns.push_back(std::move(pattern));
  }
  PatternPool pool(*instance_, limit, task_values_, stock, known_patterns);
  const PatternUse use = pool.solve(params_.pricing_rounds, kSurelyMissingTaskFactor);
  const bool saves_energy = use.joules < joules_before * (1 - kExactTolerance);
  if (!use.is_complete || (!has_overlong_machine && !saves_energy)) return std::nullopt;
  auto runs = dive_into_patterns(*instance_, pool, use, stock, rng);
  if (!runs) return std::nullopt;
  std::vector<char> is_freed(loads_.size(), 0);
  for (const int m : chosen_machines) is_freed[m] = 1;
  for (TaskRun& run : *runs)
    run.machine = numbers_in_type_[machines[run.machine_type][run.machine]];
  for (int m = 0; m < static_cast<int>(loads_.size()); ++m)
    if (!is_freed[m])
      runs->insert(runs->end(), runs_on_machine_[m].begin(), runs_on_machine_[m].end());
  return runs;
}

}  // namespace cosched::bags::search

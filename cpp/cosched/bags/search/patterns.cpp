#include "cosched/bags/search/patterns.hpp"

#include "cosched/bags/rounding/local_assign.hpp"
#include "cosched/bags/rounding/rounding.hpp"
#include "cosched/core/assert.hpp"
#include "cosched/lp/glpk.hpp"

namespace cosched::bags::search {
namespace {

// Relative: a pattern must gain more than rounding.
constexpr double kGainTolerance = kExactTolerance;
// Copies this close to an integer are that integer: GLPK's values are feasible up to 1e-7.
constexpr double kCopyTolerance = 1e-7;
// Relative: branches that gain no more than this beyond the best choice are cut, because prices are
// no more precise (kCopyTolerance).  max_gain() adds it again.
constexpr double kPruningGap = 1e-7;
// Relative to the least energy: a task without a value must not stay without a machine for nothing.
constexpr double kLeastMissingCost = 1e-12;
// Poll steps (a nanosecond each) of a node of the branch and bound, without its children.
constexpr std::int64_t kPollStepsPerNode = 20;

// Depth-first search over counts of task types in falling order of value a second.
class PatternSearch {
 public:
  // Of a type at most most[i] tasks.
  PatternSearch(const Instance& instance, int j, double limit, const std::vector<double>& value,
                int nodes, const std::vector<std::int64_t>& most)
      : remaining_nodes_(nodes) {
    for (int i = 0; i < instance.types(); ++i) {
      if (!instance.is_allowed(i, j) || instance.etc(i, j) > limit || most[i] == 0) continue;
      const double gain = value[i] - instance.joules(i, j);
      if (gain > 0) items_.push_back({i, gain, instance.etc(i, j), most[i]});
    }
    std::stable_sort(items_.begin(), items_.end(), [](const PatternItem& a, const PatternItem& b) {
      return a.gain * b.seconds > b.gain * a.seconds;
    });
    counts_.assign(items_.size(), 0);
    best_counts_ = counts_;
    branch(0, limit * (1 + kLoadTolerance), 0);
  }

  // No choice gains more.
  double max_gain(double limit) const {
    if (items_.empty()) return 0;
    const double by_rate = limit * (1 + kLoadTolerance) * items_[0].gain / items_[0].seconds;
    return remaining_nodes_ < 0 ? by_rate : std::min(best_gain_ * (1 + kPruningGap), by_rate);
  }

  std::vector<std::pair<int, std::int64_t>> tasks() const {
    std::vector<std::pair<int, std::int64_t>> tasks_found;
    for (std::size_t k = 0; k < items_.size(); ++k)
      if (best_counts_[k] > 0) tasks_found.emplace_back(items_[k].type, best_counts_[k]);
    std::sort(tasks_found.begin(), tasks_found.end());
    return tasks_found;
  }

 private:
  struct PatternItem {
    int type;
    double gain, seconds;
    std::int64_t max_count;
  };

  // No choice from item k on gains more than `gain` plus the room at item k's rate.
  bool can_prune(std::size_t k, double free_seconds, double gain) const {
    const double rate = k < items_.size() ? items_[k].gain / items_[k].seconds : 0;
    return gain + free_seconds * rate <= best_gain_ * (1 + kPruningGap);
  }

  void branch(std::size_t k, double free_seconds, double gain) {
    --remaining_nodes_;
    if (remaining_nodes_ < 0) return;
    poll_.count(kPollStepsPerNode);
    if (gain > best_gain_) {
      best_gain_ = gain;
      best_counts_ = counts_;
    }
    if (k == items_.size() || can_prune(k, free_seconds, gain)) return;
    const PatternItem& item = items_[k];
    const auto fitting_count = static_cast<std::int64_t>(
        std::min(std::floor(free_seconds / item.seconds), static_cast<double>(item.max_count)));
    for (std::int64_t n = fitting_count; n >= 0 && remaining_nodes_ >= 0; --n) {
      const auto copies = static_cast<double>(n);
      const double remaining_room = std::max(free_seconds - copies * item.seconds, 0.0);
      if (n < fitting_count && can_prune(k + 1, remaining_room, gain + copies * item.gain)) break;
      counts_[k] = n;
      branch(k + 1, remaining_room, gain + copies * item.gain);
    }
    counts_[k] = 0;
  }

  std::vector<PatternItem> items_;
  std::vector<std::int64_t> counts_, best_counts_;
  double best_gain_ = 0;
  int remaining_nodes_;
  Poll poll_;
};

// Whole copies of patterns, each on a machine of its own.
struct PlacedPatterns {
  std::vector<TaskRun> runs;
  Counts counts;
  std::vector<std::int64_t> remaining_tasks;  // tasks of each type without a machine
  std::vector<std::vector<double>> loads;     // of all machines
};

PlacedPatterns place_whole_copies(const Instance& instance, const PatternPool& pool,
                                  const PatternUse& use) {
  PlacedPatterns placement;
  placement.counts = Counts(instance.types(), instance.machine_types());
  placement.remaining_tasks = instance.counts();
  for (int j = 0; j < instance.machine_types(); ++j)
    placement.loads.emplace_back(instance.machines(j), 0.0);
  std::vector<int> next(instance.machine_types(), 0);
  for (const auto& [number, copies] : use.copies) {
    const Pattern& pattern = pool[number];
    const int j = pattern.machine_type;
    const auto fitting_count = [&] {
      return next[j] < instance.machines(j) &&
             std::all_of(pattern.tasks.begin(), pattern.tasks.end(), [&](const auto& task) {
               return task.second <= placement.remaining_tasks[task.first];
             });
    };
    for (double copy = 1; copy <= copies + kCopyTolerance && fitting_count(); ++copy) {
      for (const auto& [i, n] : pattern.tasks) {
        placement.runs.push_back({i, j, next[j], n});
        placement.counts(i, j) += n;
        placement.remaining_tasks[i] -= n;
      }
      placement.loads[j][next[j]] = pattern.seconds;
      ++next[j];
    }
  }
  return placement;
}

// Tasks of each type on each machine type, fractional; rows sum to T_i.
Table fractional_assignment(const Instance& instance, const PatternPool& pool,
                            const PatternUse& use) {
  Table x(instance.types(), instance.machine_types());
  for (const auto& [number, copies] : use.copies)
    for (const auto& [i, n] : pool[number].tasks)
      x(i, pool[number].machine_type) += copies * static_cast<double>(n);
  for (int i = 0; i < instance.types(); ++i)
    if (instance.count(i) > 0)
      x.row(i) *= static_cast<double>(instance.count(i)) / x.row(i).sum();  // up to kCopy
  return x;
}

}  // namespace

Pattern make_pattern(const Instance& instance, int j,
                     std::vector<std::pair<int, std::int64_t>> tasks) {
  Pattern pattern{j, std::move(tasks), 0, 0};
  for (const auto& [i, n] : pattern.tasks) {
    pattern.seconds += static_cast<double>(n) * instance.etc(i, j);
    pattern.joules += static_cast<double>(n) * instance.joules(i, j);
  }
  return pattern;
}

double max_gain(const Instance& instance, int j, double limit, const std::vector<double>& value,
                const PatternParams& params) {
  return PatternSearch(instance, j, limit, value, params.max_nodes, instance.counts())
      .max_gain(limit);
}

PatternPool::PatternPool(const Instance& instance, double limit, std::vector<double> task_values,
                         Stock stock, const std::vector<Pattern>& known_patterns,
                         const PatternParams& params)
    : params_(params),
      instance_(&instance),
      limit_(limit),
      task_values_(std::move(task_values)),
      stock_(std::move(stock)) {
  const auto fitting_count = [&](const auto& task) {
    return task.second <= stock_.tasks[task.first];
  };
  for (const Pattern& pattern : known_patterns)
    if (stock_.machines[pattern.machine_type] > 0 &&
        std::all_of(pattern.tasks.begin(), pattern.tasks.end(), fitting_count))
      add_pattern(pattern);
  for (int j = 0; j < instance.machine_types(); ++j)
    if (stock_.machines[j] > 0) add_pattern(find_best_pattern(j, task_values_));
}

PatternPool::PatternPool(const Instance& instance, double limit, std::vector<double> task_values,
                         const PatternParams& params)
    : params_(params),
      instance_(&instance),
      limit_(limit),
      task_values_(std::move(task_values)),
      stock_{instance.counts(), instance.all_machines()} {
  const auto gain = [&](const Pattern& pattern) {
    double sum = -pattern.joules;
    for (const auto& [i, n] : pattern.tasks) sum += static_cast<double>(n) * task_values_[i];
    return sum;
  };
  for (int j = 0; j < instance.machine_types(); ++j) {
    const Pattern best = find_best_pattern(j, task_values_);
    const double most = gain(best);
    add_pattern(best);
    for (int i = 0; i < instance.types(); ++i) {
      if (!instance.is_allowed(i, j) || instance.etc(i, j) > limit || instance.count(i) == 0)
        continue;
      const double fitting_count = std::floor(limit / instance.etc(i, j));
      const auto n = static_cast<std::int64_t>(
          std::min(fitting_count, static_cast<double>(instance.count(i))));
      Pattern alone = make_pattern(instance, j, {{i, n}});
      if (gain(alone) >= params_.least_relative_gain * most) add_pattern(std::move(alone));
    }
  }
}

Pattern PatternPool::find_best_pattern(int j, const std::vector<double>& value) const {
  const PatternSearch search(*instance_, j, limit_, value, params_.max_nodes, stock_.tasks);
  return make_pattern(*instance_, j, search.tasks());
}

bool PatternPool::add_pattern(Pattern pattern) {
  if (pattern.tasks.empty() ||
      !known_patterns_.insert({pattern.machine_type, pattern.tasks}).second)
    return false;
  patterns_.push_back(std::move(pattern));
  return true;
}

// min joules: each task type covered, each machine type's machines not exceeded.
PatternUse PatternPool::solve_master(double missing_task_factor) const {
  const int types = instance_->types(), machines = instance_->machine_types();
  const double unit = std::max(instance_->least_joules(), kTinyPositive);
  lp::Model model;
  for (int i = 0; i < types; ++i) {
    const auto n = static_cast<double>(stock_.tasks[i]);
    model.add_row(n, n);
  }
  for (int j = 0; j < machines; ++j)
    model.add_row(-kInfinity, static_cast<double>(stock_.machines[j]));
  for (const Pattern& pattern : patterns_) {
    const int column = model.add_column(pattern.joules / unit);
    for (const auto& [i, n] : pattern.tasks) model.add_entry(i, column, static_cast<double>(n));
    model.add_entry(types + pattern.machine_type, column, 1);
  }
  for (int i = 0; i < types; ++i)  // without a machine
    model.add_entry(
        i, model.add_column(missing_task_factor * task_values_[i] / unit + kLeastMissingCost), 1);

  lp::GlpkOptions options;
  options.method = lp::GlpkOptions::Method::primal;
  options.presolve = false;
  const lp::Solution solution = lp::solve_glpk(model, options);
  lp::require_optimal(solution, "patterns");
  PatternUse use;
  use.joules = solution.objective * unit;
  for (std::size_t k = 0; k < patterns_.size(); ++k)
    if (solution.x[k] > kCopyTolerance) use.copies.emplace_back(static_cast<int>(k), solution.x[k]);
  for (int i = 0; i < types; ++i) {
    use.task_values.push_back(solution.dual[i] * unit);
    if (solution.x[patterns_.size() + i] > kCopyTolerance) use.is_complete = false;
  }
  for (int j = 0; j < machines; ++j) use.machine_values.push_back(-solution.dual[types + j] * unit);
  return use;
}

// Adds patterns found at the values `guide` that gain at the master's values.
bool PatternPool::generate_patterns(const PatternUse& use, const std::vector<double>& guide) {
  bool has_new_pattern = false;
  for (int j = 0; j < instance_->machine_types(); ++j) {
    if (stock_.machines[j] == 0) continue;
    Pattern tasks_found = find_best_pattern(j, guide);
    double gain = -tasks_found.joules;
    for (const auto& [i, n] : tasks_found.tasks)
      gain += static_cast<double>(n) * use.task_values[i];
    if (gain > use.machine_values[j] +
                   kGainTolerance * (std::abs(use.machine_values[j]) + tasks_found.joules))
      has_new_pattern = add_pattern(std::move(tasks_found)) || has_new_pattern;
  }
  return has_new_pattern;
}

PatternUse PatternPool::solve(int rounds, double missing_task_factor) {
  const double smoothing = params_.smoothing;
  for (int round = 0;; ++round) {
    check_interrupt();
    PatternUse use = solve_master(missing_task_factor);
    if (round == rounds) return use;
    std::vector<double> smoothed_values(task_values_.size());
    for (std::size_t i = 0; i < task_values_.size(); ++i)
      smoothed_values[i] = smoothing * task_values_[i] + (1 - smoothing) * use.task_values[i];
    if (!generate_patterns(use, smoothed_values) && !generate_patterns(use, use.task_values))
      return use;
  }
}

std::vector<TaskRun> make_pattern_runs(const Instance& instance, const PatternPool& pool,
                                       const PatternUse& use) {
  COSCHED_ASSERT(use.is_complete);
  PlacedPatterns placement = place_whole_copies(instance, pool, use);
  Counts remaining_counts =
      rounding::round_by_matching(instance, fractional_assignment(instance, pool, use));
  // A copy that was rounded up can hold more of a type than the rounding gives the machine type:
  // then another machine type gets less.
  for (int i = 0; i < instance.types(); ++i)
    for (int j = 0; j < instance.machine_types(); ++j) {
      remaining_counts(i, j) = std::clamp(remaining_counts(i, j) - placement.counts(i, j),
                                          std::int64_t{0}, placement.remaining_tasks[i]);
      placement.remaining_tasks[i] -= remaining_counts(i, j);
    }
  for (int i = 0; i < instance.types(); ++i)
    remaining_counts(i, instance.thriftiest_machine_type(i)) += placement.remaining_tasks[i];
  for (int j = 0; j < instance.machine_types(); ++j)
    for (const int i : rounding::order_by_longest(instance, j)) {
      if (remaining_counts(i, j) == 0) continue;
      const auto tasks_of_machine =
          rounding::spread_by_lpt(placement.loads[j], remaining_counts(i, j), instance.etc(i, j));
      for (std::size_t k = 0; k < tasks_of_machine.size(); ++k)
        if (tasks_of_machine[k] > 0)
          placement.runs.push_back({i, j, static_cast<int>(k), tasks_of_machine[k]});
    }
  return placement.runs;
}

}  // namespace cosched::bags::search

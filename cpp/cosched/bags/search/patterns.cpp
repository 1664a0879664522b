#include "cosched/bags/search/patterns.hpp"

#include "cosched/bags/rounding/rounding.hpp"
#include "cosched/lp/glpk.hpp"

namespace cosched::bags::search {
namespace {

constexpr int kNodes = 20'000;       // of one pattern's search
constexpr double kWorthwhile = 0.7;  // gain of a first pattern over the best of its machine type
constexpr double kGain = 1e-9;       // relative: a pattern must gain more than rounding
constexpr double kCopy = 1e-7;       // copies this close to an integer are that integer

// Depth-first search over counts of task types in falling order of value a second.
class PatternSearch {
 public:
  // Of a type at most most[i] tasks.
  PatternSearch(const Instance& instance, int j, double limit, const std::vector<double>& value,
                int nodes, const std::vector<std::int64_t>& most)
      : nodes_(nodes) {
    for (int i = 0; i < instance.types(); ++i) {
      if (!instance.allowed(i, j) || instance.etc(i, j) > limit || most[i] == 0) continue;
      const double gain = value[i] - instance.joules(i, j);
      if (gain > 0) items_.push_back({i, gain, instance.etc(i, j), most[i]});
    }
    std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      return a.gain * b.seconds > b.gain * a.seconds;
    });
    count_.assign(items_.size(), 0);
    best_count_ = count_;
    search(0, limit * (1 + kFit), 0);
  }

  // No choice gains more.
  double most_gain(double limit) const {
    if (items_.empty()) return 0;
    const double by_rate = limit * (1 + kFit) * items_[0].gain / items_[0].seconds;
    return nodes_ < 0 ? by_rate : std::min(best_ * (1 + 1e-7), by_rate);
  }

  std::vector<std::pair<int, std::int64_t>> tasks() const {
    std::vector<std::pair<int, std::int64_t>> found;
    for (std::size_t k = 0; k < items_.size(); ++k)
      if (best_count_[k] > 0) found.emplace_back(items_[k].type, best_count_[k]);
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  struct Item {
    int type;
    double gain, seconds;
    std::int64_t most;
  };

  // No choice from item k on gains more than `gain` plus the room at item k's rate.
  bool hopeless(std::size_t k, double room, double gain) const {
    const double rate = k < items_.size() ? items_[k].gain / items_[k].seconds : 0;
    return gain + room * rate <= best_ * (1 + 1e-7);
  }

  void search(std::size_t k, double room, double gain) {
    if (--nodes_ < 0) return;
    poll_.count(20);
    if (gain > best_) {
      best_ = gain;
      best_count_ = count_;
    }
    if (k == items_.size() || hopeless(k, room, gain)) return;
    const Item& item = items_[k];
    const auto fits = static_cast<std::int64_t>(
        std::min(std::floor(room / item.seconds), static_cast<double>(item.most)));
    for (std::int64_t n = fits; n >= 0 && nodes_ >= 0; --n) {
      const auto copies = static_cast<double>(n);
      const double left = std::max(room - copies * item.seconds, 0.0);
      if (n < fits && hopeless(k + 1, left, gain + copies * item.gain)) break;
      count_[k] = n;
      search(k + 1, left, gain + copies * item.gain);
    }
    count_[k] = 0;
  }

  std::vector<Item> items_;
  std::vector<std::int64_t> count_, best_count_;
  double best_ = 0;
  int nodes_;
  Poll poll_;
};

// Whole copies of patterns, each on a machine of its own.
struct Placed {
  std::vector<Run> runs;
  Counts counts;
  std::vector<std::int64_t> left;          // tasks of each type without a machine
  std::vector<std::vector<double>> loads;  // of all machines
};

Placed place_whole(const Instance& instance, const PatternPool& pool, const PatternUse& use) {
  Placed placed;
  placed.counts = Counts(instance.types(), instance.machine_types());
  placed.left = instance.counts();
  for (int j = 0; j < instance.machine_types(); ++j)
    placed.loads.emplace_back(instance.machines(j), 0.0);
  std::vector<int> next(instance.machine_types(), 0);
  for (const auto& [number, copies] : use.copies) {
    const Pattern& pattern = pool[number];
    const int j = pattern.machine_type;
    const auto fits = [&] {
      return next[j] < instance.machines(j) &&
             std::all_of(pattern.tasks.begin(), pattern.tasks.end(),
                         [&](const auto& task) { return task.second <= placed.left[task.first]; });
    };
    for (double copy = 1; copy <= copies + kCopy && fits(); ++copy) {
      for (const auto& [i, n] : pattern.tasks) {
        placed.runs.push_back({i, j, next[j], n});
        placed.counts(i, j) += n;
        placed.left[i] -= n;
      }
      placed.loads[j][next[j]++] = pattern.seconds;
    }
  }
  return placed;
}

// Tasks of each type on each machine type, fractional; rows sum to T_i.
Table shares(const Instance& instance, const PatternPool& pool, const PatternUse& use) {
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

double most_gain(const Instance& instance, int j, double limit, const std::vector<double>& value) {
  return PatternSearch(instance, j, limit, value, kNodes, instance.counts()).most_gain(limit);
}

PatternPool::PatternPool(const Instance& instance, double limit, std::vector<double> value,
                         Stock stock, const std::vector<Pattern>& known)
    : instance_(&instance), limit_(limit), value_(std::move(value)), stock_(std::move(stock)) {
  const auto fits = [&](const auto& task) { return task.second <= stock_.tasks[task.first]; };
  for (const Pattern& pattern : known)
    if (stock_.machines[pattern.machine_type] > 0 &&
        std::all_of(pattern.tasks.begin(), pattern.tasks.end(), fits))
      add(pattern);
  for (int j = 0; j < instance.machine_types(); ++j)
    if (stock_.machines[j] > 0) add(priced(j, value_));
}

PatternPool::PatternPool(const Instance& instance, double limit, std::vector<double> value)
    : instance_(&instance),
      limit_(limit),
      value_(std::move(value)),
      stock_{instance.counts(), instance.all_machines()} {
  const auto gain = [&](const Pattern& pattern) {
    double sum = -pattern.joules;
    for (const auto& [i, n] : pattern.tasks) sum += static_cast<double>(n) * value_[i];
    return sum;
  };
  for (int j = 0; j < instance.machine_types(); ++j) {
    const Pattern best = priced(j, value_);
    const double most = gain(best);
    add(best);
    for (int i = 0; i < instance.types(); ++i) {
      if (!instance.allowed(i, j) || instance.etc(i, j) > limit || instance.count(i) == 0) continue;
      const double fits = std::floor(limit / instance.etc(i, j));
      const auto n =
          static_cast<std::int64_t>(std::min(fits, static_cast<double>(instance.count(i))));
      Pattern alone = make_pattern(instance, j, {{i, n}});
      if (gain(alone) >= kWorthwhile * most) add(std::move(alone));
    }
  }
}

Pattern PatternPool::priced(int j, const std::vector<double>& value) const {
  const PatternSearch search(*instance_, j, limit_, value, kNodes, stock_.tasks);
  return make_pattern(*instance_, j, search.tasks());
}

bool PatternPool::add(Pattern pattern) {
  if (pattern.tasks.empty() || !known_.insert({pattern.machine_type, pattern.tasks}).second)
    return false;
  patterns_.push_back(std::move(pattern));
  return true;
}

// min joules: each task type covered, each machine type's machines not exceeded.
PatternUse PatternPool::solve_master(double missing) const {
  const int types = instance_->types(), machines = instance_->machine_types();
  const double unit = std::max(instance_->least_joules(), 1e-300);
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
    model.add_entry(i, model.add_column(missing * value_[i] / unit + 1e-12), 1);

  lp::GlpkOptions options;
  options.method = lp::GlpkOptions::Method::primal;
  options.presolve = false;
  const lp::Solution solution = lp::solve_glpk(model, options);
  lp::require_optimal(solution, "patterns");
  PatternUse use;
  use.joules = solution.objective * unit;
  for (std::size_t k = 0; k < patterns_.size(); ++k)
    if (solution.x[k] > kCopy) use.copies.emplace_back(static_cast<int>(k), solution.x[k]);
  for (int i = 0; i < types; ++i) {
    use.value.push_back(solution.dual[i] * unit);
    if (solution.x[patterns_.size() + i] > kCopy) use.complete = false;
  }
  for (int j = 0; j < machines; ++j) use.machine_value.push_back(-solution.dual[types + j] * unit);
  return use;
}

// Adds patterns found at the values `guide` that gain at the master's values.
bool PatternPool::generate(const PatternUse& use, const std::vector<double>& guide) {
  bool any = false;
  for (int j = 0; j < instance_->machine_types(); ++j) {
    if (stock_.machines[j] == 0) continue;
    Pattern found = priced(j, guide);
    double gain = -found.joules;
    for (const auto& [i, n] : found.tasks) gain += static_cast<double>(n) * use.value[i];
    if (gain > use.machine_value[j] + kGain * (std::abs(use.machine_value[j]) + found.joules))
      any = add(std::move(found)) || any;
  }
  return any;
}

PatternUse PatternPool::solve(int rounds, double missing) {
  constexpr double kSmooth = 0.7;  // towards the relaxation's values, which are close
  for (int round = 0;; ++round) {
    check_interrupt();
    PatternUse use = solve_master(missing);
    if (round == rounds) return use;
    std::vector<double> smooth(value_.size());
    for (std::size_t i = 0; i < value_.size(); ++i)
      smooth[i] = kSmooth * value_[i] + (1 - kSmooth) * use.value[i];
    if (!generate(use, smooth) && !generate(use, use.value)) return use;
  }
}

std::vector<Run> pattern_runs(const Instance& instance, const PatternPool& pool,
                              const PatternUse& use) {
  Placed placed = place_whole(instance, pool, use);
  Counts rest = rounding::round_by_matching(instance, shares(instance, pool, use));
  // A copy that was rounded up can hold more of a type than the rounding gives the machine type:
  // then another machine type gets less.
  for (int i = 0; i < instance.types(); ++i)
    for (int j = 0; j < instance.machine_types(); ++j) {
      rest(i, j) = std::clamp(rest(i, j) - placed.counts(i, j), std::int64_t{0}, placed.left[i]);
      placed.left[i] -= rest(i, j);
    }
  for (int i = 0; i < instance.types(); ++i) rest(i, instance.thriftiest(i)) += placed.left[i];
  for (int j = 0; j < instance.machine_types(); ++j)
    for (const int i : rounding::longest_first(instance, j)) {
      if (rest(i, j) == 0) continue;
      const auto taken = rounding::spread(placed.loads[j], rest(i, j), instance.etc(i, j));
      for (std::size_t k = 0; k < taken.size(); ++k)
        if (taken[k] > 0) placed.runs.push_back({i, j, static_cast<int>(k), taken[k]});
    }
  return placed.runs;
}

}  // namespace cosched::bags::search

#include "cosched/bags/search/dive.hpp"

namespace cosched::bags::search {
namespace {

constexpr int kRounds = 30;      // of column generation, for what is left
constexpr double kWhole = 1e-6;  // a copy that lacks less is whole
constexpr int kKinds = 3;        // machine types that a part of a plan is taken from

bool holds(const Stock& stock, const Pattern& pattern) {
  return stock.machines[pattern.machine_type] > 0 &&
         std::all_of(pattern.tasks.begin(), pattern.tasks.end(),
                     [&](const auto& task) { return task.second <= stock.tasks[task.first]; });
}

bool empty(const Stock& stock) {
  return std::all_of(stock.tasks.begin(), stock.tasks.end(), [](auto n) { return n == 0; });
}

// Places patterns of a stock, one by one.
class Placing {
 public:
  Placing(Stock& stock) : stock_(&stock), next_(stock.machines.size(), 0) {}

  bool place(const Pattern& pattern) {
    if (!holds(*stock_, pattern)) return false;
    const int j = pattern.machine_type;
    for (const auto& [i, n] : pattern.tasks) {
      runs_.push_back({i, j, next_[j], n});
      stock_->tasks[i] -= n;
    }
    --stock_->machines[j];
    ++next_[j];
    return true;
  }
  std::vector<Run>& runs() { return runs_; }

 private:
  Stock* stock_;
  std::vector<int> next_;
  std::vector<Run> runs_;
};

// One of the copies, drawn by its fraction.  Requires copies.
int drawn_copy(const PatternUse& use, Rng& rng) {
  double sum = 0;
  for (const auto& [number, copies] : use.copies) sum += copies - std::floor(copies);
  double left = rng.uniform() * sum;
  for (const auto& [number, copies] : use.copies)
    if ((left -= copies - std::floor(copies)) <= 0) return number;
  return use.copies.back().first;
}

}  // namespace

std::optional<std::vector<Run>> dive(const Instance& instance, const PatternPool& pool,
                                     const PatternUse& use, Stock stock, Rng& rng) {
  Placing placing(stock);
  PatternPool now = pool;
  PatternUse relaxed = use;
  while (!empty(stock)) {
    if (!relaxed.complete || relaxed.copies.empty()) return std::nullopt;
    bool any = false;
    for (const auto& [number, copies] : relaxed.copies)
      for (double copy = 1; copy <= copies + kWhole && placing.place(now[number]); ++copy)
        any = true;
    if (!any && !placing.place(now[drawn_copy(relaxed, rng)])) return std::nullopt;
    if (empty(stock)) break;
    now = PatternPool(instance, pool.limit(), pool.value(), stock, now.patterns());
    relaxed = now.solve(kRounds, kSurelyMissing);
  }
  return std::move(placing.runs());
}

Recreation::Recreation(const Instance& instance, const Plan& plan, std::vector<double> value)
    : instance_(&instance), value_(std::move(value)) {
  const std::vector<int> first = list_machines(instance, kind_, number_);
  on_.resize(kind_.size());
  load_.assign(kind_.size(), 0);
  for (const Run& run : plan.runs) {
    const int m = first[run.machine_type] + run.machine;
    on_[m].push_back(run);
    load_[m] += static_cast<double>(run.count) * instance.etc(run.task_type, run.machine_type);
  }
}

// Those longer than the limit, then of a few types.
std::vector<int> Recreation::drawn(double limit, int most, Rng& rng) const {
  std::vector<int> order(load_.size());
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  std::vector<char> wanted(instance_->machine_types(), 0);
  for (int k = 0; k < kKinds; ++k) wanted[kind_[order[rng.below(order.size())]]] = 1;
  const auto rank = [&](int m) { return load_[m] > limit ? 0 : wanted[kind_[m]] ? 1 : 2; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank(a) < rank(b); });
  order.resize(std::min<std::size_t>(order.size(), static_cast<std::size_t>(most) + 1));
  return order;
}

std::optional<std::vector<Run>> Recreation::attempt(double limit, int most, Rng& rng) const {
  const double within = limit * (1 + kFit);
  std::vector<int> chosen = drawn(within, most, rng);
  if (static_cast<int>(chosen.size()) > most) {
    if (load_[chosen.back()] > within) return std::nullopt;
    chosen.pop_back();
  }
  Stock stock{std::vector<std::int64_t>(instance_->types(), 0),
              std::vector<std::int64_t>(instance_->machine_types(), 0)};
  std::vector<std::vector<int>> machines(instance_->machine_types());
  std::vector<Pattern> known;
  double before = 0;
  bool shorter = false;
  for (const int m : chosen) {
    ++stock.machines[kind_[m]];
    machines[kind_[m]].push_back(m);
    std::vector<std::pair<int, std::int64_t>> tasks;
    for (const Run& run : on_[m]) {
      stock.tasks[run.task_type] += run.count;
      tasks.emplace_back(run.task_type, run.count);
    }
    std::sort(tasks.begin(), tasks.end());
    Pattern pattern = make_pattern(*instance_, kind_[m], std::move(tasks));
    before += pattern.joules;
    shorter = shorter || load_[m] > within;
    if (load_[m] <= within) known.push_back(std::move(pattern));
  }
  PatternPool pool(*instance_, limit, value_, stock, known);
  const PatternUse use = pool.solve(kRounds, kSurelyMissing);
  if (!use.complete || (!shorter && use.joules >= before * (1 - 1e-9))) return std::nullopt;
  auto runs = dive(*instance_, pool, use, stock, rng);
  if (!runs) return std::nullopt;
  std::vector<char> freed(load_.size(), 0);
  for (const int m : chosen) freed[m] = 1;
  for (Run& run : *runs) run.machine = number_[machines[run.machine_type][run.machine]];
  for (int m = 0; m < static_cast<int>(load_.size()); ++m)
    if (!freed[m]) runs->insert(runs->end(), on_[m].begin(), on_[m].end());
  return runs;
}

}  // namespace cosched::bags::search

#include "cosched/bags/search/dive.hpp"

namespace cosched::bags::search {
namespace {

bool can_hold(const Stock& stock, const Pattern& pattern) {
  return stock.machines[pattern.machine_type] > 0 &&
         std::all_of(pattern.tasks.begin(), pattern.tasks.end(),
                     [&](const auto& task) { return task.second <= stock.tasks[task.first]; });
}

bool is_empty(const Stock& stock) {
  return std::all_of(stock.tasks.begin(), stock.tasks.end(), [](auto n) { return n == 0; });
}

// Places patterns of a stock, one by one.
class PatternPlacer {
 public:
  PatternPlacer(Stock& stock) : stock_(&stock), next_machine_(stock.machines.size(), 0) {}

  bool place(const Pattern& pattern) {
    if (!can_hold(*stock_, pattern)) return false;
    const int j = pattern.machine_type;
    for (const auto& [i, n] : pattern.tasks) {
      runs_.push_back({i, j, next_machine_[j], n});
      stock_->tasks[i] -= n;
    }
    --stock_->machines[j];
    ++next_machine_[j];
    return true;
  }
  std::vector<TaskRun>& runs() { return runs_; }

 private:
  Stock* stock_;
  std::vector<int> next_machine_;
  std::vector<TaskRun> runs_;
};

// One of the copies, drawn by its fraction.  Requires copies.
int draw_copy(const PatternUse& use, Rng& rng) {
  double sum = 0;
  for (const auto& [number, copies] : use.copies) sum += copies - std::floor(copies);
  double remaining_fraction = rng.uniform() * sum;
  for (const auto& [number, copies] : use.copies) {
    remaining_fraction -= copies - std::floor(copies);
    if (remaining_fraction <= 0) return number;
  }
  return use.copies.back().first;
}

}  // namespace

std::optional<std::vector<TaskRun>> dive_into_patterns(const Instance& instance,
                                                       const PatternPool& pool,
                                                       const PatternUse& use, Stock stock, Rng& rng,
                                                       const DiveParams& params) {
  PatternPlacer placing(stock);
  PatternPool current_pool = pool;
  PatternUse relaxed = use;
  while (!is_empty(stock)) {
    if (!relaxed.is_complete || relaxed.copies.empty()) return std::nullopt;
    bool has_placed = false;
    for (const auto& [number, copies] : relaxed.copies)
      for (double copy = 1;
           copy <= copies + params.whole_tolerance && placing.place(current_pool[number]); ++copy)
        has_placed = true;
    if (!has_placed && !placing.place(current_pool[draw_copy(relaxed, rng)])) return std::nullopt;
    if (is_empty(stock)) break;
    current_pool =
        PatternPool(instance, pool.limit(), pool.task_values(), stock, current_pool.patterns());
    relaxed = current_pool.solve(params.pricing_rounds, kSurelyMissingTaskFactor);
  }
  return std::move(placing.runs());
}

}  // namespace cosched::bags::search

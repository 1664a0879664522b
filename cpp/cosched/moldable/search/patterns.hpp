// What one processor can do in a window, and what all need to share some jobs: a bound for labels.
#pragma once

#include <unordered_map>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/processor_choice.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::search {

using JobSet = std::uint32_t;

inline int set_size(JobSet jobs) {
  int size = 0;
  for (; jobs != 0; jobs &= jobs - 1) ++size;
  return size;
}

/// From `time` on, `count` processors more are free.
struct FreeStep {
  double time;
  int procs;
};

/// Of each job its counts whose time is shorter than those of all smaller counts, by increasing
/// count.
inline std::vector<std::vector<Choice>> fastest_choices(const Instance& instance) {
  std::vector<std::vector<Choice>> all(instance.jobs());
  for (int i = 0; i < instance.jobs(); ++i)
    for (int q = instance.fewest_procs(i); q > 0 && q <= instance.machines();
         q = instance.next_faster_procs(i, q))
      all[i].push_back({q, instance.time(i, q)});
  return all;
}

/// Give each job a price l_j, and each of its processors the part l_j / q when it runs on q.  In a
/// window of some length one processor earns at most K, a knapsack with one choice of each job:
///   K_S(L) = max sum l_j / q_j, sum t_j(q_j) <= L, over the jobs of a subset of S.
/// The jobs of S end by d only if the sum of K_S(d - free time) over the processors is not below
/// their prices together: this knows that a processor holds few whole jobs, and what parallel ones
/// cost. With the least work as prices it is the area bound where nothing is lost at the ends.
/// Prices: those of the covering LP of all processors by patterns, nearly, by multiplicative
/// weights. Times are rounded down to thousandths of the bound, so that K is a table: what is said
/// stays true.
class ProcessorPatterns {
 public:
  /// `bound`: some positive lower bound on the makespan.  `longest`: no later deadline is asked
  /// for.
  ProcessorPatterns(std::vector<std::vector<Choice>> choices, int machines, double bound,
                    double longest)
      : choices_(std::move(choices)),
        machines_(machines),
        bound_(bound),
        cell_length_(std::max(bound / kCells, longest / kMostCells)),
        cell_count_(static_cast<int>(longest / cell_length_) + 2) {
    for (const auto& own : choices_) {
      double least = kInfinity;
      for (const Choice& choice : own) least = std::min(least, choice.procs * choice.time);
      prices_.push_back(least);
    }
    find_prices();
  }

  /// No schedule of all jobs is shorter: `bound`, or better.
  double bound() const { return bound_; }

  /// False: the jobs of `rest` cannot end by `deadline` on processors that become free as the steps
  /// say, nor before `release`.  O(steps), once for a set O(choices of a job * thousands) more.
  bool can_meet_deadline(JobSet rest, const FreeStep* steps, int count, double deadline,
                         double release = 0) {
    const EarningsTable* const table = find_table(rest);
    if (!table) return true;
    double needed = 0, earned = 0;
    for (std::size_t j = 0; j < prices_.size(); ++j)
      if (rest >> j & 1) needed += prices_[j];
    for (const FreeStep* step = steps; step < steps + count; ++step)
      if (const int at = cell_at(deadline - std::max(release, step->time)); at >= 0)
        earned += step->procs * (*table)[at];
    return earned >= needed * (1 - kSums);
  }

  /// Steps of work since it was asked last.
  std::int64_t take_work() { return std::exchange(work_, 0); }

 private:
  static constexpr double kCells = 1000;      // in the bound
  static constexpr double kMostCells = 4000;  // in a window
  static constexpr std::size_t kMostTables =
      4096;  // at most 128 MB, 40 MB where schedules are good
  static constexpr int kWeighings = 300;
  static constexpr double kSums = 1e-9;  // relative, of prices and of times in cells

  using EarningsTable = std::vector<double>;

  // A job that the best pattern of the bound's length holds less of than the average gets dearer.
  void find_prices() {
    const int n = static_cast<int>(choices_.size());
    std::vector<double> best = prices_;
    for (int round = 1; round <= kWeighings; ++round) {
      std::vector<EarningsTable> tables{EarningsTable(cell_count_, 0.0)};
      for (int j = 0; j < n; ++j) {
        check_interrupt();
        tables.push_back(extend_table(tables.back(), j));
      }
      const double needed = std::accumulate(prices_.begin(), prices_.end(), 0.0) * (1 - kSums);
      int at = cell_at(bound_);
      if (machines_ * tables.back()[at] < needed) {
        while (at + 1 < cell_count_ && machines_ * tables.back()[at + 1] < needed) ++at;
        bound_ = std::max(bound_, (at + 1) * cell_length_ * (1 - kSums));
        best = prices_;
        at = std::min(at + 1, cell_count_ - 1);
      }
      const double mean = tables.back()[at] / needed;  // of the shares below, by price
      const double pace = 1 / std::sqrt(static_cast<double>(round));
      for (int j = n - 1; j >= 0; --j) {
        double share = 0;
        if (tables[j + 1][at] > tables[j][at])
          for (const Choice& choice : choices_[j]) {
            const int length = static_cast<int>(choice.time / cell_length_ * (1 - kSums));
            if (choice.time >= cell_count_ * cell_length_ || length > at ||
                tables[j][at - length] + prices_[j] / choice.procs < tables[j + 1][at])
              continue;
            share = 1.0 / choice.procs;
            at -= length;
            break;
          }
        prices_[j] *= std::exp(pace * (mean - share));
      }
    }
    prices_ = std::move(best);
  }

  // What a processor earns with one job more to choose from.
  EarningsTable extend_table(const EarningsTable& table, int job) {
    EarningsTable made = table;
    for (const Choice& choice : choices_[job]) {
      if (choice.time >= cell_count_ * cell_length_) continue;
      const int length = static_cast<int>(choice.time / cell_length_ * (1 - kSums));
      const double gain = prices_[job] / choice.procs;
      for (int k = length; k < cell_count_; ++k)
        made[k] = std::max(made[k], table[k - length] + gain);
      work_ += (cell_count_ - length) / 8 + 1;
    }
    return made;
  }

  const EarningsTable* find_table(JobSet jobs) {
    if (const auto known = tables_.find(jobs); known != tables_.end()) return &known->second;
    if (tables_.size() >= kMostTables) return nullptr;
    if (jobs == 0) return &tables_.emplace(jobs, EarningsTable(cell_count_, 0.0)).first->second;
    int job = 0;
    while (!(jobs >> job & 1)) ++job;
    const EarningsTable* const fewer = find_table(jobs & (jobs - 1));
    return fewer ? &tables_.emplace(jobs, extend_table(*fewer, job)).first->second : nullptr;
  }

  int cell_at(double seconds) const {
    return seconds < 0
               ? -1
               : std::min(cell_count_ - 1, static_cast<int>(seconds / cell_length_ + kSums));
  }

  std::vector<std::vector<Choice>> choices_;
  int machines_;
  double bound_, cell_length_;
  int cell_count_;
  std::vector<double> prices_;
  std::unordered_map<JobSet, EarningsTable> tables_;
  std::int64_t work_ = 0;
};

}  // namespace cosched::moldable::search

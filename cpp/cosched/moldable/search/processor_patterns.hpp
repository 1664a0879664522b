// What one processor can do in a window of time: a makespan bound for few jobs.
#pragma once

#include <unordered_map>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/processor_choice.hpp"
#include "cosched/moldable/model/instance.hpp"
#include "cosched/moldable/search/partial_schedule.hpp"

namespace cosched::moldable::search {

struct ProcessorPatternParams {
  /// Cells of time in the bound, and at most in the longest window.
  double cells = 1000, max_cells = 4000;
  /// Tables of earnings that are kept, one for each set of jobs: at most 128 MB, 40 MB where the
  /// incumbent is good.
  std::size_t max_tables = 4096;
  /// Rounds of multiplicative weights that find the prices.
  int price_rounds = 300;
};

/// Give each job a price l_j, and each of its processors the part l_j / q when it runs on q.  In a
/// window of length L one processor earns at most K_S(L) from the jobs S, a knapsack with one
/// choice of each job:
///   K_S(L) = max sum l_j / q_j  over subsets of S and counts with  sum t_j(q_j) <= L.
/// The jobs of S end by d only if the sum of K_S(d - free time) over the processors is not below
/// their prices together: this knows that a processor holds few whole jobs, and what parallel ones
/// cost.  With the least work as prices it is the area bound, but for losses at the ends.
///
/// Example: three jobs of 1 second on one processor each, two processors.  No area excludes an end
/// at 1.5, but one processor holds one job until 2, so the bound is 2.
///
/// The prices are nearly those of the covering LP of all processors by patterns, found by
/// multiplicative weights.  Times are rounded down to thousandths of the bound, so that K is a
/// table; that keeps the bound valid.
class ProcessorPatterns {
 public:
  /// `bound`: some positive lower bound on the makespan.  `longest`: no later deadline is asked
  /// for.
  ProcessorPatterns(std::vector<std::vector<Choice>> choices, int machines, double bound,
                    double longest, const ProcessorPatternParams& params = {});

  /// No schedule of all jobs is shorter: the bound of the constructor, or a better one.
  double bound() const { return bound_; }

  /// False proves that the jobs cannot all end by `deadline` on processors that become free in
  /// these steps, none of them before `release`.  O(steps), and once for each set of jobs
  /// O(choices of a job x cells).
  bool can_meet_deadline(JobSet jobs, std::span<const FreeStep> free_steps, double deadline,
                         double release = 0);

  /// Returns the steps of work since the last call, and sets them to 0.
  std::int64_t take_work();

 private:
  using EarningsTable = std::vector<double>;  // K_S of each window length, in cells

  void find_prices();
  void reprice(const std::vector<EarningsTable>& tables, int window, double needed, int round);
  EarningsTable extend_table(const EarningsTable& table, int job);
  const EarningsTable* find_table(JobSet jobs);
  int cell_at(double seconds) const;
  int cells_of(const Choice& choice) const;
  bool is_too_long(const Choice& choice) const;

  ProcessorPatternParams params_;
  std::vector<std::vector<Choice>> choices_;
  int machines_;
  double bound_, cell_length_;
  int cell_count_;
  std::vector<double> prices_;  // of each job
  std::unordered_map<JobSet, EarningsTable> tables_;
  std::int64_t work_ = 0;  // since the last take_work()
};

}  // namespace cosched::moldable::search

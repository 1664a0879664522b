// Prices of processor time: lower bounds on the minsum, and proofs that a deadline cannot be met.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/core/processor_choice.hpp"
#include "cosched/moldable/model/instance.hpp"
#include "cosched/moldable/search/partial_schedule.hpp"

namespace cosched::moldable::search {

struct TimePriceParams {
  /// Table entries (choices x cells) above which cells are not halved any more: 32 MB.
  std::int64_t max_table_entries = 4'000'000;
  /// The step of the subgradient ascent, as a part of Polyak's, at first and when it ends.
  double first_step = 1, last_step = 1e-3;
  /// The part of the last direction that the next one keeps.
  double momentum = 0.7;
  /// Sets of prices without gain after which the step is halved.
  int patience = 12;
  /// Polyak's target, as a multiple of the known cost, which itself would be met in the limit only.
  double target_factor = 1.002;
  /// The rate of the multiplicative weights on cells that prove a deadline infeasible.
  double weight_rate = 1.5;
};

/// A Lagrangian bound.  Processor time costs p(x) >= 0 a second at time x, and P(x) is the integral
/// of p from x on.  With processors that become free in steps s, every schedule of the jobs S has
///   sum w_j C_j  >=  sum_{j in S} min_{q, b} [w_j (b + t_j(q)) + q (P(b) - P(b + t_j(q)))]
///                    -  sum_s procs(s) P(time(s)),
/// because the jobs use no more of any moment than is free.  The start b of job j is not before its
/// release, nor before q processors are free.  Without weights, but with all ends by a deadline, no
/// schedule keeps the deadline where the right side is above 0.
///
/// p is constant in each of some hundred cells up to a horizon, and 0 after the last; the minimum
/// over b is that of a piecewise linear function, taken exactly.
class TimePrices {
 public:
  enum class JobCosts {
    weighted_completion,  // w_j (b + t); jobs may start after the horizon, where time is free
    deadline,             // jobs end by the horizon, and pay for the machine alone
  };

  /// `instance` and `choices`, those of fastest_choices(), must outlive it.
  TimePrices(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
             double horizon, int cells, JobCosts costs, const TimePriceParams& params = {});

  /// One price for each cell, of a processor second; there may be any number of cells.
  void set_prices(std::vector<double> prices);

  /// The right side above for all jobs on a free machine, rounded down; infinite where some job
  /// cannot keep the deadline.  O(choices x cells).
  double evaluate();

  /// Raises bound() by subgradient steps (Polyak 1969) in about `work` steps of work, and doubles
  /// the number of cells `doublings` times.  `known_cost` is sum w C of some schedule.
  void subgradient_ascent(double known_cost, std::int64_t work, int doublings);

  /// No schedule of all jobs costs less, at the best prices so far.
  double bound() const { return bound_; }

  /// Tries `rounds` sets of prices, by multiplicative weights on the cells: cells that the jobs
  /// would overload become dearer.  Returns true when one of them proves that no schedule keeps the
  /// deadline.
  bool prove_deadline_infeasible(int rounds);

  /// No schedule of these jobs on processors that become free in these steps has a lower sum w C.
  /// Starts are rounded to cells, but exact where that decides whether the bound is below `cutoff`.
  /// O(jobs x steps), and O(choices of the jobs) more where it is exact.
  double lower_bound(JobSet jobs, std::span<const FreeStep> free_steps, double cutoff);

  /// Returns the steps of work since the last call, and sets them to 0.
  std::int64_t take_work();

 private:
  struct CheapestStart {
    double cost, start;
    const Choice* choice;
  };
  // What a job costs at least: at a start anywhere in the cell, and in the next cell or later.
  struct CostInterval {
    double low, high;
  };

  double price_from(double time) const;
  double price_of_cell(int cell) const { return cell < cell_count_ ? prices_[cell] : 0; }
  double cost_of_start(double weight, const Choice& choice, double start) const;
  double next_bend(const Choice& choice, double start) const;
  double round_down(double sum, double price_of_free_time) const;
  std::int64_t work_per_round() const { return choice_count_ * cell_count_; }

  CheapestStart find_cheapest_start(int job) const;
  void add_cell_use(const CheapestStart& cheapest);
  void ascend_on_cells(double known_cost, std::int64_t work);
  bool step_along(double pace, std::vector<double>& direction);
  void update_price_sums();
  void tabulate_costs();
  CostInterval cost_interval(int job, std::span<const FreeStep> free_steps) const;
  double exact_job_cost(int job, const FreeStep* step);

  const Instance& instance_;
  const std::vector<std::vector<Choice>>& choices_;
  TimePriceParams params_;
  bool has_deadline_;
  double horizon_ = 0, cell_length_ = 0;  // seconds
  int cell_count_ = 0;
  std::int64_t choice_count_ = 0;  // of all jobs
  std::int64_t work_ = 0;          // since the last take_work()
  double bound_ = 0;
  std::vector<double> prices_;           // of each cell, for a processor second
  std::vector<double> price_from_cell_;  // P at the start of each cell; 0 beyond the horizon
  std::vector<double> cell_use_;         // of each cell, processor seconds at the cheapest starts
  // Filled by tabulate_costs(), of each job: how many of its choices fit on so many processors, and
  // for each number of choices and each cell the least cost of a start in that cell or later.
  std::vector<std::vector<int>> choices_within_;
  std::vector<std::vector<double>> least_cost_;
  Poll poll_;
};

}  // namespace cosched::moldable::search

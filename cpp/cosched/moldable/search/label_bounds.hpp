// Lower bounds on every schedule that begins with a partial schedule.
#pragma once

#include "cosched/moldable/model/incumbent.hpp"
#include "cosched/moldable/search/partial_schedule.hpp"
#include "cosched/moldable/search/processor_patterns.hpp"
#include "cosched/moldable/search/time_prices.hpp"
#include "cosched/moldable/search/work_budget.hpp"

namespace cosched::moldable::search {

struct LabelBoundParams {
  /// The makespan bound of "jobs that are wide, at most k at a time" is taken for k up to this.
  int max_width = 3;
  /// Halvings of the interval between bound and incumbent by processor patterns.
  int pattern_halvings = 4;
  /// More machines have too many counts for prices of time.
  int max_priced_machines = 1 << 16;
  /// Cells of the time prices before their first doubling, doublings, and steps of work at most.
  int first_price_cells = 32;
  int price_doublings = 3;
  std::int64_t price_work = 20'000'000;
};

/// For the makespan the greatest of: the area of the remaining jobs from the free times on, for
/// each release date, each job with the least work that ends before the incumbent; the earliest
/// ends of single jobs; jobs so wide that at most k of them run at a time; and, once
/// enable_strong_bounds() was called, what one processor can do in its window
/// (processor_patterns.hpp).
///
/// For the minsum the greatest of: each job at its earliest end; the jobs in Smith's order on a
/// fluid machine whose free area is linear and nowhere below the real one; and, once
/// enable_strong_bounds() was called, prices of time (time_prices.hpp).
class LabelBounds {
 public:
  /// All references must outlive it.  `choices` are those of fastest_choices().
  LabelBounds(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
              Objective objective, const Incumbent& incumbent, WorkBudget& budget,
              const LabelBoundParams& params = {});

  /// From now on lower_bound() also takes the bounds that cost more.  Takes a lower bound on all
  /// schedules and returns that or a better one.
  double enable_strong_bounds(double proved_bound);

  /// No schedule that begins with `partial` has a lower value; infinite where none is better than
  /// the incumbent.  `known_bound` is a lower bound that the caller has already.
  double lower_bound(const PartialSchedule& partial, double known_bound);

 private:
  // The best that a job can do after a partial schedule.
  struct BestCase {
    int job;
    double end;   // the earliest one
    double work;  // the least that ends before the incumbent's makespan; infinite: none does
    int procs;    // the fewest that do
  };
  // The jobs that are released at `release` or later.
  struct ReleasedJobs {
    double release;
    JobSet jobs;
  };

  void order_by_density();
  void collect_releases();

  BestCase find_best_case(const PartialSchedule& partial, int job) const;
  double area_completion(const PartialSchedule& partial, double from, double area) const;

  double bound_makespan(const PartialSchedule& partial);
  double bound_by_release(const PartialSchedule& partial);
  double bound_by_width(const PartialSchedule& partial) const;
  double bound_by_patterns(const PartialSchedule& partial, double proved_bound);
  bool can_patterns_fit(const PartialSchedule& partial, double deadline);
  double bound_minsum(const PartialSchedule& partial) const;

  const Instance& instance_;
  const std::vector<std::vector<Choice>>& choices_;
  bool minimizes_makespan_;
  const Incumbent& incumbent_;
  WorkBudget& budget_;
  LabelBoundParams params_;
  std::vector<int> by_density_;      // all jobs in Smith's order: increasing least work / weight
  std::vector<double> least_work_;   // of each job
  std::vector<bool> work_monotone_;  // of each job: its work rises with its count
  std::vector<ReleasedJobs> released_jobs_;  // by increasing release, from 0 on
  std::optional<ProcessorPatterns> patterns_;
  bool patterns_help_ = false;  // they prove more than the bound that they were made for
  std::optional<TimePrices> prices_;
  std::vector<BestCase> best_cases_;  // of the jobs that wait in the present partial schedule
};

}  // namespace cosched::moldable::search

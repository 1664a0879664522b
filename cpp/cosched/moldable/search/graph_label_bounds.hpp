// Lower bounds on every schedule of jobs with precedence and resources that begins with a partial
// schedule.
#pragma once

#include "cosched/moldable/search/fastest_choices.hpp"
#include "cosched/moldable/search/graph_jobs.hpp"
#include "cosched/moldable/search/label_bounds.hpp"

namespace cosched::moldable::search {

/// The first jobs of a schedule, in the order of their starts, and what they leave free.
///
/// `rows` holds `row_count` rows of 1 + measures() numbers: a time, and how much of each measure is
/// free from then on, if no other job starts.  The first time is the last start so far, before
/// which no other job starts; amounts never fall from one row to the next, and in the last row
/// everything is free.
struct GraphPartialSchedule {
  JobSet started_jobs;
  double started_cost;  // sum w C of the jobs that have started (minsum)
  const double* rows;
  int row_count;
  // Of each job: its release, or the last end of its predecessors that have started.
  const double* ready_times;
};

struct GraphLabelBoundParams {
  /// The makespan bound of "jobs that need much, at most k at a time" is taken for k up to this.
  int max_width = 3;
};

/// The greatest of several bounds.
///
/// Both criteria: each job at its earliest end, after the earliest ends of its predecessors; and
/// the bounds of a relaxed instance of independent jobs on processors alone (label_bounds.hpp),
/// whose release dates are the heads, the longest paths to each job.
///
/// Makespan: for each measure and all h, t, the jobs with a head of at least h and a tail of at
/// least t, whose amounts have to fit between h and the makespan less t; and jobs that need so much
/// that at most k of them run at a time.
///
/// Minsum: for each measure the preemptive Smith order of the jobs on what is free, by mean busy
/// times: a job ends half its running time after its mean busy time (Goemans 1997; Eastman, Even
/// and Isaacs 1964).
///
/// Measures that were added to the real ones know more than each of these alone: a choice that
/// saves processors needs another resource longer, and few sets of jobs fill the machine.
class GraphLabelBounds {
 public:
  /// All references must outlive it.
  GraphLabelBounds(const GraphJobs& jobs, Objective objective, const Incumbent& incumbent,
                   WorkBudget& budget, const GraphLabelBoundParams& params = {});

  /// From now on lower_bound() also takes the bounds of the relaxed instance that cost more.  Takes
  /// a lower bound on all schedules and returns that or a better one.
  double enable_strong_bounds(double proved_bound) {
    return std::max(proved_bound, relaxed_bounds_.enable_strong_bounds(proved_bound));
  }

  /// No schedule that begins with `partial` has a lower value; infinite where none is better than
  /// the incumbent.  `known_bound` is a lower bound that the caller has already.
  double lower_bound(const GraphPartialSchedule& partial, double known_bound);

 private:
  bool has_started(const GraphPartialSchedule& partial, int job) const {
    return contains(partial.started_jobs, job);
  }
  double row_time(const GraphPartialSchedule& partial, int row) const {
    return partial.rows[static_cast<std::size_t>(row) * stride_];
  }

  // Without precedence and resources.  Counts that do not fit on the idle machine are left out.
  static Instance make_relaxed_instance(const GraphJobs& jobs);

  void spend_budget(const GraphPartialSchedule& partial) {
    const auto choices = static_cast<std::int64_t>(choice_ends_.size());
    const int started = set_size(partial.started_jobs), waiting = jobs_.jobs() - started;
    budget_.spend(choices * waiting / jobs_.jobs() +
                  static_cast<std::int64_t>(waiting) * waiting * measures_ / 4 + partial.row_count);
  }

  // Finds the earliest start and end of each waiting job on what is free, after its predecessors,
  // and the end of each of its choices, infinite where that cannot beat the incumbent.  Returns
  // false where some job has no such choice.
  bool find_earliest_ends(const GraphPartialSchedule& partial);

  double sum_of_earliest_ends(const GraphPartialSchedule& partial) const {
    double sum = partial.started_cost;
    for (const int job : waiting_jobs_) sum += jobs_.instance().weight(job) * earliest_ends_[job];
    return sum;
  }

  // Finds the least amount of each measure, the least need and the least time of each waiting job,
  // over the choices that may beat the incumbent.
  void find_least_amounts(const GraphPartialSchedule& partial);

  // Where a resource seems to be used up, a job whose need is of the order of the rounding errors
  // still runs: it must not have to wait.
  double free_amount(const GraphPartialSchedule& partial, int row, int measure) const {
    const double free = partial.rows[static_cast<std::size_t>(row) * stride_ + 1 + measure];
    constexpr double kNearlyNothing = 1e-6;
    return measure > 0 && free < kNearlyNothing ? free + kExactTolerance : free;
  }
  double least_amount(int job, int measure) const {
    return least_amounts_[static_cast<std::size_t>(job) * measures_ + measure];
  }

  // The time by which what is free of a measure adds up to an amount, counted from `from` on.
  double amount_completion(const GraphPartialSchedule& partial, int measure, double from,
                           double amount) const;

  double bound_makespan(const GraphPartialSchedule& partial);

  // For every head h and tail t of a job: the amounts of the jobs with at least these have to fit
  // between h and the makespan less t.
  double bound_by_windows(const GraphPartialSchedule& partial, int measure) const;

  // At most k jobs that each need more than a part 1 / (k + 1) of a measure run at a time.
  double bound_by_width(int measure) const;

  double bound_minsum(const GraphPartialSchedule& partial) {
    double bound = sum_of_earliest_ends(partial);
    for (int measure = 0; measure < measures_ && !incumbent_.can_prune(bound); ++measure)
      bound = std::max(bound, bound_by_mean_busy_times(partial, measure));
    return bound;
  }

  // At any time all that is free of the measure goes to the waiting job of greatest weight per
  // amount whose head has passed: no other way to spend it makes the sum of the weighted mean busy
  // times less.
  double bound_by_mean_busy_times(const GraphPartialSchedule& partial, int measure);

  void find_processor_steps(const GraphPartialSchedule& partial);

  // What remains of the amount of a job.
  struct Portion {
    int job;
    double amount, density;
  };

  const GraphJobs& jobs_;
  bool minimizes_makespan_;
  const Incumbent& incumbent_;
  WorkBudget& budget_;
  GraphLabelBoundParams params_;
  int measures_, stride_;  // a row has stride_ numbers
  const Instance relaxed_instance_;
  const std::vector<std::vector<Choice>> relaxed_choices_;
  LabelBounds relaxed_bounds_;

  // Of the present partial schedule.
  std::vector<int> waiting_jobs_;
  std::vector<double> heads_, earliest_ends_, least_times_;  // of each job
  std::vector<double> choice_ends_;
  std::vector<double> least_amounts_, least_needs_;  // of each job and measure
  std::vector<Portion> by_density_;
  std::vector<FreeStep> free_steps_;
};

}  // namespace cosched::moldable::search

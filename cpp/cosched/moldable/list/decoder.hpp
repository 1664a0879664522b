// Schedules of jobs that share the machine: lists, decoded event by event.
#pragma once

#include "cosched/core/processor_choice.hpp"
#include "cosched/moldable/list/schedule_builder.hpp"

namespace cosched::moldable::list {

/// The counts of job i that may be useful where jobs share something, by increasing processors
/// (choices() of core/sharing.hpp).
std::vector<Choice> fitting_counts(const Instance& instance, int i);
/// For each job the largest count up to its own on which it fits.
Allotment fitting_allotment(const Instance& instance, const Allotment& procs);

/// At 0, at each release and at each end the waiting jobs start, in `order`, that fit beside the
/// running jobs and are not banned.  Job i is banned beside j where 1/s_ij + 1/s_ji < theta, s
/// being the slow-downs of these two alone.  theta 0 bans nothing; theta 1 bans pairs that take
/// longer side by side than one after the other.  A list without bans is not enough: it can be
/// better to wait beside idle processors.
///
/// With `prices`, one for each job, the rule is another: a job starts beside others where that
/// raises the worth of the running jobs, the sum of price / (t_i f_i).
struct JobList {
  std::vector<int> order;
  Allotment procs;
  double theta = 0;
  std::vector<double> prices = {};
};

/// The thresholds of bans that searches try.
inline constexpr double kThetas[] = {0, 1, 1.2, 1.5, 1.8};

/// Decodes lists into schedules.  Keeps its memory between calls.
class Decoder {
 public:
  /// `instance` must outlive it, and share something.
  explicit Decoder(const Instance& instance);

  /// Requires counts on which each job fits.  O(n^2 k) for sets of k.
  Placement decode(const JobList& list);

  /// At each event takes, again and again, the step that adds most worth per processor: a waiting
  /// job on a count, or a larger count of a job that starts now.  O(n c k^2) a step.
  Placement decode_greedily(const std::vector<double>& prices);

  /// The counts of job i that may be useful.
  const std::vector<Choice>& counts(int i) const { return counts_[i]; }
  /// The largest of these up to q, or the smallest one.
  int nearest_count(int i, int q) const;
  /// nearest_count() of each job.
  Allotment fitting_allotment(Allotment procs) const;

  std::int64_t operations() const { return operations_; }

 private:
  bool can_start(const RunningTask& run, const JobList& list) const;
  double total_worth(const std::vector<RunningTask>& set, const std::vector<double>& prices) const;
  // A run for this place of the set of running jobs, and the worth that it adds; a run of no
  // processors: no step adds any.
  struct GreedyStep {
    RunningTask run;
    std::size_t place = 0;
    double gain = 0;
  };
  GreedyStep find_best_step(const std::vector<RunningTask>& set, std::size_t committed,
                            double value, const std::vector<char>& is_waiting,
                            const std::vector<double>& prices);

  const Instance& instance_;
  const Sharing& sharing_;
  std::vector<std::vector<Choice>> counts_;
  ScheduleBuilder builder_;
  std::vector<int> waiting_jobs_;
  std::int64_t operations_ = 0;
};

/// The jobs of a schedule by their starts, on the largest counts up to its own on which they fit.
JobList to_list(const Decoder& decoder, const Placement& placement);

/// What a schedule that ignores slow-downs and resources becomes: each job starts when the jobs
/// before it on its processors have ended and it fits.
Placement replay(const Instance& instance, const Placement& placement);

/// The greatest start + t_i f_i, f_i being the greatest factor that job i meets: the makespan that
/// a planner who knows constant factors alone can guarantee.
double makespan_if_constant(const Instance& instance, const Placement& placement);

}  // namespace cosched::moldable::list

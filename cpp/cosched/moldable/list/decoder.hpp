// Plans without packs for jobs that share the machine: lists, decoded event by event.
#pragma once

#include "cosched/core/processor_choice.hpp"
#include "cosched/core/running_set.hpp"
#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::list {

/// The counts of job i that are worth a look where jobs share something, by increasing processors.
std::vector<Choice> fitting_counts(const Instance& instance, int i);
/// Of an allotment the most processors up to its own on which each job fits.
Allotment fitting_allotment(const Instance& instance, const Allotment& procs);

/// At 0, at each release and at each end the first waiting jobs of `order` start that fit beside
/// what runs and are not banned: job i beside j where 1/s_ij + 1/s_ji < theta, s the slow-downs of
/// the two alone together.  theta 0: no bans; 1: none that takes longer side by side than one after
/// the other.  A greedy without bans is not enough: waiting beside idle processors pays.
///
/// With `prices`, a value of each job, the rule is another: a job starts beside others where that
/// raises the worth of what runs, the sum of price / (t_i f_i).
struct JobList {
  std::vector<int> order;
  Allotment procs;
  double theta = 0;
  std::vector<double> prices;
};

/// The values of theta that searches try.
inline constexpr double kThetas[] = {0, 1, 1.2, 1.5, 1.8};

/// A schedule in the making: who runs, and what that leaves.  Keeps its memory between schedules.
class ScheduleBuilder {
 public:
  /// `instance` must outlive it, and share something.
  explicit ScheduleBuilder(const Instance& instance)
      : instance_(instance), running_(instance.sharing()) {
    reset();
  }

  void reset();

  double current_time() const { return current_time_; }
  int free_procs() const { return free_procs_; }
  const std::vector<Run>& running_jobs() const { return running_.set(); }
  const Placement& placement() const { return placement_; }

  Run make_run(int job, int procs) const { return {job, procs, instance_.exact_time(job, procs)}; }
  /// Whether its processors are free, and what it needs.
  bool has_room_for(const Run& run) const;
  void start(const Run& run);
  /// To the next end, or to `release` where that is sooner.  Those that ended.
  const std::vector<Running::Ended>& advance(double release = kInfinity);

 private:
  const Instance& instance_;
  Running running_;
  double current_time_ = 0;
  int free_procs_ = 0;
  Placement placement_;
};

/// Keeps its memory between calls.
class Decoder {
 public:
  /// `instance` must outlive it, and share something.
  explicit Decoder(const Instance& instance);

  /// Requires counts on which each job fits.  O(n^2 k) for sets of k.
  Placement decode(const JobList& list);

  /// At each event, from what may start the step that adds most worth a processor: a job on a
  /// count, or a larger count of one that starts now.  O(n c k^2) a step.
  Placement decode_greedily(const std::vector<double>& prices);

  /// The counts of job i that are worth a look.
  const std::vector<Choice>& counts(int i) const { return counts_[i]; }
  /// The most of these up to q, or the fewest.
  int nearest_count(int i, int q) const;
  /// Of an allotment, nearest() of each.
  Allotment fitting_allotment(Allotment procs) const;

  std::int64_t operations() const { return operations_; }

 private:
  bool can_start(const Run& run, const JobList& list) const;
  double total_worth(const std::vector<Run>& set, const std::vector<double>& prices) const;
  // A run in this place of a set, and what it gains; of no processors: nothing does.
  struct GreedyStep {
    Run run;
    std::size_t place = 0;
    double gain = 0;
  };
  GreedyStep find_best_step(const std::vector<Run>& set, std::size_t committed, double value,
                            const std::vector<char>& waits, const std::vector<double>& prices);

  const Instance& instance_;
  const Sharing& sharing_;
  std::vector<std::vector<Choice>> counts_;
  ScheduleBuilder builder_;
  std::vector<int> waiting_jobs_;
  std::int64_t operations_ = 0;
};

/// A schedule's jobs in the order of their starts, with its counts, where these fit.
JobList to_list(const Decoder& decoder, const Placement& placement);

/// A schedule made as if nothing were slow: each job starts when those before it on its processors
/// have ended, and it fits.
Placement replay(const Instance& instance, const Placement& placement);

/// The greatest start + t_i f_i, f_i the greatest factor that job i meets: what law-abiding plans
/// promise that know constant factors alone.
double makespan_if_constant(const Instance& instance, const Placement& placement);

}  // namespace cosched::moldable::list

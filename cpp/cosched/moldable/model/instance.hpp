// Moldable jobs on one parallel machine (Dutot, Eyraud, Mounie, Trystram 2004, section 2): each of
// n independent jobs is given some of m identical processors when it starts, and keeps them.
//
// Notation = code: n = jobs(), m = machines(), t_i(q) = time(i, q), w_i = weight(i),
// r_i = release(i), gamma_i(d) = gamma(i, d), S_i(d) = least_area(i, d).  t_i(q) is the least time
// on at most q processors, so property (1) always holds; place() gives a job the count that attains
// it.
//
// What codes share (core/sharing.hpp) is part of an instance where it is given: what runs together
// must fit, and ends by the progressive law.  So is precedence: a job starts when those before it
// have ended.  An algorithm solves what the instance states, or refuses it; bounds of the instance
// that as_independent_jobs() gives hold, too.
#pragma once

#include "cosched/core/sharing.hpp"
#include "cosched/core/task_graph.hpp"
#include "cosched/core/times.hpp"

namespace cosched::moldable {

/// Downey's speed-up S(q) with average parallelism A and variance sigma (A model for speedup of
/// parallel programs, 1997): t(q) = alone / S(q).  It has properties (1) and (2).
struct Downey {
  double sequential_time;  // t(1), seconds
  double parallelism;      // A >= 1
  double variance;         // sigma >= 0

  double time(int q) const { return sequential_time / speedup(q); }
  double speedup(int q) const;
};

/// Solvers keep arrays of one entry a processor.
inline constexpr int kMostMachines = 1'000'000;

/// Immutable.  Invariants: n >= 1; 1 <= m <= kMostMachines; times as core Times has them; weights
/// and releases >= 0 and finite; sum_i w_i times the length of any sensible schedule is a finite
/// double, so that no solver can overflow.  Property (2) is not an invariant: see
/// has_monotone_work().
class Instance {
 public:
  /// Profiles as a table: as measured for q up to its columns, constant beyond; columns above
  /// `machines` are dropped.  No releases = all 0; no `machines` = the columns of the table.
  /// Throws InvalidInstance that names the first bad entry.  O(n columns).
  Instance(const Times& times, std::vector<double> weights, std::vector<double> release = {},
           std::optional<int> machines = std::nullopt);

  /// Profiles as formulas: memory O(n) whatever m is.
  Instance(std::vector<Downey> profiles, std::vector<double> weights, std::vector<double> release,
           int machines);

  int jobs() const { return static_cast<int>(weights_.size()); }
  int machines() const { return machines_; }
  double weight(int i) const { return weights_[i]; }
  double release(int i) const { return releases_[i]; }
  const std::vector<double>& weights() const { return weights_; }
  const std::vector<double>& releases() const { return releases_; }
  bool has_releases() const { return has_releases_; }

  /// What solvers read of a profile: t_i(q), 1 <= q <= m.
  double time(int i, int q) const {
    return times_ ? times_->row(i)[std::min(q, columns_) - 1] : profiles_[i].time(q);
  }
  double work(int i, int q) const { return q * time(i, q); }

  /// The time on exactly q processors, as measured; infinite where job i cannot run on q.
  double exact_time(int i, int q) const {
    return times_ ? times_->measured_time(i, std::min(q, columns_)) : profiles_[i].time(q);
  }

  /// The count that attains t_i(q): q itself where no fewer processors are faster.
  int used_procs(int i, int q) const {
    if (!times_) return q;
    const int attaining = times_->used(i, std::min(q, columns_));
    return attaining == columns_ ? q : attaining;
  }

  /// The fewest processors on which job i can run.
  int fewest_procs(int i) const { return times_ ? times_->fewest(i) : 1; }

  /// Null for profiles that are formulas, and the other way round.
  const Times* table() const { return times_ ? &*times_ : nullptr; }
  const std::vector<Downey>& profiles() const { return profiles_; }

  /// Counts above this one change nothing: the columns of the table, m for formulas.
  int useful_machines() const { return columns_; }

  /// Least q with t_i(q) <= d, 0 where there is none; used_procs(i, q) = q.  O(log m).
  int gamma(int i, double d) const;

  /// The q' >= q of least work q' t_i(q'), the lowest such q', for q <= useful_machines(): q itself
  /// with property (2).
  int cheapest_procs_from(int i, int q) const {
    return has_monotone_work() ? q
                               : cheapest_procs_[static_cast<std::size_t>(i) * columns_ + q - 1];
  }

  /// cheapest_procs_from(gamma_i(d)), 0 where there is none: the count of least work that ends in
  /// time d; used_procs(i, q) = q.  O(log m).
  int cheapest_procs(int i, double d) const;

  /// The least q' > q with t_i(q') < t_i(q), 0 where there is none.  O(log m).
  int next_faster_procs(int i, int q) const;

  /// S_i(d): the work at cheapest_procs(i, d), infinite where there is none.
  double least_area(int i, double d) const;

  /// min_q t_i(q).
  double least_time(int i) const { return time(i, columns_); }

  /// min_q q t_i(q).
  double least_work(int i) const { return least_area(i, kNoDeadline); }

  /// Property (2) of all profiles: q t_i(q) never falls with q, and every job can run on one
  /// processor.  Up to kMonotoneTolerance; decided at construction.
  bool has_monotone_work() const { return cheapest_procs_.empty(); }

  /// Null where jobs share nothing.
  const Sharing* sharing() const { return sharing_.get(); }
  /// The same jobs with what they share; throws InvalidInstance where it is of others, or a job
  /// fits on no count.
  Instance with_sharing(std::shared_ptr<const Sharing> sharing) const;
  /// Null where no job has a predecessor.
  const TaskGraph* graph() const { return graph_.get(); }
  /// The same jobs with precedence; throws InvalidInstance where it is of another number of jobs.
  Instance with_precedence(std::shared_ptr<const TaskGraph> graph) const;
  /// The same jobs without sharing and without precedence.
  Instance as_independent_jobs() const { return with_sharing(nullptr).with_precedence(nullptr); }
  /// Whether the instance has neither sharing nor precedence.
  bool has_independent_jobs() const { return sharing_ == nullptr && graph_ == nullptr; }

  /// Throws InvalidInstance where a job has a release date: `algorithm` is off-line.
  void require_no_releases(const char* algorithm) const;
  /// Throws InvalidInstance where a job waits for another: `algorithm` knows no precedence.
  void require_no_edges(const char* algorithm) const;

  /// The given jobs, in that order, all with release 0 and without precedence: what an on-line
  /// batch schedules.
  Instance select(const std::vector<int>& jobs) const;

 private:
  /// The least q > low with t_i(q) <= d, 0 where there is none.  Requires t_i(low) > d.
  int fewest_procs_above(int i, int low, double d) const;
  static constexpr double kNoDeadline = 1.7976931348623157e308;
  Instance(std::optional<Times> times, std::vector<Downey> profiles, std::vector<double> weights,
           std::vector<double> release, int machines);
  void require_valid() const;
  Instance select_independent(const std::vector<int>& chosen) const;
  void fill_cheapest_procs();

  std::optional<Times> times_;
  std::vector<Downey> profiles_;
  std::vector<double> weights_, releases_;
  int machines_;
  int columns_;
  bool has_releases_ = false;
  std::shared_ptr<const Sharing> sharing_;
  std::shared_ptr<const TaskGraph> graph_;
  std::vector<int>
      cheapest_procs_;  // n x columns: the q' >= q of least work; empty with property (2)
};

}  // namespace cosched::moldable

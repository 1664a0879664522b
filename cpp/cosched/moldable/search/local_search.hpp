// local-search: the best schedule for one criterion of what the instance states.  Release dates are
// known in advance.
#pragma once

#include "cosched/moldable/search/search_state.hpp"

namespace cosched::moldable::search {

/// Up to so many jobs a proof of optimality is tried.
inline constexpr int kExactJobs = 12;

/// Effort by default: operations of anneal() (annealing.hpp) a job.
inline constexpr std::int64_t kSearchWork = 1'500'000;

struct SearchOptions {
  Objective objective = Objective::makespan;
  std::uint64_t seed = 0;
  std::int64_t work = kSearchWork;
  std::optional<double> time_limit;  // seconds; the result then depends on the machine's speed
  std::vector<Placement> starts;     // schedules of the caller's, valid for the instance
  bool proof = true;                 // few jobs: prove() follows
};

struct SearchResult {
  Placement placement;
  bool is_complete = true;  // false: a time limit ended the search
  bool is_proved = false;   // nothing is better: it meets a bound, or prove() says so
  double bound = 0;         // no schedule is shorter; 0: nothing is said
};

/// Operations a job, of all jobs.  Throws InvalidInstance when work < 0.
std::int64_t total_work(const Instance& instance, std::int64_t work);

/// With edges it is graph_search (graph_search.hpp), where jobs share something shared_search
/// (shared_search.hpp), else as follows.
///
/// Never worse in its criterion than the caller's starts, gang and sequential, whatever the limit;
/// nor than the first schedules (starts.hpp), where these were not ended: they may take half a
/// second whatever the limit.
///
/// Then rounds of annealing (annealing.hpp) from the best so far, each four times as long as the
/// one before, so that more work or time is never worse; above the default a round is several
/// annealings, in threads.  A round that does not fit into the work is not begun.  Ends when it
/// meets a bound: the dual approximation's for the makespan, sum w_i (r_i + min t_i) for minsum.
/// Up to kExactJobs jobs prove() follows, with as much work; up to kMostProvedJobs where there is
/// more work than the default, with half of it.  A time limit allows the same steps in the same
/// order as work does, and more of them (rounds.hpp).  The result depends on instance, starts, seed
/// and work only, but for a time limit.  Throws InvalidInstance when work < 0.
SearchResult local_search(const Instance& instance, const SearchOptions& options);

/// Round by round, for who has something to do between them.
class SearchRounds {
 public:
  virtual ~SearchRounds() = default;
  /// Schedules before the first round.  May be left by an exception of check_interrupt().
  virtual void offer_first_schedules() = 0;
  /// The round of this number, of `work` operations a job; whether there is more to do.  May be
  /// left by an exception of check_interrupt().
  virtual bool run_round(std::int64_t work, int number) = 0;
  virtual const Placement& best() const = 0;
  /// Whether nothing is better, as a bound says.
  virtual bool is_proved() const { return false; }
};

/// For jobs that share nothing and wait for nobody, without a proof.
class IndependentJobsSearch : public SearchRounds {
 public:
  /// `instance` must outlive it.
  IndependentJobsSearch(const Instance& instance, const SearchOptions& options);
  void offer_first_schedules() override;
  bool run_round(std::int64_t work, int number) override;
  const Placement& best() const override { return incumbent_.placement(); }
  bool is_proved() const override { return incumbent_.value() <= target_value_; }
  /// False: a time limit ended the first schedules.
  bool has_first_schedules() const { return has_first_schedules_; }

 private:
  const Instance& instance_;
  SearchOptions options_;
  Incumbent incumbent_;
  std::uint64_t next_seed_ = options_.seed;
  double bound_ = 0, target_value_ = 0;
  bool has_first_schedules_ = true;
};

}  // namespace cosched::moldable::search

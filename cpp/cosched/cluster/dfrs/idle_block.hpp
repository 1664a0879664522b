// Some idle jobs of one shape, in columns.
#pragma once

#include <algorithm>
#include <vector>

#include "cosched/cluster/dfrs/prioritised_job.hpp"
#include "cosched/cluster/dfrs/priority_bound.hpp"
#include "cosched/core/assert.hpp"

namespace cosched::cluster::dfrs {

/// Up to kMaxJobs jobs.  Their priorities are computed all at once, a multiplication for each.  The
/// bodies below are measured hot: jobs come and go by the million.
class IdleBlock {
 public:
  static constexpr int kMaxJobs = 32;

  IdleBlock();

  int job_count() const { return job_count_; }
  int rank(int position) const { return rank_[position]; }

  /// The job gets position job_count().  Returns the bound of the block, which was `bound` before,
  /// raised over the job's priority.  Requires fewer than kMaxJobs jobs.
  PriorityBound add(int rank, double submit, double virtual_time, PriorityBound bound) {
    COSCHED_ASSERT(job_count() < kMaxJobs);
    const double square = virtual_time * virtual_time;
    const double inverse = virtual_time > 0 ? 1 / square : 1;
    const double origin = virtual_time > 0 ? submit : -kInfinity;
    if (job_count_ == 0)
      bound = {.computed_at = submit, .greatest_priority = 0, .greatest_rate = 0};
    bound.greatest_priority =
        std::max(bound.greatest_priority, (bound.computed_at - origin) * inverse);
    bound.greatest_rate = std::max(bound.greatest_rate, inverse);
    rank_[job_count_] = rank;
    origin_[job_count_] = origin;
    square_[job_count_] = square;
    inverse_[job_count_] = inverse;
    ++job_count_;
    return bound;
  }

  /// The last job gets the position of the removed one.
  void remove(int position) {
    --job_count_;
    copy_job(*this, job_count_, position);
    origin_[job_count_] = kInfinity;
    inverse_[job_count_] = PriorityBound::kTiny;
  }

  /// The last job of another block gets position job_count().
  void take_last_job(IdleBlock& other) {
    const int last_position = other.job_count_ - 1;
    copy_job(other, last_position, job_count_);
    ++job_count_;
    other.remove(last_position);
  }

  /// The bound that is attained at `now`.  O(kMaxJobs).
  PriorityBound compute_bound(double now) const;

  /// Appends the jobs of this block with priority >= min_priority that are served after
  /// `predecessor`, in no particular order.  O(kMaxJobs).
  void append_jobs(double now, double min_priority, const PrioritisedJob& predecessor, int shape,
                   std::vector<PrioritisedJob>& jobs) const;

 private:
  void copy_job(const IdleBlock& source, int from, int to) {
    rank_[to] = source.rank_[from];
    origin_[to] = source.origin_[from];
    square_[to] = source.square_[from];
    inverse_[to] = source.inverse_[from];
  }

  // Priority = (now - origin) / square; origin = -infinity at zero virtual time.  Behind the last
  // job, origin = infinity.
  double origin_[kMaxJobs];
  double square_[kMaxJobs];
  double inverse_[kMaxJobs];  // of the square, but 1 at zero; nearly 0 behind the last job
  int rank_[kMaxJobs];
  int job_count_ = 0;
};

}  // namespace cosched::cluster::dfrs

// Running jobs in the batches after which select/cons_tres tests a job again (RULES.md 5.6):
// `_will_run_test` of job_test.c.
#pragma once

#include "cosched/slurm/select/running_by_end.hpp"

namespace cosched::slurm {

/// Running jobs by their expected ends, in batches.  The functions are inline: each will-run test
/// goes through many jobs.
class EndBatches {
 public:
  struct Options {
    Second epoch = 0;             // Unix time of second 0
    int window_linear = 0;        // bf_window_linear
    Second from = -kNever;        // jobs that end before this time have ended already
    Second later_start = kNever;  // jobs that end after this time do not end
  };
  /// Only jobs with a node in `avail_nodes` count.  Requires that both outlive the batches.
  EndBatches(const RunningByEnd& running, const NodeBits& avail_nodes, const Options& options)
      : running_(running), avail_nodes_(avail_nodes), options_(options) {
    while (next_job_ < running_.size() && running_[next_job_].expected_end < options.from)
      ++next_job_;
    ended_count_ = next_job_;
    scanned_count_ = ended_count_ / 64 * 64;
  }

  bool has_ended_jobs() const { return ended_count_ > 0; }
  /// Calls on_end(running_job) for the jobs that have ended already.
  template <class OnEnd>
  void for_each_ended(OnEnd on_end) const {
    for (std::size_t k = 0; k < ended_count_; ++k)
      if (running_[k].nodes->intersects(avail_nodes_)) on_end(running_[k]);
  }

  /// Calls on_end(running_job) for each job of the next batch; returns the last of them, or -1:
  /// there is none.
  template <class OnEnd>
  int next_batch(OnEnd on_end);

 private:
  bool find_next_job();
  bool is_next_outside_window() const {
    return next_job_ < running_.size() &&
           running_[next_job_].expected_end > first_batch_end_ + time_window_;
  }

  const RunningByEnd& running_;
  const NodeBits& avail_nodes_;
  const Options options_;
  std::size_t next_job_ = 0;
  std::size_t ended_count_ = 0;
  // Running jobs before this index are scanned; those of the last 64 that have a node in
  // avail_nodes_ are the bits of matching_jobs_.
  std::size_t scanned_count_ = 0;
  std::uint64_t matching_jobs_ = 0;
  Second time_window_ = 30;
  Second first_batch_end_ = kNever;  // the first job's end, rounded up to the time window
};

template <class OnEnd>
int EndBatches::next_batch(OnEnd on_end) {
  constexpr int kMaxRemovedJobs = 200;  // rm_job_cnt++ > 200 in cons_tres: 202 jobs at most
  int last_job = -1;
  int removed_count = 0;
  while (find_next_job()) {
    const RunningByEnd::RunningJob& ending = running_[next_job_];
    ++next_job_;
    if (first_batch_end_ == kNever)
      first_batch_end_ = ending.expected_end + time_window_ -
                         (options_.epoch + ending.expected_end) % time_window_;
    last_job = ending.job;
    on_end(ending);
    if (is_next_outside_window()) break;
    if (removed_count > kMaxRemovedJobs) break;
    ++removed_count;
  }
  if (last_job < 0) return last_job;
  do {
    time_window_ =
        options_.window_linear ? time_window_ + options_.window_linear : time_window_ * 2;
  } while (is_next_outside_window());
  return last_job;
}

// Moves to the next running job that has a node in avail_nodes_ and ends by `later_start`; returns
// whether there is one.
inline bool EndBatches::find_next_job() {
  while (matching_jobs_ == 0 && scanned_count_ < running_.size()) {
    matching_jobs_ = running_.jobs_on_nodes(scanned_count_, avail_nodes_);
    if (scanned_count_ < ended_count_)
      matching_jobs_ &= ~std::uint64_t{0} << (ended_count_ - scanned_count_);
    scanned_count_ += 64;
  }
  next_job_ = running_.size();
  if (matching_jobs_ == 0) return false;
  const std::size_t matching_job =
      scanned_count_ - 64 + static_cast<std::size_t>(__builtin_ctzll(matching_jobs_));
  matching_jobs_ &= matching_jobs_ - 1;
  if (running_[matching_job].expected_end > options_.later_start) return false;
  next_job_ = matching_job;
  return true;
}

}  // namespace cosched::slurm

// Running jobs in order of their expected ends, for will-run tests: each of them looks at many
// jobs.
#pragma once

#include "cosched/slurm/select/allocations.hpp"

namespace cosched::slurm {

class RunningByEnd {
 public:
  struct RunningJob {
    int job;
    Second expected_end;
    const NodeBits* nodes;
    Share single_share;  // of a job that shares one node and has no GPU; else of node -1
  };

  /// Takes over the running jobs of the allocations.  O(running), where anything has changed since
  /// the last call.
  void refresh(const Allocations& allocations);

  std::size_t size() const { return jobs_.size(); }
  const RunningJob& operator[](std::size_t index) const { return jobs_[index]; }
  /// Which of the 64 jobs from `first_job` on have one of these nodes, as bits.  Requires a
  /// multiple of 64.
  std::uint64_t jobs_on_nodes(std::size_t first_job, const NodeBits& nodes) const;

 private:
  std::vector<RunningJob> jobs_;
  // By job, the first word of its node set that has nodes, and this word.  Most jobs have nodes in
  // one word only.
  std::vector<std::size_t> first_word_index_;
  std::vector<std::uint64_t> first_word_;
  std::vector<std::uint64_t> multi_word_jobs_;  // jobs, as bits, with nodes in further words
  std::int64_t version_ = -1;                   // of the allocations
};

// Inline: measured hot.  The loop has no branch that a processor would have to predict.
inline std::uint64_t RunningByEnd::jobs_on_nodes(std::size_t first_job,
                                                 const NodeBits& nodes) const {
  const std::uint64_t* const words = nodes.words().data();
  std::uint64_t matching_jobs = 0;
  for (std::size_t j = std::min(first_job + 64, size()); j-- > first_job;)
    matching_jobs = 2 * matching_jobs + ((words[first_word_index_[j]] & first_word_[j]) != 0);
  std::uint64_t unmatched_jobs = multi_word_jobs_[first_job / 64] & ~matching_jobs;
  for (; unmatched_jobs != 0; unmatched_jobs &= unmatched_jobs - 1) {
    const int bit = __builtin_ctzll(unmatched_jobs);
    matching_jobs |= std::uint64_t{jobs_[first_job + bit].nodes->intersects(nodes)} << bit;
  }
  return matching_jobs;
}

}  // namespace cosched::slurm

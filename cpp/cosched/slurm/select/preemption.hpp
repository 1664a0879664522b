// Preemption: whose nodes a job may take, and which running jobs have to end for it (RULES.md 15;
// the preempt plugins, and `_get_req_features` of node_scheduler.c).
#pragma once

#include "cosched/slurm/select/select.hpp"

namespace cosched::slurm {

/// The QOS of the job, or null.
const Qos* qos_of(const Scenario& scenario, int job);
/// Partitions, or QOS, whose jobs the entry may preempt.
const std::vector<int>& preempted_by(const Scenario& scenario, QueueEntry preemptor);
/// True where the preemptor comes before the other entry, and may take its place: by PriorityTier
/// of partitions that share nodes, or by the lists of QOS.
bool may_preempt(const Scenario& scenario, QueueEntry preemptor, QueueEntry other);

class Preemption {
 public:
  /// PreemptMode of a running job.
  enum class Mode : char { off, cancel, requeue, suspend };
  /// The jobs that have to end so that a job can start, and its nodes.
  struct Victims {
    std::vector<int> jobs;    // empty: no job ends, or that does not help
    Loan<NodeChoice> choice;  // until the next call of Select::select_now()
  };
  class ScopedHidden;

  /// Requires that both outlive it.
  Preemption(const Scenario& scenario, Allocations& allocations);

  bool is_enabled() const { return scenario_.settings().preempt.is_enabled(); }
  void start(QueueEntry entry);

  /// A pass or cycle begins: every job may try again to preempt.
  void begin_pass() { preemptors_in_progress_.clear(); }
  /// True when the job has tried to preempt in this pass or cycle.
  bool is_in_progress(int job) const;
  /// Running jobs that the entry may preempt, in the order in which they are tried.
  std::vector<int> candidates(QueueEntry entry, Second now) const;
  Victims choose_victims(QueueEntry entry, const NodeBits& allowed_nodes, Second now,
                         Select& select);
  /// Returns whether the job preempts its victims now; else it waits for those of an earlier call.
  bool try_begin_preemption(int job, Second now);

  /// Of the partition or QOS of the running job where that has one, else of the cluster.
  Mode mode(int job) const;
  /// GraceTime (s) of the running job.
  Second grace_time(int job) const;

 private:
  bool is_exempt(int job, Second now) const;
  double preemption_rank(int job) const;
  QueueEntry running_entry(int job) const { return {job, partition_by_job_[job]}; }
  void reorder(std::vector<int>& candidate_jobs, std::size_t last_victim,
               const NodeBits& nodes) const;

  const Scenario& scenario_;
  Allocations& allocations_;
  std::vector<int> partition_by_job_;           // of running jobs
  std::vector<int> preemptors_in_progress_;     // of this pass or cycle
  std::vector<Second> last_preemption_by_job_;  // when a job preempted others last
};

/// As long as it lives, these running jobs count as ended.
class Preemption::ScopedHidden {
 public:
  ScopedHidden(Preemption& preemption, std::vector<int> jobs);
  ~ScopedHidden();
  ScopedHidden(const ScopedHidden&) = delete;
  ScopedHidden& operator=(const ScopedHidden&) = delete;

 private:
  Allocations& allocations_;
  std::vector<int> jobs_;
};

}  // namespace cosched::slurm

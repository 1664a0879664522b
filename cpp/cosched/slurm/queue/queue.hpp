// Pending jobs in the order in which both schedulers try them (RULES.md 1): `build_job_queue` and
// `sort_job_queue` of job_scheduler.c.
#pragma once

#include "cosched/slurm/queue/accrual_limits.hpp"
#include "cosched/slurm/queue/preemption_order.hpp"
#include "cosched/slurm/queue/priorities.hpp"
#include "cosched/slurm/queue/qsort_merge.hpp"
#include "cosched/slurm/queue/usage.hpp"

namespace cosched::slurm {

/// The entries of both schedulers: a pending job has one for each partition that it asks for.  A
/// job that is submitted has a priority, and gets its entries once nothing else keeps it (`enter`).
class Queue {
 public:
  /// Requires that both outlive it.
  Queue(const Scenario& scenario, const Usage& usage);

  /// The job gets its priority, as of all jobs that were submitted so far.  `enter` adds the job to
  /// the queue.
  void submit(int job, double time);
  /// A new priority for a job that has accrued no age yet.  Where priorities follow the order of
  /// submissions, it is the lowest so far.
  void set_new_priority(int job);
  /// The job has run, and waits again, without an age: with a new priority, or with its old one.
  void resubmit(int job, double time, bool gets_new_priority);
  /// The job waits in the queue, once for each partition.  O(entries).
  void enter(int job);
  /// Removes the jobs for which is_removed(job).
  template <class IsRemoved>
  void remove_if(IsRemoved is_removed);

  /// Something keeps the job from being ready: it accrues no age.
  void stop_accrual(int job) { start_accrual(job, kNoAccrual); }
  /// The job is ready since `since`, and accrues age; where accrual is limited,
  /// `start_next_accruals` decides when.
  void start_accrual(int job, double since);
  /// Where accrual is limited: the next jobs begin to accrue age.
  void start_next_accruals(double time);

  /// The job has this priority again; `resort_if_restored` follows after the last one.
  void set_priority(int job, double priority);
  void resort_if_restored();
  /// Nodes have been looked for: all of their CPUs count for the job size at the next
  /// recalculation.
  void mark_tested(int job) { pending_[job].is_tested = true; }
  /// Computes all priorities anew, as of the last pass of the decay thread: of jobs in the queue,
  /// and of `unready_jobs`.
  void recalculate(const std::vector<int>& unready_jobs = {});
  /// A pass or a cycle begins.  Where preemption leaves the queue no order (preemption_order.hpp),
  /// its records are sorted as slurmctld sorts them: from their places on its list of jobs, by
  /// merges.  Tasks of an array that have not started are one record.
  /// list_place(job): the job's place on that list.  O(entries log entries), where something
  /// changed.
  template <class ListPlace>
  void sort_as_slurmctld(ListPlace list_place);

  /// In the order in which they are tried, after sort_as_slurmctld().
  const std::vector<QueueEntry>& entries() const { return entries_; }
  double priority(int job) const { return pending_[job].priority; }
  /// True for a job that is too young (bf_min_age_reserve) or has too low a priority
  /// (bf_min_prio_reserve) to block others or to have a reservation (RULES.md 2.5).
  bool is_below_reserve_minimums(int job, Second now) const;
  /// Grows whenever a job comes or priorities change.
  std::int64_t change_count() const { return change_count_; }

 private:
  static constexpr double kNoAccrual = std::numeric_limits<double>::infinity();

  struct PendingJob {
    double priority = 0;
    Second submit = 0;
    bool is_tested = false;
    double accrue_time = 0;        // since when its age counts; kNoAccrual: it does not
    double age_from = kNoAccrual;  // of Job; reset when the job has run
    Second list_time = 0;  // orders jobs of equal priority: `submit`; of a task that %n kept, that
                           // of its array
  };
  // An entry, and where build_job_queue() comes to it.
  struct ListedEntry {
    std::int64_t place;  // of the job's record on slurmctld's list
    int partition_rank;  // of the partition among those of the job
    QueueEntry entry;

    bool is_of_record(const ListedEntry& other) const {
      return place == other.place && partition_rank == other.partition_rank;
    }
    bool operator<(const ListedEntry& other) const {
      return std::tie(place, partition_rank, entry.job) <
             std::tie(other.place, other.partition_rank, other.entry.job);
    }
  };
  // A job or array that was submitted at `time`, and how many were before it.
  struct SubmittedRecord {
    double time;
    int earlier_job_count;
  };

  bool comes_before(QueueEntry a, QueueEntry b) const;
  void sort();
  void insert_entry(QueueEntry entry);
  int rank_of_partition(QueueEntry entry) const;
  void sort_listed_entries(std::vector<ListedEntry> listed_entries);
  int jobs_submitted_before(int job) const;
  double compute_priority(int job, double time, int jobs_submitted_before) const;

  const Scenario& scenario_;
  const Usage& usage_;
  const Priorities priorities_;
  const AccrualLimits accrual_limits_;
  bool is_strict_weak_order_;                       // comes_before() is a strict weak order
  bool is_unsorted_ = false;                        // entries_, where comes_before() is no order
  std::vector<PendingJob> pending_;                 // by job
  std::vector<QueueEntry> entries_;                 // in order
  int submitted_count_ = 0;                         // jobs so far; an array counts as one
  std::vector<SubmittedRecord> submitted_records_;  // by time
  int last_submitted_job_ = -1;
  std::int64_t change_count_ = 0;
  bool has_restored_priority_ = false;
};

template <class IsRemoved>
void Queue::remove_if(IsRemoved is_removed) {
  is_unsorted_ = true;
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [&](const QueueEntry& entry) { return is_removed(entry.job); }),
                 entries_.end());
}

template <class ListPlace>
void Queue::sort_as_slurmctld(ListPlace list_place) {
  if (is_strict_weak_order_ || !is_unsorted_) return;
  std::vector<ListedEntry> listed_entries;
  listed_entries.reserve(entries_.size());
  for (const QueueEntry& entry : entries_)
    listed_entries.push_back({list_place(entry.job), rank_of_partition(entry), entry});
  sort_listed_entries(std::move(listed_entries));
}

}  // namespace cosched::slurm

// Pending jobs in the order in which both schedulers try them (RULES.md 1).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "cosched/slurm/queue/priority.hpp"

namespace cosched::slurm {

class Queue {
 public:
  /// Requires that both outlive it.
  Queue(const Scenario& scenario, const Usage& usage);

  /// The job gets its priority, as of all that were submitted so far; it may not wait in the queue
  /// yet.
  void submit(int job, double time);
  /// A new priority for a job whose age does not count yet, behind all so far where that is by the
  /// order of submissions.
  void prioritise(int job);
  /// It has run, and waits again, without an age; `anew`: with a new priority, else its old one.
  void resubmit(int job, double time, bool anew);
  /// The job waits in the queue, once for each partition.  O(entries).
  void enter(int job);
  /// Something keeps the job: its age does not count.
  void kept(int job);
  /// The job is ready since then: its age counts, or will once there is room.
  void ready(int job, double since);
  /// It has this priority again; `settle` puts the queue in order behind the last of such.
  void restore(int job, double priority);
  void settle();
  /// Nodes have been looked for: all of their CPUs count for its size at the next recalculation.
  void tested(int job) { of_[static_cast<std::size_t>(job)].tested = true; }
  /// Where limits say how many jobs' ages count at a time: those of the next ones do.
  void let_accrue(double time) {
    if (limited_) count_ages(time);
  }
  /// Takes out the jobs for which gone(job).
  template <class Gone>
  void drop(Gone gone) {
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return gone(entry.job); }),
                   entries_.end());
  }
  /// All priorities anew, as of the last pass of the thread that accounts usage: of jobs in the
  /// queue, and of `others` that wait.
  void recalculate(const std::vector<int>& others = {});

  const std::vector<Entry>& entries() const { return entries_; }
  double priority(int job) const { return of_[static_cast<std::size_t>(job)].priority; }
  /// Too young or of too low priority to block others, or to have a reservation (RULES.md 2.5).
  bool holds_back(int job, Second now) const;
  /// Grows whenever a job comes or priorities change.
  std::int64_t changes() const { return changes_; }

 private:
  struct Submitted {
    double priority = 0;
    Second submit = 0;
    bool tested = false;
    double accrues = 0;  // since when its age counts; infinite: it does not
  };
  bool before(Entry a, Entry b) const;
  void sort();
  void count_ages(double time);
  /// Which limit holds for the job (none: empty), as (kind, of which, user), and its value.
  using Group = std::array<int, 3>;  // a kind, which, of whom
  std::vector<Group> accrual_groups(int job) const;
  std::pair<Group, int> accrual_limit(int job) const;
  const Limits& limits_of(const Group& association) const;
  double computed(int job, double time, int before) const;

  const Scenario& scenario_;
  const Usage& usage_;
  const Priorities priorities_;
  bool limited_;                // some limit of accrual
  std::vector<Submitted> of_;   // by job
  std::vector<Entry> entries_;  // in order
  int submitted_ = 0;           // jobs so far, an array being one
  int last_array_ = -1;
  std::int64_t changes_ = 0;
  bool restored_ = false;
};

}  // namespace cosched::slurm

// Pending jobs in the order in which both schedulers try them (RULES.md 1).
#pragma once

#include "cosched/slurm/queue/preemption_order.hpp"
#include "cosched/slurm/queue/priority.hpp"
#include "cosched/slurm/queue/qsort_merge.hpp"

namespace cosched::slurm {

class Queue {
 public:
  /// Requires that both outlive it.
  Queue(const Scenario& scenario, const Usage& usage)
      : scenario_(scenario),
        usage_(usage),
        priorities_(scenario),
        limits_accrual_(limits_accrual(scenario)),
        has_order_(preemption_keeps_order(scenario)),
        pending_(scenario.jobs().size()) {}

  /// The job gets its priority, as of all that were submitted so far; it may not wait in the queue
  /// yet.
  void submit(int job, double time) {
    // Tasks of an array follow each other, with one priority.
    const bool next_task = last_submitted_ >= 0 && scenario_.array_of(job) >= 0 &&
                           scenario_.array_of(job) == scenario_.array_of(last_submitted_) &&
                           pending_[last_submitted_].submit == to_second(time);
    if (const auto& known = scenario_.job(job).queue_state)
      pending_[job] = {known->priority,  to_second(time), true,
                       known->age_since, kNotYet,         to_second(time)};
    else if (next_task)
      pending_[job] = pending_[last_submitted_];
    else {
      const double age_from = scenario_.job(job).age_from;
      pending_[job] = {0, to_second(time), false, std::min(scenario_.job(job).submit, age_from),
                       age_from};
      pending_[job].list_time = to_second(std::min(time, age_from));
      pending_[job].priority = compute_priority(job, time, jobs_submitted_before(job));
      arrivals_.push_back({scenario_.job(job).submit, submitted_count_++});
      if (limits_accrual_) pending_[job].age_since = kNotYet;
    }
    last_submitted_ = job;
  }

  /// A new priority for a job whose age does not count yet, behind all so far where that is by the
  /// order of submissions.
  void set_new_priority(int job) {
    pending_[job].priority = compute_priority(job, 0, submitted_count_++);  // has no age yet
  }

  /// It has run, and waits again, without an age; `anew`: with a new priority, else its old one.
  void resubmit(int job, double time, bool anew) {
    stop_age(job);
    if (anew) set_new_priority(job);
    pending_[job].submit = pending_[job].list_time = to_second(time);
    pending_[job].age_from = kNotYet;
  }

  /// The job waits in the queue, once for each partition.  O(entries).
  void enter(int job) {
    ++change_count_;
    const auto add = [&](QueueEntry entry) {
      if (!has_order_) {
        entries_.push_back(entry);
        is_unsorted_ = true;
        return;
      }
      const auto place = std::upper_bound(
          entries_.begin(), entries_.end(), entry,
          [&](const QueueEntry& a, const QueueEntry& b) { return comes_before(a, b); });
      entries_.insert(place, entry);
    };
    const Job& one = scenario_.job(job);
    if (one.partitions.empty()) add({job, one.partition});
    for (const int part : one.partitions) add({job, part});
  }

  /// Something keeps the job: its age does not count.
  void stop_age(int job) { start_age(job, kNotYet); }

  /// The job is ready since then: its age counts, or will once there is room.
  void start_age(int job, double since) {
    const auto& known = scenario_.job(job).queue_state;
    if (limits_accrual_ || (known && known->age_since < kNotYet)) return;
    PendingJob& own = pending_[job];
    own.age_since = since < kNotYet ? std::min(since, own.age_from) : kNotYet;
  }

  /// It has this priority again; call resort_if_restored() after the last one.
  void set_priority(int job, double priority) {
    double& own = pending_[job].priority;
    has_restored_priority_ = has_restored_priority_ || own != priority;
    own = priority;
  }

  void resort_if_restored() {
    if (!has_restored_priority_) return;
    has_restored_priority_ = false;
    sort();
  }

  /// Nodes have been looked for: all of their CPUs count for its size at the next recalculation.
  void mark_tested(int job) { pending_[job].is_tested = true; }
  /// Where limits say how many jobs' ages count at a time: those of the next ones do.
  void start_next_ages(double time) {
    if (limits_accrual_) start_ages_within_limits(time);
  }
  /// Takes out the jobs for which gone(job).
  template <class Gone>
  void remove_if(Gone gone) {
    is_unsorted_ = true;
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                  [&](const QueueEntry& entry) { return gone(entry.job); }),
                   entries_.end());
  }
  /// All priorities anew, as of the last pass of the thread that accounts usage: of jobs in the
  /// queue, and of `others` that wait.
  void recalculate(const std::vector<int>& others = {}) {
    if (!scenario_.settings().priority.multifactor) return;
    ++change_count_;
    const auto when = static_cast<double>(usage_.last_pass_time());
    const auto anew = [&](int job) { pending_[job].priority = compute_priority(job, when, 0); };
    for (const QueueEntry& entry : entries_) anew(entry.job);
    for (const int job : others) anew(job);
    sort();
  }

  /// A pass or a cycle begins.  Where preemption leaves the queue no order (preemption_order.hpp),
  /// its records are sorted as slurmctld sorts them: from their places on its list of jobs, by
  /// merges.  Tasks of an array that have not started are one record.
  /// list_place(job): the job's place on that list.  O(entries log entries), where something
  /// changed.
  template <class ListPlace>
  void sort_as_slurmctld(ListPlace list_place) {
    if (has_order_ || !is_unsorted_) return;
    is_unsorted_ = false;
    std::vector<ListedEntry> listed;
    listed.reserve(entries_.size());
    for (const QueueEntry& entry : entries_)
      listed.push_back({list_place(entry.job), rank_of_partition(entry), entry});
    std::sort(listed.begin(), listed.end());
    std::vector<QueueRecord> records;
    for (std::size_t k = 0; k < listed.size(); ++k) {
      if (k == 0 || !listed[k].is_of_record(listed[k - 1])) records.push_back({k, k});
      records.back().end = k + 1;
    }
    sort_like_qsort(records, [&](const QueueRecord& a, const QueueRecord& b) {
      return comes_before(listed[a.begin].entry, listed[b.begin].entry);
    });
    entries_.clear();
    for (const QueueRecord& record : records)
      for (std::size_t k = record.begin; k < record.end; ++k) entries_.push_back(listed[k].entry);
  }

  /// In the order in which they are tried, after sort_as_slurmctld().
  const std::vector<QueueEntry>& entries() const { return entries_; }
  double priority(int job) const { return pending_[job].priority; }
  /// Too young or of too low priority to block others, or to have a reservation (RULES.md 2.5).
  bool holds_back(int job, Second now) const {
    const Settings::ReservationMinimums& reserve = scenario_.settings().reservation_minimums;
    const PendingJob& one = pending_[job];
    return now - one.submit < reserve.min_age || one.priority < reserve.min_priority;
  }

  /// Grows whenever a job comes or priorities change.
  std::int64_t change_count() const { return change_count_; }

 private:
  static constexpr double kNotYet = std::numeric_limits<double>::infinity();

  struct PendingJob {
    double priority = 0;
    Second submit = 0;
    bool is_tested = false;
    double age_since = 0;  // since when its age counts; infinite: it does not
    double age_from = std::numeric_limits<double>::infinity();  // as of Job; gone after it has run
    Second list_time = 0;  // among jobs of equal priority: `submit`, of a kept task its array's
  };

  static bool limits_accrual(const Scenario& scenario) {
    const auto some = [](const Limits& of) {
      return of.max_accruing_group >= 0 || of.max_accruing_account >= 0 ||
             of.max_accruing_user >= 0 || of.max_accruing >= 0;
    };
    const std::vector<Qos>& qos = scenario.machine().qos;
    const std::vector<Association>& accounts = scenario.accounts();
    return std::any_of(qos.begin(), qos.end(), some) ||
           std::any_of(accounts.begin(), accounts.end(),
                       [&](const Association& one) { return some(one.limits); });
  }

  bool comes_before(QueueEntry a, QueueEntry b) const {
    if (scenario_.settings().preempt.is_enabled()) {  // whatever their priorities
      if (may_preempt(scenario_, a, b)) return true;
      if (may_preempt(scenario_, b, a)) return false;
    }
    const bool kept = scenario_.job(a.job).conditions.reservation >= 0;
    if (kept != (scenario_.job(b.job).conditions.reservation >= 0)) return kept;
    const int first = scenario_.partition(a).tier, second = scenario_.partition(b).tier;
    if (first != second) return first > second;
    const PendingJob& x = pending_[a.job];
    const PendingJob& y = pending_[b.job];
    if (x.priority != y.priority) return x.priority > y.priority;
    if (x.list_time != y.list_time) return x.list_time < y.list_time;
    return a.job < b.job;
  }

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
  // Entries [begin, end) of that list: a job, or the tasks of an array, in a partition.
  struct QueueRecord {
    std::size_t begin = 0, end = 0;
  };

  int rank_of_partition(QueueEntry entry) const {
    const std::vector<int>& partitions = scenario_.job(entry.job).partitions;
    return static_cast<int>(std::find(partitions.begin(), partitions.end(), entry.partition) -
                            partitions.begin());
  }

  // Ages grow alike: mostly they are in order.
  void sort() {
    is_unsorted_ = true;
    if (!has_order_) return;
    const auto order = [&](const QueueEntry& a, const QueueEntry& b) { return comes_before(a, b); };
    if (!std::is_sorted(entries_.begin(), entries_.end(), order))
      std::stable_sort(entries_.begin(), entries_.end(), order);
  }
  // In order of the jobs, not of priority.
  void start_ages_within_limits(double time) {
    std::vector<int> waiting;
    for (const QueueEntry& entry : entries_) waiting.push_back(entry.job);
    std::sort(waiting.begin(), waiting.end());
    waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
    std::map<AccrualGroup, int> counts;
    const auto count = [&](int job) {
      for (const AccrualGroup& group : accrual_groups(job)) ++counts[group];
    };
    for (const int job : waiting)
      if (pending_[job].age_since < kNotYet) count(job);
    for (const int job : waiting) {
      double& since = pending_[job].age_since;
      const auto [which, most] = accrual_limit(job);
      if (since < kNotYet || counts[which] >= most) continue;
      count(job);
      since = time;
    }
  }

  /// Jobs whose ages are limited together: a kind (0: of a QOS, 1: of an account in a QOS, 2: of a
  /// user in a QOS, 3: of an association), the number of the QOS or association, and the account or
  /// user, or -1.
  using AccrualGroup = std::array<int, 3>;
  // What its age counts in: its QOS, its account and user there, its association and those above.
  std::vector<AccrualGroup> accrual_groups(int job) const {
    const Job& one = scenario_.job(job);
    const std::vector<Association>& all = scenario_.accounts();
    std::vector<AccrualGroup> groups;
    if (one.qos >= 0) {
      int account = one.association;
      if (account >= 0 && all[account].is_user) account = all[account].parent;
      groups = {{0, one.qos, -1}, {1, one.qos, account}, {2, one.qos, one.user}};
    }
    for (int k = one.association; k >= 0; k = all[k].parent) groups.push_back({3, k, -1});
    return groups;
  }

  // The first that is set, of its QOS, then of its association and those above; of one of these
  // 24.11 has the least.
  std::pair<AccrualGroup, int> accrual_limit(int job) const {
    const Job& one = scenario_.job(job);
    std::pair<AccrualGroup, int> found{{}, std::numeric_limits<int>::max()};
    bool any = false;
    const auto look = [&](AccrualGroup group, int limit) {
      if (limit < 0 || (any && !(scenario_.settings().is_24_11 && limit < found.second))) return;
      any = true;
      found = {group, limit};
    };
    const std::vector<AccrualGroup> groups = accrual_groups(job);
    auto group = groups.begin();
    if (one.qos >= 0) {
      const Limits& own = scenario_.machine().qos[one.qos];
      for (const int limit :
           {own.max_accruing_group, own.max_accruing_account, own.max_accruing_user})
        look(*group++, limit);
    }
    // That of one association is inherited where those below say nothing.
    int inherited = -1;
    for (auto level = group; level != groups.end() && inherited < 0; ++level)
      inherited = limits_of_association(*level).max_accruing;
    for (auto level = group; level != groups.end() && !any; ++level) {
      look(*level, limits_of_association(*level).max_accruing_group);
      if (level == group) look(*level, inherited);
    }
    return found;
  }

  const Limits& limits_of_association(const AccrualGroup& association) const {
    return scenario_.accounts()[association[1]].limits;
  }

  /// How many jobs were submitted before; a task that %n of its array kept has its array's place.
  int jobs_submitted_before(int job) const {
    const double age_from = scenario_.job(job).age_from;
    const auto later = std::upper_bound(
        arrivals_.begin(), arrivals_.end(), age_from,
        [](double time, const std::pair<double, int>& one) { return time < one.first; });
    return age_from < kNotYet && later != arrivals_.begin() ? std::prev(later)->second
                                                            : submitted_count_;
  }

  double compute_priority(int job, double time, int before) const {
    const double age = time - pending_[job].age_since;
    return priorities_.priority_of(job, age, before, usage_.factor_of(job),
                                   pending_[job].is_tested);
  }

  const Scenario& scenario_;
  const Usage& usage_;
  const Priorities priorities_;
  bool limits_accrual_;                           // some limit of accrual
  bool has_order_;                                // comes_before() is a strict weak order
  bool is_unsorted_ = false;                      // entries_, where it is none
  std::vector<PendingJob> pending_;               // by job
  std::vector<QueueEntry> entries_;               // in order
  int submitted_count_ = 0;                       // jobs so far, an array being one
  std::vector<std::pair<double, int>> arrivals_;  // of these jobs: times, and how many came before
  int last_submitted_ = -1;                       // submitted
  std::int64_t change_count_ = 0;
  bool has_restored_priority_ = false;
};

}  // namespace cosched::slurm

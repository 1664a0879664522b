#include "cosched/slurm/queue/queue.hpp"

#include "cosched/slurm/select/preemption.hpp"

namespace cosched::slurm {

Queue::Queue(const Scenario& scenario, const Usage& usage)
    : scenario_(scenario),
      usage_(usage),
      priorities_(scenario),
      accrual_limits_(scenario),
      is_strict_weak_order_(preemption_keeps_order(scenario)),
      pending_(scenario.jobs().size()) {}

// --- jobs come and wait ---

void Queue::submit(int job_number, double time) {
  const Job& job = scenario_.job(job_number);
  PendingJob& pending = pending_[job_number];
  // Tasks of an array follow each other, with one priority.
  const bool is_next_task =
      last_submitted_job_ >= 0 && scenario_.array_of(job_number) >= 0 &&
      scenario_.array_of(job_number) == scenario_.array_of(last_submitted_job_) &&
      pending_[last_submitted_job_].submit == to_second(time);
  if (job.queue_state) {
    pending = {.priority = job.queue_state->priority,
               .submit = to_second(time),
               .is_tested = true,
               .accrue_time = job.queue_state->age_since,
               .list_time = to_second(time)};
  } else if (is_next_task) {
    pending = pending_[last_submitted_job_];
  } else {
    pending = {.submit = to_second(time),
               .accrue_time = std::min(job.submit, job.age_from),
               .age_from = job.age_from,
               .list_time = to_second(std::min(time, job.age_from))};
    pending.priority = compute_priority(job_number, time, jobs_submitted_before(job_number));
    submitted_records_.push_back({job.submit, submitted_count_});
    ++submitted_count_;
    if (accrual_limits_.are_set()) pending.accrue_time = kNoAccrual;
  }
  last_submitted_job_ = job_number;
}

void Queue::set_new_priority(int job) {
  // The time 0 gives the job no age: a negative age counts as 0.
  pending_[job].priority = compute_priority(job, 0, submitted_count_);
  ++submitted_count_;
}

void Queue::resubmit(int job, double time, bool gets_new_priority) {
  stop_accrual(job);
  if (gets_new_priority) set_new_priority(job);
  pending_[job].submit = to_second(time);
  pending_[job].list_time = to_second(time);
  pending_[job].age_from = kNoAccrual;
}

void Queue::enter(int job_number) {
  ++change_count_;
  const Job& job = scenario_.job(job_number);
  if (job.partitions.empty()) insert_entry({job_number, job.partition});
  for (const int partition : job.partitions) insert_entry({job_number, partition});
}

void Queue::insert_entry(QueueEntry entry) {
  if (!is_strict_weak_order_) {
    entries_.push_back(entry);
    is_unsorted_ = true;
    return;
  }
  const auto place = std::upper_bound(
      entries_.begin(), entries_.end(), entry,
      [&](const QueueEntry& a, const QueueEntry& b) { return comes_before(a, b); });
  entries_.insert(place, entry);
}

// --- ages ---

void Queue::start_accrual(int job, double since) {
  const auto& queue_state = scenario_.job(job).queue_state;
  const bool has_accrued_before = queue_state && queue_state->age_since < kNoAccrual;
  if (accrual_limits_.are_set() || has_accrued_before) return;
  PendingJob& pending = pending_[job];
  pending.accrue_time = since < kNoAccrual ? std::min(since, pending.age_from) : kNoAccrual;
}

void Queue::start_next_accruals(double time) {
  if (!accrual_limits_.are_set()) return;
  std::vector<int> jobs;
  for (const QueueEntry& entry : entries_) jobs.push_back(entry.job);
  const auto is_accruing = [&](int job) { return pending_[job].accrue_time < kNoAccrual; };
  for (const int job : accrual_limits_.choose_next_jobs(std::move(jobs), is_accruing))
    pending_[job].accrue_time = time;
}

// --- priorities ---

void Queue::set_priority(int job, double priority) {
  if (pending_[job].priority != priority) has_restored_priority_ = true;
  pending_[job].priority = priority;
}

void Queue::resort_if_restored() {
  if (!has_restored_priority_) return;
  has_restored_priority_ = false;
  sort();
}

void Queue::recalculate(const std::vector<int>& unready_jobs) {
  if (!scenario_.settings().priority.multifactor) return;
  ++change_count_;
  const auto time = static_cast<double>(usage_.last_pass_time());
  for (const QueueEntry& entry : entries_)
    pending_[entry.job].priority = compute_priority(entry.job, time, 0);
  for (const int job : unready_jobs) pending_[job].priority = compute_priority(job, time, 0);
  sort();
}

bool Queue::is_below_reserve_minimums(int job, Second now) const {
  const Settings::ReservationMinimums& minimums = scenario_.settings().reservation_minimums;
  const PendingJob& pending = pending_[job];
  return now - pending.submit < minimums.min_age || pending.priority < minimums.min_priority;
}

// Jobs that were submitted before this one.  A task that %n of its array kept has the place of its
// array among them.
int Queue::jobs_submitted_before(int job) const {
  const double age_from = scenario_.job(job).age_from;
  const auto next_record = std::upper_bound(
      submitted_records_.begin(), submitted_records_.end(), age_from,
      [](double time, const SubmittedRecord& record) { return time < record.time; });
  if (age_from == kNoAccrual || next_record == submitted_records_.begin()) return submitted_count_;
  return std::prev(next_record)->earlier_job_count;
}

double Queue::compute_priority(int job, double time, int jobs_submitted_before) const {
  const PendingJob& pending = pending_[job];
  return priorities_.priority_of(job, {.age = time - pending.accrue_time,
                                       .jobs_submitted_before = jobs_submitted_before,
                                       .fair_share = usage_.factor_of(job),
                                       .is_tested = pending.is_tested});
}

// --- the order ---

// `sort_job_queue2` of job_scheduler.c.
bool Queue::comes_before(QueueEntry a, QueueEntry b) const {
  if (scenario_.settings().preempt.is_enabled()) {  // whatever their priorities
    if (may_preempt(scenario_, a, b)) return true;
    if (may_preempt(scenario_, b, a)) return false;
  }
  const bool has_reservation_a = scenario_.job(a.job).conditions.reservation >= 0;
  const bool has_reservation_b = scenario_.job(b.job).conditions.reservation >= 0;
  if (has_reservation_a != has_reservation_b) return has_reservation_a;
  const int tier_a = scenario_.partition(a).tier;
  const int tier_b = scenario_.partition(b).tier;
  if (tier_a != tier_b) return tier_a > tier_b;
  const PendingJob& pending_a = pending_[a.job];
  const PendingJob& pending_b = pending_[b.job];
  if (pending_a.priority != pending_b.priority) return pending_a.priority > pending_b.priority;
  if (pending_a.list_time != pending_b.list_time) return pending_a.list_time < pending_b.list_time;
  return a.job < b.job;
}

// Sorts the entries anew.  The ages of all jobs grow alike, so that they mostly are in order.
void Queue::sort() {
  is_unsorted_ = true;
  if (!is_strict_weak_order_) return;
  const auto order = [&](const QueueEntry& a, const QueueEntry& b) { return comes_before(a, b); };
  if (!std::is_sorted(entries_.begin(), entries_.end(), order))
    std::stable_sort(entries_.begin(), entries_.end(), order);
}

int Queue::rank_of_partition(QueueEntry entry) const {
  const std::vector<int>& partitions = scenario_.job(entry.job).partitions;
  return static_cast<int>(std::find(partitions.begin(), partitions.end(), entry.partition) -
                          partitions.begin());
}

void Queue::sort_listed_entries(std::vector<ListedEntry> listed_entries) {
  is_unsorted_ = false;
  std::sort(listed_entries.begin(), listed_entries.end());
  // A record is a range of listed entries: a job, or the tasks of an array, in a partition.
  struct QueueRecord {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::vector<QueueRecord> records;
  for (std::size_t k = 0; k < listed_entries.size(); ++k) {
    if (k == 0 || !listed_entries[k].is_of_record(listed_entries[k - 1])) records.push_back({k, k});
    records.back().end = k + 1;
  }
  sort_like_qsort(records, [&](const QueueRecord& a, const QueueRecord& b) {
    return comes_before(listed_entries[a.begin].entry, listed_entries[b.begin].entry);
  });
  entries_.clear();
  for (const QueueRecord& record : records)
    for (std::size_t k = record.begin; k < record.end; ++k)
      entries_.push_back(listed_entries[k].entry);
}

}  // namespace cosched::slurm

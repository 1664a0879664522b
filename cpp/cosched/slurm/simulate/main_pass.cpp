#include "cosched/slurm/simulate/main_pass.hpp"

namespace cosched::slurm {
namespace {

// Partitions of which a job waits: jobs behind it get none of their nodes.
class Blocked {
 public:
  Blocked(const std::vector<Partition>& parts, NodeBits up)
      : parts_(parts), blocked_(parts.size()), allowed_(std::move(up)) {}
  bool has(int partition) const { return blocked_[partition]; }
  void add(int partition) {
    if (std::exchange(blocked_[partition], 1)) return;
    ++count_;
    allowed_ -= parts_[partition].nodes;
  }
  bool all() const { return count_ == parts_.size(); }
  const NodeBits& allowed() const { return allowed_; }  // nodes of none of them

 private:
  const std::vector<Partition>& parts_;
  std::vector<char> blocked_;
  std::size_t count_ = 0;
  NodeBits allowed_;
};

// One pass over the queue.
class Pass {
 public:
  Pass(Tables& tables, Select& select, double time)
      : tables_(tables),
        select_(select),
        scenario_(tables.scenario),
        time_(time),
        now_(whole(time)),
        reserved_(tables.reservations.any(time)),
        reservations_(!scenario_.reservations().empty()),
        blocked_(scenario_.machine().parts, tables.allocations.up()),
        nodes_(scenario_.machine().nodes) {}

  std::vector<int> run(bool full) {
    const Settings::Main& settings = scenario_.settings().main;
    std::vector<int> tried(scenario_.machine().parts.size());
    int depth = 0, last_array = -1, last = -1;
    for (const Entry entry : tables_.queue.entries()) {
      if (settings.max_job_start && static_cast<int>(started_.size()) >= settings.max_job_start)
        break;
      // An array is one record of the queue, which counts again behind a task that started.
      const int array = scenario_.array(entry.job);
      const int before = std::exchange(last, entry.job);
      const bool again = !started_.empty() && started_.back() == before;
      if (array < 0 || std::exchange(last_array, array) != array || again) {
        if (settings.partition_depth && tried[entry.part]++ >= settings.partition_depth) continue;
        if (!full && depth++ > settings.queue_depth) break;
      }
      if (!test(entry)) break;
    }
    return std::move(started_);
  }

 private:
  // False: nothing that comes can start.
  bool test(Entry entry) {
    const bool blocked = blocked_.has(entry.part) && !in_reservation(entry);
    if (blocked && one_waits_ && !blocked_.all()) return true;  // it leaves no more behind than one
    if (rejected(entry)) return true;
    if (blocked) {
      tables_.journal.wait(entry.job, time_, Action::wait_priority);
      tables_.updates.jobs = now_;
      one_waits_ = !tables_.journal.told();
      return !blocked_.all() || tables_.journal.told() || reserved_;
    }
    if (const Policy::Held held = tables_.policy.before_nodes(entry)) {
      tables_.journal.hold(entry.job, time_, *held);
      return true;
    }
    if (blocked_.allowed().count_common(scenario_.part(entry).nodes) < scenario_.job(entry).nodes) {
      tables_.updates.jobs = now_;  // its nodes are kept for jobs of other partitions
      tables_.journal.wait(entry.job, time_, Action::wait_resources);
      blocked_.add(entry.part);
    } else if (!tables_.licences.enough(entry.job)) {
      tables_.journal.wait(entry.job, time_, Action::wait_licences);
      tables_.updates.jobs = now_;
    } else {
      start_or_block(entry);
    }
    return true;
  }

  // Started in another partition, or behind a task of its array that could not.
  bool rejected(Entry entry) {
    if (tables_.allocations.started(entry.job) || tables_.preemption.in_progress(entry.job))
      return true;
    const int array = scenario_.array(entry.job);
    if (array < 0) return false;
    return (rejected_array_ == array && rejected_part_ == entry.part) ||
           tables_.readiness.array_full(entry.job);
  }

  bool in_reservation(Entry entry) const {
    return reservations_ && scenario_.job(entry.job).conditions.reservation >= 0;
  }

  void start_or_block(Entry entry) {
    const NodeBits* allowed = &blocked_.allowed();
    bool has_lost_nodes = false;  // to a reservation
    if (reserved_ || in_reservation(entry)) {
      nodes_ = *allowed;
      const auto left = tables_.reservations.leave(entry, now_, false, time_, nodes_);
      if (!left.some) {
        tables_.journal.wait(entry.job, time_, Action::wait_reservation);
        return reject(entry);
      }
      has_lost_nodes = left.overlap;
      for (const int failed : failed_reservations_)
        if (failed == scenario_.job(entry.job).conditions.reservation) return reject(entry);
      allowed = &nodes_;
    }
    const Loan<Choice> choice = select_.now(entry, *allowed);
    if (!choice && preempted(entry, *allowed)) return reject(entry);
    if (const Policy::Held held = tables_.policy.with_nodes(entry, choice.get())) {
      tables_.journal.hold(entry.job, time_, *held);
      return reject(entry);
    }
    if (choice) {
      tables_.start(entry, *choice, time_, Scheduler::main);
      started_.push_back(entry.job);
      return;
    }
    reject(entry);
    const bool waits_for_reservation = has_lost_nodes && could_start_without_reservations(entry);
    tables_.journal.wait(
        entry.job, time_,
        waits_for_reservation ? Action::wait_reserved_nodes : Action::wait_resources);
    if (in_reservation(entry))
      failed_reservations_.push_back(scenario_.job(entry.job).conditions.reservation);
    else if (!tables_.queue.holds_back(entry.job, now_) && waits_for_nodes(entry, *allowed))
      blocked_.add(entry.part);
  }

  // Whether reservations alone keep the entry from starting now.  Asked only where reasons are
  // told; the answer leaves no trace in later tests.
  bool could_start_without_reservations(Entry entry) {
    if (!tables_.journal.told() || in_reservation(entry)) return false;
    const auto weights = select_.left();
    const bool could_start = static_cast<bool>(select_.now(entry, blocked_.allowed()));
    select_.leave(weights);
    return could_start;
  }

  // Other jobs go for it: it waits until their nodes are clean, and blocks its partition.
  bool preempted(Entry entry, const NodeBits& allowed) {
    const auto victims = tables_.preemption.victims(entry, allowed, now_, select_);
    if (victims.jobs.empty()) return false;
    if (const Policy::Held held = tables_.policy.with_nodes(entry, victims.choice.get())) {
      tables_.journal.hold(entry.job, time_, *held);
      return true;
    }
    if (tables_.preemption.sends(entry.job, now_))
      for (const int job : victims.jobs) tables_.preempt(job, time_);
    tables_.journal.wait(entry.job, time_, Action::wait_resources);
    blocked_.add(entry.part);
    return true;
  }

  // Not if those that are there would not do even if they were empty.
  bool waits_for_nodes(Entry entry, const NodeBits& allowed) {
    const NodeBits& own = scenario_.part(entry).nodes;
    if (own.within(allowed) || (!scenario_.own_cores() && !reserved_)) return true;
    NodeBits out = own;
    out &= allowed;
    const Job& job = scenario_.job(entry);
    if (job.set >= 0) out &= scenario_.machine().sets[job.set];
    return out.meets(tables_.allocations.cleaning()) || select_.could_run(entry, allowed);
  }

  void reject(Entry entry) {
    rejected_array_ = scenario_.array(entry.job);
    rejected_part_ = entry.part;
  }

  Tables& tables_;
  Select& select_;
  const Scenario& scenario_;
  const double time_;
  const Second now_;
  const bool reserved_;      // there are reservations
  const bool reservations_;  // at some time
  Blocked blocked_;
  NodeBits nodes_;
  std::vector<int> started_;
  std::vector<int> failed_reservations_;
  int rejected_array_ = -1, rejected_part_ = -1;
  bool one_waits_ = false;  // behind another of its partition, and nobody is told why
};

}  // namespace

std::vector<int> main_pass(Tables& tables, Select& select, double time, bool full) {
  if (tables.completing(whole(time))) return {};
  tables.admit(time);
  tables.arrange_queue();
  std::vector<int> started = Pass(tables, select, time).run(full);
  if (!started.empty()) tables.queue.drop([&](int job) { return tables.allocations.started(job); });
  return started;
}

}  // namespace cosched::slurm

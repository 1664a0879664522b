#include "cosched/slurm/simulate/main_pass.hpp"

namespace cosched::slurm {
namespace {

// Partitions in which a job waits for nodes: jobs behind it get none of their nodes
// (`failed_parts` of job_scheduler.c).
class BlockedPartitions {
 public:
  BlockedPartitions(const std::vector<Partition>& partitions, NodeBits up_nodes)
      : partitions_(partitions),
        is_blocked_(partitions.size()),
        allowed_nodes_(std::move(up_nodes)) {}

  bool has(int partition) const { return is_blocked_[partition]; }
  bool has_all() const { return blocked_count_ == partitions_.size(); }
  /// Nodes of no blocked partition (`avail_node_bitmap`).
  const NodeBits& allowed_nodes() const { return allowed_nodes_; }

  void add(int partition) {
    if (is_blocked_[partition]) return;
    is_blocked_[partition] = 1;
    ++blocked_count_;
    allowed_nodes_ -= partitions_[partition].nodes;
  }

 private:
  const std::vector<Partition>& partitions_;
  std::vector<char> is_blocked_;
  std::size_t blocked_count_ = 0;
  NodeBits allowed_nodes_;
};

Verdict verdict_of(Action wait_reason) {
  switch (wait_reason) {
    case Action::wait_priority:
      return Verdict::priority;
    case Action::wait_licences:
      return Verdict::licenses;
    case Action::wait_reservation:
      return Verdict::advance_reservation;
    case Action::wait_reserved_nodes:
      return Verdict::reserved_nodes;
    default:
      return Verdict::resources;
  }
}

// One pass over the queue.
class MainPass {
 public:
  MainPass(ControllerState& controller, Select& select, double time, PassTrace* trace)
      : controller_(controller),
        select_(select),
        scenario_(controller.scenario()),
        time_(time),
        now_second_(to_second(time)),
        has_reservations_now_(controller.reservations().has_existing(time)),
        has_reservations_(!scenario_.reservations().empty()),
        blocked_(scenario_.machine().partitions, controller.allocations().up_nodes()),
        unreserved_nodes_(scenario_.machine().nodes),
        trace_(trace) {}

  std::vector<int> run(bool is_full) {
    const Settings::Main& settings = scenario_.settings().main;
    std::vector<int> partition_counts(scenario_.machine().partitions.size());
    int depth = 0;
    int last_array = -1;
    int last_job = -1;
    const std::vector<QueueEntry>& entries = controller_.queue().entries();
    std::size_t entry_count = entries.size();
    for (std::size_t k = 0; k < entry_count; ++k) {
      const QueueEntry entry = entries[k];
      if (settings.max_job_start &&
          static_cast<int>(started_jobs_.size()) >= settings.max_job_start)
        break;
      // An array is one record of the queue, which counts again behind a task that started.
      const int array = scenario_.array_of(entry.job);
      const bool has_last_started = !started_jobs_.empty() && started_jobs_.back() == last_job;
      const bool is_new_record = array < 0 || array != last_array || has_last_started;
      last_job = entry.job;
      if (array >= 0) last_array = array;
      if (is_new_record) {
        const int partition_count = partition_counts[entry.partition];
        if (settings.partition_depth) ++partition_counts[entry.partition];
        if (settings.partition_depth && partition_count >= settings.partition_depth) continue;
        if (!is_full && depth > settings.queue_depth) break;
        ++depth;
      }
      if (is_without_effect(entry)) continue;
      if (!try_entry(entry)) break;
      // Entries behind the last one with an effect are not looked at.  A trace has one more: that at
      // which the last partition is blocked.
      while (!trace_ && entry_count > k + 1 && is_without_effect(entries[entry_count - 1]))
        --entry_count;
    }
    return std::move(started_jobs_);
  }

 private:
  // True for an entry in a blocked partition, whose job has no reservation.
  bool is_blocked(QueueEntry entry) const {
    return blocked_.has(entry.partition) && !is_in_reservation(entry);
  }

  // A second blocked entry has no other effect than the first one.
  bool is_without_effect(QueueEntry entry) const {
    return has_blocked_entry_ && !blocked_.has_all() && is_blocked(entry);
  }

  // Tries the entry.  Returns whether the pass goes on; false: no later entry can start.
  bool try_entry(QueueEntry entry) {
    if (const std::optional<Verdict> verdict = rejection(entry)) {
      trace_verdict(entry, *verdict);
      return true;
    }
    if (is_blocked(entry)) {
      wait(entry, Action::wait_priority);
      controller_.note_job_change(now_second_);
      const bool notes_reasons = controller_.journal().notes_reasons();
      has_blocked_entry_ = !notes_reasons;
      return !blocked_.has_all() || notes_reasons || has_reservations_now_;
    }
    if (const auto violation = controller_.policy().violation_before_nodes(entry)) {
      note_limit(entry, *violation);
      return true;
    }
    const NodeBits& partition_nodes = scenario_.partition(entry).nodes;
    if (blocked_.allowed_nodes().count_common(partition_nodes) < scenario_.job(entry).nodes) {
      // Nodes of the entry are kept for jobs of other partitions.
      controller_.note_job_change(now_second_);
      wait(entry, Action::wait_resources);
      blocked_.add(entry.partition);
    } else if (!controller_.licences().are_available(entry.job)) {
      wait(entry, Action::wait_licences);
      controller_.note_job_change(now_second_);
    } else {
      start_or_block(entry);
    }
    return true;
  }

  // Why the entry is not tried: its job has started in another partition or waits for its victims,
  // or it is behind a task of its array that could not start.  None: the entry is tried.
  std::optional<Verdict> rejection(QueueEntry entry) const {
    if (controller_.allocations().has_started(entry.job)) return Verdict::started_elsewhere;
    if (controller_.preemption().is_in_progress(entry.job)) return Verdict::preempting;
    const int array = scenario_.array_of(entry.job);
    if (array < 0) return std::nullopt;
    if (rejected_array_ == array && rejected_partition_ == entry.partition)
      return Verdict::array_rejected;
    if (controller_.readiness().is_array_full(entry.job)) return Verdict::array_full;
    return std::nullopt;
  }

  bool is_in_reservation(QueueEntry entry) const {
    return has_reservations_ && scenario_.job(entry.job).conditions.reservation >= 0;
  }

  void start_or_block(QueueEntry entry) {
    const NodeBits* allowed_nodes = &blocked_.allowed_nodes();
    bool has_lost_nodes = false;  // to a reservation
    if (has_reservations_now_ || is_in_reservation(entry)) {
      unreserved_nodes_ = *allowed_nodes;
      const auto remaining = controller_.reservations().remove_reserved(entry, now_second_, false,
                                                                        time_, unreserved_nodes_);
      if (!remaining.can_run) {
        wait(entry, Action::wait_reservation);
        return reject(entry);
      }
      if (has_reservation_failed(entry)) {
        trace_verdict(entry, Verdict::priority);
        return reject(entry);
      }
      has_lost_nodes = remaining.has_lost_nodes;
      allowed_nodes = &unreserved_nodes_;
    }
    const Loan<NodeChoice> choice = select_.select_now(entry, *allowed_nodes);
    if (!choice && try_preempt(entry, *allowed_nodes)) return reject(entry);
    if (const auto violation = controller_.policy().violation_with_nodes(entry, choice.get())) {
      note_limit(entry, *violation);
      return reject(entry);
    }
    if (choice) {
      controller_.start(entry, *choice, time_, Scheduler::main);
      started_jobs_.push_back(entry.job);
      trace_start(entry, choice->nodes);
      return;
    }
    reject(entry);
    const bool waits_for_reservation = has_lost_nodes && could_start_without_reservations(entry);
    wait(entry, waits_for_reservation ? Action::wait_reserved_nodes : Action::wait_resources);
    if (is_in_reservation(entry))
      failed_reservations_.push_back(scenario_.job(entry.job).conditions.reservation);
    else if (!controller_.queue().is_below_reserve_minimums(entry.job, now_second_) &&
             should_wait_for_nodes(entry, *allowed_nodes))
      blocked_.add(entry.partition);
  }

  // True when an earlier job of the entry's reservation could not start.
  bool has_reservation_failed(QueueEntry entry) const {
    return std::find(failed_reservations_.begin(), failed_reservations_.end(),
                     scenario_.job(entry.job).conditions.reservation) != failed_reservations_.end();
  }

  // Whether reservations alone keep the entry from starting now: tested only where reasons are
  // noted, and without an effect on later tests.
  bool could_start_without_reservations(QueueEntry entry) {
    if (!controller_.journal().notes_reasons() || is_in_reservation(entry)) return false;
    const Weights weights = select_.weights();
    const bool could_start = static_cast<bool>(select_.select_now(entry, blocked_.allowed_nodes()));
    select_.restore_weights(weights);
    return could_start;
  }

  // The entry preempts other jobs: it waits for their nodes, and blocks its partition.  Returns
  // whether there are such jobs.
  bool try_preempt(QueueEntry entry, const NodeBits& allowed_nodes) {
    const auto victims = controller_.choose_victims(entry, allowed_nodes, now_second_, select_);
    if (victims.jobs.empty()) return false;
    if (const auto violation =
            controller_.policy().violation_with_nodes(entry, victims.choice.get())) {
      note_limit(entry, *violation);
      return true;
    }
    if (controller_.try_begin_preemption(entry.job, now_second_))
      for (const int job : victims.jobs) controller_.preempt(job, time_);
    wait(entry, Action::wait_resources);
    blocked_.add(entry.partition);
    return true;
  }

  // False when the allowed nodes would not be enough even if no job ran on them.
  bool should_wait_for_nodes(QueueEntry entry, const NodeBits& allowed_nodes) {
    const NodeBits& partition_nodes = scenario_.partition(entry).nodes;
    if (partition_nodes.is_subset_of(allowed_nodes)) return true;
    if (!scenario_.shares_nodes() && !has_reservations_now_) return true;
    NodeBits nodes = partition_nodes;
    nodes &= allowed_nodes;
    const Job& job = scenario_.job(entry);
    if (job.node_set >= 0) nodes &= scenario_.machine().node_sets[job.node_set];
    return nodes.intersects(controller_.allocations().completing_nodes()) ||
           select_.could_run(entry, allowed_nodes);
  }

  // The job does not start in this pass.
  void wait(QueueEntry entry, Action reason) {
    controller_.note_wait(entry.job, time_, reason);
    trace_verdict(entry, verdict_of(reason));
  }

  void note_limit(QueueEntry entry, const LimitRule& rule) {
    controller_.note_limit(entry.job, time_, rule);
    trace_verdict(entry, Verdict::limit);
    if (trace_) trace_->jobs.back().limit = reason_of(rule);
  }

  void trace_verdict(QueueEntry entry, Verdict verdict) {
    if (!trace_) return;
    const double priority = controller_.queue().priority(entry.job);
    trace_->jobs.push_back({{entry.job, entry.partition, priority}, now_second_, {}, verdict});
  }

  void trace_start(QueueEntry entry, const NodeBits& nodes) {
    if (!trace_) return;
    trace_verdict(entry, Verdict::started);
    TracedJob& traced = trace_->jobs.back();
    traced.started_job = entry.job;
    traced.begin = now_second_;
    traced.end = controller_.allocations().expected_end(entry.job);
    traced.nodes = nodes;
  }

  // Later tasks of the entry's array are not tried in this pass.
  void reject(QueueEntry entry) {
    rejected_array_ = scenario_.array_of(entry.job);
    rejected_partition_ = entry.partition;
  }

  ControllerState& controller_;
  Select& select_;
  const Scenario& scenario_;
  const double time_;
  const Second now_second_;
  const bool has_reservations_now_;
  const bool has_reservations_;  // at some time
  BlockedPartitions blocked_;
  NodeBits unreserved_nodes_;  // scratch: nodes that reservations leave the entry
  std::vector<int> started_jobs_;
  std::vector<int> failed_reservations_;  // of which a job could not start
  int rejected_array_ = -1;
  int rejected_partition_ = -1;
  bool has_blocked_entry_ = false;  // where reasons are not noted
  PassTrace* trace_;                // null: no sink wants it
};

PassTrace begin_trace(const ControllerState& controller, double time, bool is_full) {
  PassTrace trace{time, is_full};
  for (const QueueEntry entry : controller.queue().entries())
    trace.queue.push_back({entry.job, entry.partition, controller.queue().priority(entry.job)});
  return trace;
}

}  // namespace

std::vector<int> main_pass(ControllerState& controller, Select& select, double time, bool is_full,
                           TraceSink* trace_sink) {
  if (controller.waits_for_completion(to_second(time))) return {};
  controller.admit(time);
  controller.sort_queue();
  const bool is_traced = trace_sink != nullptr && trace_sink->wants_pass(time);
  PassTrace trace;
  if (is_traced) trace = begin_trace(controller, time, is_full);
  std::vector<int> started_jobs =
      MainPass(controller, select, time, is_traced ? &trace : nullptr).run(is_full);
  if (is_traced) trace_sink->add_pass(std::move(trace));
  if (!started_jobs.empty()) controller.remove_started_jobs();
  return started_jobs;
}

}  // namespace cosched::slurm

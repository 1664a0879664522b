#include "cosched/slurm/plan/backfill_cycle.hpp"

namespace cosched::slurm {
namespace {

// True when PreemptExemptTime keeps some jobs from being preempted for a while.
bool has_exempt_times(const Scenario& scenario) {
  const std::vector<Qos>& qos = scenario.machine().qos;
  return scenario.settings().preempt.exempt_time > 0 ||
         std::any_of(qos.begin(), qos.end(),
                     [](const Qos& each) { return each.preempt_exempt_time > 0; });
}

}  // namespace

bool BackfillCycle::TryKey::operator==(const TryKey& other) const {
  return partition == other.partition && starts_now_or_never == other.starts_now_or_never &&
         now == other.now && slice_number == other.slice_number &&
         node_space_version == other.node_space_version &&
         allocations_version == other.allocations_version &&
         weights_version == other.weights_version;
}

BackfillCycle::BackfillCycle(const Clocks& clocks, ControllerState& controller, Select& select,
                             TraceSink* trace_sink)
    : clocks_(clocks),
      controller_(controller),
      select_(select),
      settings_(controller.scenario.settings().backfill),
      has_exempt_times_(has_exempt_times(controller.scenario)),
      negative_results_(controller.scenario.kind_count()),
      planned_nodes_(controller.scenario.machine().nodes),
      test_counts_(controller.scenario),
      ignored_nodes_(controller.scenario.machine().nodes),
      tracer_(trace_sink),
      unreserved_nodes_(controller.scenario.machine().nodes),
      feature_nodes_(controller.scenario.machine().nodes) {}

// --- the cycle ---

std::vector<int> BackfillCycle::run(double time) {
  cycle_start_ = slice_start_ = time;
  slice_start_second_ = to_second(time);
  jobs_examined_ = 0;
  interrupted_try_.reset();
  next_slice_ = 0;
  ignored_nodes_.clear();
  ++cycle_count_;
  load_slice();
  controller_.journal.cycle(time);
  controller_.admit(time);
  controller_.sort_queue();
  start_count_ = 0;
  cycle_end_ = CycleEnd::end_of_queue;
  tracer_.begin_cycle(static_cast<int>(cycle_count_), time);
  if (is_plan_unchanged(time)) {
    reapply_last_cycle();
    return {};
  }
  clear_planned_mark();
  if (controller_.queue.entries().empty()) {
    last_cycle_ = {};
    tracer_.end_cycle(cycle_end_, time, 0, {});
    return {};
  }
  begin_node_space();
  begin_last_cycle();
  test_counts_.begin_cycle();
  planned_jobs_.clear();
  rejected_array_ = planned_array_ = -1;
  queue_.clear();
  for (const QueueEntry entry : controller_.queue.entries())
    if (!controller_.readiness.is_array_full(entry.job))
      queue_.emplace_back(entry, controller_.queue.priority(entry.job));
  next_entry_ = 0;
  if (tracer_.is_on()) trace_queue();
  return attempt_backfill();
}

void BackfillCycle::trace_queue() {
  std::vector<QueuedJob> entries;
  for (const auto& [entry, priority] : queue_)
    entries.push_back({entry.job, entry.partition, priority});
  tracer_.set_queue(std::move(entries), window_end_);
}

void BackfillCycle::begin_node_space() {
  const Second begin = clocks_.round_down(slice_start_second_, settings_.resolution);
  window_end_ = clocks_.round_down(slice_start_second_ + settings_.window, settings_.resolution);
  next_resolution_step_ = begin + settings_.resolution;
  begin_nodes_ = controller_.allocations.up_nodes();
  node_space_.reset(begin, window_end_, begin_nodes_);
}

void BackfillCycle::begin_last_cycle() {
  last_cycle_ = {};
  last_cycle_.change_count = change_count();
  last_cycle_.weights_before = select_.weights();
  // The plan may change when the limit of a running job passes; a job whose limit has passed is
  // expected to end "now", which is another time in each cycle.
  const std::vector<int>& running = controller_.allocations.running();
  last_cycle_.valid_until =
      running.empty()
          ? kNever
          : std::max(slice_start_second_, controller_.allocations.expected_end(running.front()));
}

double BackfillCycle::duration() const {
  if (slice_) return slice_->end_time - cycle_start_;
  return clocks_.cycle_cost + last_cycle_.job_test_count * clocks_.test_cost +
         start_count_ * clocks_.start_cost;
}

std::vector<int> BackfillCycle::attempt_backfill() {
  started_jobs_.clear();
  Second now = slice_start_second_;
  for (; next_entry_ < queue_.size(); ++next_entry_) {
    if (ends_slice_here()) {
      yield_locks();
      break;
    }
    const QueueEntry entry = queue_[next_entry_].first;
    if (last_cycle_.job_test_count >= settings_.max_job_test) {
      cycle_end_ = CycleEnd::max_job_test;
      break;
    }
    now = to_second(current_time());
    if (!slice_ && now - slice_start_second_ >= settings_.max_time) {
      cycle_end_ = CycleEnd::max_time;
      break;
    }
    const int examined_before = jobs_examined_;
    tracer_.begin_job({entry.job, entry.partition, controller_.queue.priority(entry.job)}, now);
    const std::optional<Verdict> skip_verdict = count_and_skip(entry);
    Second retry_from = 0;
    if (jobs_examined_ > examined_before && interrupted_try_) {
      if (interrupted_try_->entry == entry) retry_from = interrupted_try_->retry_from;
      interrupted_try_.reset();
    }
    if (retry_from == 0) restore_priority();
    if (skip_verdict) {
      if (skip_verdict == Verdict::limit)
        trace_limit(controller_.policy.violation_before_nodes(entry));
      tracer_.end_job(*skip_verdict);
      continue;
    }
    const TryOutcome outcome = try_job(entry, now, retry_from);
    tracer_.end_job(outcome.verdict);
    last_cycle_.valid_until = std::min(last_cycle_.valid_until, outcome.valid_until);
    if (outcome.has_started) ++start_count_;
    if (outcome.action == LoopAction::stop_cycle) {
      cycle_end_ = CycleEnd::node_space_size;
      break;
    }
    if (outcome.has_started && settings_.max_job_start && start_count_ >= settings_.max_job_start) {
      cycle_end_ = CycleEnd::max_job_start;
      break;
    }
  }
  finish_slice(now);
  return started_jobs_;
}

void BackfillCycle::finish_slice(Second now) {
  if (!started_jobs_.empty())
    controller_.queue.remove_if([&](int job) { return controller_.allocations.has_started(job); });
  controller_.queue.resort_if_restored();
  if (has_yielded()) return;
  tracer_.end_cycle(cycle_end_, cycle_start_ + duration(), last_cycle_.job_test_count, node_space_);
  last_cycle_.weights_after = select_.weights();
  keep_planned_mark(now);
  if (slice_ || now > slice_start_second_ || controller_.reservations.has_any(slice_start_))
    last_cycle_.valid_until = slice_start_second_;
}

// --- slices: what a recorded cycle did between two yields of its locks ---

void BackfillCycle::load_slice() {
  slice_ = nullptr;
  ++slices_run_;
  jobs_examined_before_slice_ = jobs_examined_;
  if (cycle_count_ > clocks_.slices.size()) return;
  const std::vector<Slice>& slices = clocks_.slices[cycle_count_ - 1];
  if (next_slice_ >= slices.size()) return;
  slice_ = &slices[next_slice_];
  ++next_slice_;
}

std::vector<int> BackfillCycle::resume() {
  load_slice();
  slice_start_ = std::exchange(resume_time_, kInfinity);
  slice_start_second_ = to_second(slice_start_);
  // Nodes that went down meanwhile are no nodes for plans: the node space still has them.
  NodeBits gone_nodes = begin_nodes_;
  gone_nodes -= controller_.allocations.up_nodes();
  ignored_nodes_ |= gone_nodes;
  return attempt_backfill();
}

void BackfillCycle::on_epilog_complete(const NodeBits& nodes) {
  if (!has_yielded()) return;
  ignored_nodes_ |= nodes;
  ignored_nodes_ -= controller_.allocations.completing_nodes();
}

// True when the recorded slice is used up: the cycle yields its locks here, or stops.
bool BackfillCycle::ends_slice_here() const {
  return slice_ && !std::isnan(slice_->resume_time) && jobs_examined_ >= slice_->jobs_examined;
}

void BackfillCycle::yield_locks() {
  resume_time_ = slice_->resume_time;
  interrupted_try_.reset();
  if (slice_->ends_mid_job) interrupted_try_ = next_interrupted_try();
  if (has_yielded())
    tracer_.add_yield({slice_->end_time, resume_time_, jobs_examined_});
  else
    cycle_end_ = CycleEnd::gave_up;
}

// The next job and the time at which it is tried again, where its first try does not decide.
std::optional<BackfillCycle::InterruptedTry> BackfillCycle::next_interrupted_try() {
  const Second now = to_second(slice_->end_time);
  for (std::size_t k = next_entry_; k < queue_.size(); ++k) {
    const QueueEntry entry = queue_[k].first;
    if (ineligibility(entry) || is_array_rejected(entry)) continue;
    if (controller_.readiness.is_array_full(entry.job) ||
        !controller_.licences.are_available(entry.job))
      break;
    const TryOutcome outcome = try_job(entry, now, 0, true);
    if (outcome.action != LoopAction::stop_cycle) return std::nullopt;
    return InterruptedTry{entry, outcome.valid_until};
  }
  return std::nullopt;
}

// The simulated time at which the next job is tried.
double BackfillCycle::current_time() const {
  if (!slice_) return slice_start_ + last_cycle_.job_test_count * clocks_.test_cost;
  const int slice_jobs = std::max(1, slice_->jobs_examined - jobs_examined_before_slice_);
  const double part =
      static_cast<double>(jobs_examined_ - jobs_examined_before_slice_) / slice_jobs;
  return slice_start_ + std::min(part, 1.0) * (slice_->end_time - slice_start_);
}

// --- the last cycle ---

std::int64_t BackfillCycle::change_count() const {
  return controller_.allocations.change_count() + controller_.queue.change_count();
}

Second BackfillCycle::second_after_tests(int tests) const {
  return to_second(slice_start_ + tests * clocks_.test_cost);
}

bool BackfillCycle::is_plan_unchanged(double time) const {
  const bool is_silent = !controller_.journal.notes_plans() &&
                         !controller_.journal.notes_reasons() && !tracer_.is_on();
  return is_silent && change_count() == last_cycle_.change_count &&
         to_second(time) < last_cycle_.valid_until &&
         second_after_tests(last_cycle_.job_test_count) <= slice_start_second_ &&
         select_.weights() == last_cycle_.weights_before;
}

// The side effects of a cycle that would make the last plan again.
void BackfillCycle::reapply_last_cycle() {
  select_.restore_weights(last_cycle_.weights_after);
  if (last_cycle_.has_deferred_start) controller_.updates.last_job_update = slice_start_second_;
  if (planned_nodes_.any() || last_cycle_.marks_allocated_nodes)
    controller_.updates.last_node_update = slice_start_second_;
}

void BackfillCycle::clear_planned_mark() {
  if (!planned_nodes_.any()) return;
  planned_nodes_.clear();
  controller_.updates.last_node_update = slice_start_second_;
}

void BackfillCycle::keep_planned_mark(Second now) {
  const Allocations& allocations = controller_.allocations;
  const bool is_24_11 = controller_.scenario.settings().is_24_11;
  // 24.11 takes the mark off allocated nodes again, and that is a change of nodes.
  last_cycle_.marks_allocated_nodes = is_24_11 && planned_nodes_.any();
  if (last_cycle_.marks_allocated_nodes) controller_.updates.last_node_update = now;
  planned_nodes_ -= allocations.busy_nodes();
  if (controller_.scenario.shares_nodes() && !is_24_11)
    for (const int job : allocations.running()) planned_nodes_ -= allocations.nodes(job);
  if (planned_nodes_.any()) controller_.updates.last_node_update = now;
}

// --- the queue ---

int BackfillCycle::array_of_entry(std::size_t index) const {
  return index < queue_.size() ? controller_.scenario.array_of(queue_[index].first.job) : -1;
}

// The job that starts in place of the next entry.  Of an array that is the first pending task like
// it, although that task may have a plan.
int BackfillCycle::first_pending_task() const {
  const Scenario& scenario = controller_.scenario;
  const int array = array_of_entry(next_entry_);
  const QueueEntry next = queue_[next_entry_].first;
  std::size_t first = next_entry_;
  for (std::size_t k = next_entry_; array >= 0 && k > 0 && array_of_entry(k - 1) == array; --k) {
    const QueueEntry entry = queue_[k - 1].first;
    const bool is_like_next =
        entry.partition == next.partition && scenario.job(entry).kind == scenario.job(next).kind;
    if (is_like_next && !controller_.allocations.has_started(entry.job)) first = k - 1;
  }
  return queue_[first].first.job;
}

// Priorities that a pass has changed since the cycle began are undone: of an array, which is one
// record of Slurm's queue, for all tasks at once.
void BackfillCycle::restore_priority() {
  const int array = array_of_entry(next_entry_);
  if (array < 0) {
    controller_.queue.set_priority(queue_[next_entry_].first.job, queue_[next_entry_].second);
    return;
  }
  if (next_entry_ > 0 && array_of_entry(next_entry_ - 1) == array) return;
  for (std::size_t k = next_entry_; array_of_entry(k) == array; ++k)
    controller_.queue.set_priority(queue_[k].first.job, queue_[k].second);
}

// Why the cycle does not look at the job, whatever nodes there are: it has started in another
// partition or waits for its victims, or is over a limit.  None: the cycle looks at it.
std::optional<Verdict> BackfillCycle::ineligibility(QueueEntry entry) const {
  if (controller_.allocations.has_started(entry.job)) return Verdict::started_elsewhere;
  if (controller_.preemption.is_in_progress(entry.job)) return Verdict::preempting;
  if (controller_.policy.violation_before_nodes(entry)) return Verdict::limit;
  return std::nullopt;
}

// True after a task of the same array, in the same partition, that has neither start nor plan.
bool BackfillCycle::is_array_rejected(QueueEntry entry) const {
  const int array = controller_.scenario.array_of(entry.job);
  return array >= 0 && rejected_array_ == array && rejected_partition_ == entry.partition;
}

// Counts the job as examined, unless the cycle does not look at it.  Why the job is not tried: the
// cycle does not look at it, or licences are out, or %n tasks of its array run.  None: it is tried.
std::optional<Verdict> BackfillCycle::count_and_skip(QueueEntry entry) {
  if (const std::optional<Verdict> verdict = ineligibility(entry)) return verdict;
  if (is_array_rejected(entry)) return Verdict::array_rejected;
  if (const int array = controller_.scenario.array_of(entry.job); array >= 0) {
    rejected_array_ = array;  // until this task starts or has a plan
    rejected_partition_ = entry.partition;
  }
  ++jobs_examined_;
  if (controller_.readiness.is_array_full(entry.job)) return Verdict::array_full;
  if (!controller_.licences.are_available(entry.job)) return Verdict::licenses;
  return std::nullopt;
}

void BackfillCycle::trace_limit(AccountingPolicy::Violation violation) {
  if (tracer_.is_on()) tracer_.set_limit(reason_of(*violation));
}

// --- one job ---

// In a dry run nothing is started or planned; `stop_cycle` then means that the job would be tried
// again, from `valid_until` on.
BackfillCycle::TryOutcome BackfillCycle::try_job(QueueEntry entry, Second now, Second retry_from,
                                                 bool is_dry_run) {
  JobTry attempt = make_try(entry, now, retry_from, is_dry_run);
  const bool may_test = is_dry_run ? test_counts_.can_test(attempt.job, entry.partition)
                                   : test_counts_.try_count_test(attempt.job, entry.partition);
  if (!may_test)
    return {LoopAction::continue_queue, false, attempt.valid_until, Verdict::max_job_limit};
  if (attempt.negative_result && replay_negative_result(attempt))
    return {LoopAction::continue_queue, false, attempt.negative_result->valid_until,
            attempt.negative_result->verdict};
  const bool is_24_11 = controller_.scenario.settings().is_24_11;
  for (Second from = std::max(now, retry_from);;) {
    if (is_dry_run && from > now) return {LoopAction::stop_cycle, false, from, Verdict::no_begin};
    const std::optional<AvailableNodes> available = nodes_at(attempt, from);
    if (!available) return reject(attempt, Verdict::no_begin);
    Select::Slot slot = earliest_slot(attempt, *available);
    if (!is_dry_run)
      tracer_.add_test(available->from, available->later_start, *available->nodes, slot.begin,
                       slot.nodes.get());
    if (is_dry_run && slot.begin <= std::min(now, available->later_start))
      return {LoopAction::continue_queue, false, attempt.valid_until, Verdict::started};
    // A slot of now, or of a second later (after a job past its limit, or on a completing node), is
    // another one in each second.
    if (slot.begin <= now + 1) attempt.valid_until = std::min(attempt.valid_until, now);
    // RULES.md 12.3: 24.11 tests a later slot against the node space before all else.
    const bool tests_overlap_first = is_24_11 && slot.begin > now && slot.begin < kNever;
    Second later_start = available->later_start;
    if (slot.begin <= now) {
      const std::optional<TryOutcome> outcome = start_now(attempt, *available, slot);
      if (outcome) return *outcome;
      later_start = kNever;
    }
    const Classification classification = classify(attempt, slot, later_start, tests_overlap_first);
    switch (classification.kind) {
      case Classification::Kind::retry_later:
        if (!is_dry_run) tracer_.set_next_test(classification.next_test);
        from = classification.retry_from;
        break;
      case Classification::Kind::reject:
        return reject(attempt, classification.verdict, classification.node_count);
      case Classification::Kind::reserve:
        return reserve(attempt, slot);
    }
  }
}

BackfillCycle::JobTry BackfillCycle::make_try(QueueEntry entry, Second now, Second retry_from,
                                              bool is_dry_run) {
  const Scenario& scenario = controller_.scenario;
  const Job& job = scenario.job(entry);
  // Where the age of a job matters for its reservation, every second matters.
  const Second valid_until = scenario.settings().reservation_minimums.min_age > 0 ? now : kNever;
  JobTry attempt{entry, job, now, job.limit, valid_until, is_dry_run};
  const bool may_preempt_others = !preempted_by(scenario, entry).empty();
  // That a job is not exempt from preemption any more is no change that is counted.
  if (may_preempt_others && has_exempt_times_) attempt.valid_until = now;
  attempt.has_no_reserve = job.qos >= 0 && scenario.machine().qos[job.qos].no_reserve;
  // A job without a reservation only asks whether it can start; where jobs are preempted, it is
  // tested with a limit of a minute.
  if (attempt.has_no_reserve && controller_.preemption.is_enabled()) attempt.limit = 60;
  const bool has_plan =
      settings_.one_resv_per_job &&
      std::find(planned_jobs_.begin(), planned_jobs_.end(), entry.job) != planned_jobs_.end();
  attempt.starts_now_or_never = controller_.queue.holds_back(entry.job, now) || has_plan;
  attempt.depends_on_reservations =
      job.conditions.reservation >= 0 || controller_.reservations.has_any(slice_start_);
  attempt.key = {entry.partition,
                 attempt.starts_now_or_never,
                 now,
                 slices_run_,
                 node_space_.change_count(),
                 controller_.allocations.version(),
                 select_.weights_version()};
  const bool is_decided_by_kind = !is_dry_run && retry_from == 0 && job.request.gpus == 0 &&
                                  select_.remembers_answers() && !may_preempt_others &&
                                  !tracer_.is_on();
  if (is_decided_by_kind) attempt.negative_result = &negative_results_[job.kind];
  return attempt;
}

// Where the last job of its kind got no plan under the same conditions, this one gets none either:
// the side effects of that try are repeated.
bool BackfillCycle::replay_negative_result(const JobTry& attempt) {
  const NegativeResult& last = *attempt.negative_result;
  if (!(last.key == attempt.key)) return false;
  if (last.node_count > 0 &&
      !controller_.policy.violation_with_nodes(attempt.entry, last.node_count))
    return false;
  if (last.is_counted) ++last_cycle_.job_test_count;
  if (last.has_found_nodes) controller_.queue.mark_tested(attempt.entry.job);
  if (last.has_deferred_start) {
    controller_.updates.last_job_update = attempt.now;
    last_cycle_.has_deferred_start = true;
  }
  return true;
}

// Step 1: the nodes that no reservation takes from the job if it begins at `from`; none: it cannot
// begin then or later.
std::optional<BackfillCycle::AvailableNodes> BackfillCycle::nodes_at(JobTry& attempt, Second from) {
  const Scenario& scenario = controller_.scenario;
  const bool is_24_11 = scenario.settings().is_24_11;
  const NodeBits* allowed_nodes = &scenario.partition(attempt.entry).nodes;
  Second reservation_end = 0;
  if (attempt.depends_on_reservations) {
    unreserved_nodes_ = *allowed_nodes;
    allowed_nodes = &unreserved_nodes_;
    const Reservations::RemainingNodes remaining = controller_.reservations.remove_reserved(
        attempt.entry, from, true, slice_start_, unreserved_nodes_);
    if (!remaining.can_run) return std::nullopt;
    from = remaining.earliest;
    if (remaining.has_lost_nodes)
      reservation_end = controller_.reservations.next_end(from, settings_.resolution, clocks_.epoch,
                                                          slice_start_);
  }
  if (ignored_nodes_.any()) {
    if (allowed_nodes != &unreserved_nodes_) unreserved_nodes_ = *allowed_nodes;
    unreserved_nodes_ -= ignored_nodes_;
    allowed_nodes = &unreserved_nodes_;
  }
  if (is_24_11 && from > window_end_) return std::nullopt;
  const NodeSpace::Window window =
      node_space_.find_window(*allowed_nodes, attempt.job.nodes, from, attempt.limit, is_24_11);
  if (from == attempt.now) attempt.valid_until = std::min(attempt.valid_until, window.valid_until);
  AvailableNodes available{from, window.nodes.get(), window.later_start};
  // More nodes are available a second after a reservation ends (RULES.md 10.3).
  if (reservation_end > 0 && reservation_end + 1 < window_end_)
    available.later_start = std::min(available.later_start, reservation_end + 1);
  if (attempt.job.node_set >= 0) {
    feature_nodes_ = *window.nodes;
    feature_nodes_ &= scenario.machine().node_sets[attempt.job.node_set];
    available.nodes = &feature_nodes_;
  }
  return available;
}

// Step 2: when the job can begin on these nodes, given the running jobs and their limits.
Select::Slot BackfillCycle::earliest_slot(JobTry& attempt, const AvailableNodes& available) {
  Select::Slot slot{kNever, {}};
  if (available.nodes->has_at_least(attempt.job.nodes)) {
    if (!attempt.is_counted && !attempt.is_dry_run) ++last_cycle_.job_test_count;
    attempt.is_counted = true;
    const std::optional<Select::Slot> answer =
        will_run(attempt.entry, *available.nodes,
                 {attempt.now, attempt.starts_now_or_never, available.from, available.later_start});
    if (answer) {
      slot = *answer;
      attempt.has_found_nodes = true;
      if (!attempt.is_dry_run) controller_.queue.mark_tested(attempt.entry.job);
    }
  }
  if (available.from > slot.begin) {
    slot.begin = available.from;
    controller_.updates.last_job_update = attempt.now;
    last_cycle_.has_deferred_start = true;
    attempt.has_deferred_start = true;
  }
  return slot;
}

// Step 3 of a job that can begin now: it starts.  None: it does not, and may have a plan; where a
// node of its slot is completing, the slot begins a second later.
std::optional<BackfillCycle::TryOutcome> BackfillCycle::start_now(JobTry& attempt,
                                                                  const AvailableNodes& available,
                                                                  Select::Slot& slot) {
  attempt.negative_result = nullptr;  // whether a job starts is not decided by its kind
  if (slot.nodes->intersects(controller_.allocations.completing_nodes())) {
    slot.begin = attempt.now + 1;
    return std::nullopt;
  }
  const StartResult result = start(attempt.entry, *available.nodes);
  if (result == StartResult::no_nodes) return std::nullopt;
  const bool has_started = result == StartResult::started;
  return TryOutcome{LoopAction::continue_queue, has_started, attempt.valid_until,
                    has_started ? Verdict::started : Verdict::limit};
}

// Step 3 of a job that does not start now.
BackfillCycle::Classification BackfillCycle::classify(JobTry& attempt, const Select::Slot& slot,
                                                      Second later_start,
                                                      bool tests_overlap_first) {
  using Kind = Classification::Kind;
  const bool is_later = slot.begin > attempt.now;
  const auto reject_because = [](Verdict verdict, int node_count = 0) {
    return Classification{Kind::reject, 0, NextTest::none, verdict, node_count};
  };
  if (tests_overlap_first && !is_free_in_node_space(slot, attempt.limit))
    return {Kind::retry_later, slot.begin, NextTest::after_overlap};
  if (is_later && attempt.starts_now_or_never) return reject_because(Verdict::starts_now_or_never);
  if (slot.begin > later_start) return {Kind::retry_later, later_start, NextTest::at_later_start};
  if (slot.begin == kNever) return reject_because(Verdict::no_nodes);
  if (slot.begin > slice_start_second_ + settings_.window) {
    attempt.valid_until = std::min(attempt.valid_until, slot.begin - settings_.window);
    return reject_because(Verdict::after_window);
  }
  if (is_later && !tests_overlap_first && !is_free_in_node_space(slot, attempt.limit))
    return {Kind::retry_later, slot.begin, NextTest::after_overlap};
  if (attempt.is_dry_run || attempt.has_no_reserve) return reject_because(Verdict::no_reserve);
  const int node_count = slot.nodes->count();
  if (const auto violation = controller_.policy.violation_with_nodes(attempt.entry, node_count)) {
    trace_limit(violation);
    return reject_because(Verdict::limit, node_count);
  }
  return {Kind::reserve};
}

// Step 4 of a job that gets neither start nor plan.
BackfillCycle::TryOutcome BackfillCycle::reject(const JobTry& attempt, Verdict verdict,
                                                int node_count) {
  if (attempt.negative_result)
    *attempt.negative_result = {attempt.key,
                                attempt.is_counted,
                                attempt.has_found_nodes,
                                attempt.has_deferred_start,
                                node_count,
                                attempt.valid_until,
                                verdict};
  return {LoopAction::continue_queue, false, attempt.valid_until, verdict};
}

// Step 4 of a job that gets a plan: its nodes are taken out of the node space for its time.
BackfillCycle::TryOutcome BackfillCycle::reserve(const JobTry& attempt, const Select::Slot& slot) {
  const Second begin = clocks_.round_down(slot.begin, settings_.resolution);
  const Second end = end_of_plan(slot.begin, attempt.limit);
  Second valid_until = attempt.valid_until;
  controller_.journal.plan(attempt.entry, cycle_start_, slot.begin, end, *slot.nodes);
  planned_nodes_ |= *slot.nodes;
  tracer_.set_nodes(attempt.entry.job, slot.begin, end, *slot.nodes);
  if (node_space_.records_created() >= settings_.node_space_size)
    return {LoopAction::stop_cycle, false, valid_until, Verdict::node_space_full};
  // A later cycle cuts this plan at its own begin and at the end of its window: the plan is the same
  // until the rounded begin passes that of the plan, or the end of the window passes its end.
  if (end + settings_.resolution >= window_end_)
    valid_until = std::min({valid_until, next_resolution_step_,
                            window_end_ + settings_.resolution - settings_.window});
  valid_until = std::min(valid_until, std::max(begin, next_resolution_step_));
  node_space_.reserve(*slot.nodes, begin, end, settings_.resolution);
  if (settings_.one_resv_per_job) planned_jobs_.push_back(attempt.entry.job);
  allow_next_task(attempt.entry.job);
  return {LoopAction::continue_queue, false, valid_until, Verdict::reserved};
}

bool BackfillCycle::is_free_in_node_space(const Select::Slot& slot, Second limit) const {
  const Second begin = clocks_.round_down(slot.begin, settings_.resolution);
  return node_space_.is_free(*slot.nodes, begin, end_of_plan(slot.begin, limit));
}

// When a plan ends: 22.05 rounds down, 24.11 up.
Second BackfillCycle::end_of_plan(Second begin, Second limit) const {
  const Second resolution = settings_.resolution;
  const Second rounding = controller_.scenario.settings().is_24_11 ? resolution - 1 : 0;
  return clocks_.round_down(begin + limit + rounding, resolution);
}

// --- starts and preemption ---

// Starts the job on nodes that are chosen anew among the idle ones.  A limit is tested whether there
// are enough of them or not.
BackfillCycle::StartResult BackfillCycle::start(QueueEntry entry, const NodeBits& available_nodes) {
  const Loan<NodeChoice> choice = select_.select_now(entry, available_nodes);
  if (const auto violation = controller_.policy.violation_with_nodes(entry, choice.get())) {
    trace_limit(violation);
    return StartResult::over_limit;
  }
  if (!choice) {
    preempt(entry, available_nodes);
    return StartResult::no_nodes;
  }
  entry.job = first_pending_task();
  controller_.start(entry, *choice, slice_start_, Scheduler::backfill);
  started_jobs_.push_back(entry.job);
  if (tracer_.is_on())
    tracer_.set_nodes(entry.job, to_second(slice_start_),
                      controller_.allocations.expected_end(entry.job), choice->nodes);
  rejected_array_ = -1;
  const Scenario& scenario = controller_.scenario;
  const bool has_whole_nodes = scenario.shares_nodes()
                                   ? scenario.job(entry.job).request.is_exclusive
                                   : scenario.settings().select.cons_tres;
  if (has_whole_nodes && node_space_.records_created() < settings_.node_space_size) {
    const Allocations& allocations = controller_.allocations;
    node_space_.reserve(allocations.nodes(entry.job), node_space_.begin(),
                        end_of_plan(allocations.expected_end(entry.job), 0), settings_.resolution);
  }
  return StartResult::started;
}

// Where the job does not fit now, jobs that it may preempt count as ended.
std::optional<Select::Slot> BackfillCycle::will_run(QueueEntry entry,
                                                    const NodeBits& available_nodes,
                                                    const Select::StartWindow& window) {
  std::vector<int> candidates = controller_.preemption.candidates(entry, window.now);
  if (candidates.empty()) return select_.will_run(entry, available_nodes, window);
  Select::StartWindow now_or_never = window;
  now_or_never.starts_now_or_never = true;
  if (const auto slot = select_.will_run(entry, available_nodes, now_or_never)) return slot;
  const Preemption::ScopedHidden hidden(controller_.preemption, std::move(candidates));
  return select_.will_run(entry, available_nodes, window);
}

void BackfillCycle::preempt(QueueEntry entry, const NodeBits& available_nodes) {
  const Second now = to_second(slice_start_);
  const auto victims = controller_.preemption.choose_victims(entry, available_nodes, now, select_);
  if (victims.jobs.empty() || controller_.policy.violation_with_nodes(entry, victims.choice.get()))
    return;
  if (!controller_.preemption.try_begin_preemption(entry.job, now)) return;
  for (const int job : victims.jobs) controller_.preempt(job, slice_start_);
}

// After a plan for a task, the next task of its array is tried, too, as long as
// bf_max_job_array_resv (and %n, since 24.11) allow it.
void BackfillCycle::allow_next_task(int job) {
  const Conditions& conditions = controller_.scenario.job(job).conditions;
  if (conditions.array < 0) return;
  if (planned_array_ != conditions.array) array_plan_count_ = 0;
  planned_array_ = conditions.array;
  ++array_plan_count_;
  const int running_tasks = controller_.readiness.running_tasks(job);
  const bool is_full = controller_.scenario.settings().is_24_11 && conditions.array_limit > 0 &&
                       array_plan_count_ + running_tasks >= conditions.array_limit;
  if (array_plan_count_ < settings_.max_job_array_resv && !is_full) rejected_array_ = -1;
}

}  // namespace cosched::slurm

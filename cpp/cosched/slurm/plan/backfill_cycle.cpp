#include "cosched/slurm/plan/backfill_cycle.hpp"

namespace cosched::slurm {

BackfillCycle::BackfillCycle(const Clocks& clocks, ControllerState& controller, Select& select,
                             TraceSink* trace_sink)
    : clocks_(clocks),
      controller_(controller),
      select_(select),
      settings_(controller.scenario().settings().backfill),
      memory_(clocks, controller, select, select.remembers_answers()),
      planned_nodes_(controller.scenario().machine().nodes),
      test_counts_(controller.scenario()),
      ignored_nodes_(controller.scenario().machine().nodes),
      tracer_(trace_sink),
      unreserved_nodes_(controller.scenario().machine().nodes),
      feature_nodes_(controller.scenario().machine().nodes) {}

// --- the cycle ---

std::vector<int> BackfillCycle::run(double time) {
  cycle_start_ = time;
  jobs_examined_ = 0;
  interrupted_try_.reset();
  ignored_nodes_.clear();
  ++cycle_count_;
  cycle_clock_ = make_cycle_clock(clocks_, cycle_count_);
  begin_slice(time);
  controller_.note_cycle(time);
  controller_.admit(time);
  controller_.sort_queue();
  start_count_ = 0;
  cycle_end_ = CycleEnd::end_of_queue;
  tracer_.begin_cycle(static_cast<int>(cycle_count_), time);
  if (!tracer_.is_on() && memory_.is_plan_unchanged(time, job_test_count_)) {
    memory_.reapply_last_cycle(slice_start_second_, planned_nodes_.any());
    return {};
  }
  job_test_count_ = 0;
  clear_planned_mark();
  if (controller_.queue().entries().empty()) {
    memory_.forget_last_cycle();
    tracer_.end_cycle(cycle_end_, time, 0, {});
    return {};
  }
  begin_node_space();
  memory_.begin_cycle(slice_start_second_, window_end_, !tracer_.is_on());
  test_counts_.begin_cycle();
  planned_jobs_.clear();
  rejected_array_ = -1;
  planned_array_ = -1;
  queue_.clear();
  for (const QueueEntry entry : controller_.queue().entries())
    if (!controller_.readiness().is_array_full(entry.job))
      queue_.push_back({entry, controller_.queue().priority(entry.job)});
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
  begin_nodes_ = controller_.allocations().up_nodes();
  node_space_.reset(begin, window_end_, begin_nodes_);
}

double BackfillCycle::duration() const { return cycle_clock_->duration(cycle_start_, progress()); }

std::vector<int> BackfillCycle::attempt_backfill() {
  started_jobs_.clear();
  Second now = slice_start_second_;
  for (; next_entry_ < queue_.size(); ++next_entry_) {
    if (const Slice* slice = cycle_clock_->ending_slice(progress())) {
      yield_locks(*slice);
      break;
    }
    const QueueEntry entry = queue_[next_entry_].entry;
    if (job_test_count_ >= settings_.max_job_test) {
      cycle_end_ = CycleEnd::max_job_test;
      break;
    }
    now = to_second(cycle_clock_->current_time(progress()));
    if (cycle_clock_->has_reached_max_time(now - slice_start_second_, settings_.max_time)) {
      cycle_end_ = CycleEnd::max_time;
      break;
    }
    const int examined_before = jobs_examined_;
    const std::optional<Verdict> skip_verdict = count_and_skip(entry);
    Second retry_from = 0;
    if (jobs_examined_ > examined_before && interrupted_try_) {
      if (interrupted_try_->entry == entry) retry_from = interrupted_try_->retry_from;
      interrupted_try_.reset();
    }
    if (retry_from == 0) restore_priority();
    tracer_.begin_job({entry.job, entry.partition, controller_.queue().priority(entry.job)}, now);
    if (skip_verdict) {
      if (skip_verdict == Verdict::limit)
        trace_limit(controller_.policy().violation_before_nodes(entry));
      tracer_.end_job(*skip_verdict);
      continue;
    }
    TryOutcome outcome{LoopAction::continue_queue, Verdict::max_job_limit};
    if (test_counts_.try_count_against_bf_max_job_limits(controller_.scenario().job(entry),
                                                         entry.partition))
      outcome = recall_or_try(entry, now, retry_from);
    tracer_.end_job(outcome.verdict);
    const bool has_started = outcome.verdict == Verdict::started;
    if (has_started) ++start_count_;
    if (outcome.action == LoopAction::stop_cycle) {
      cycle_end_ = CycleEnd::node_space_size;
      break;
    }
    if (has_started && settings_.max_job_start && start_count_ >= settings_.max_job_start) {
      cycle_end_ = CycleEnd::max_job_start;
      break;
    }
  }
  finish_slice(now);
  return started_jobs_;
}

void BackfillCycle::finish_slice(Second now) {
  if (!started_jobs_.empty()) controller_.remove_started_jobs();
  controller_.resort_queue();
  if (has_yielded()) return;
  tracer_.end_cycle(cycle_end_, cycle_start_ + duration(), job_test_count_, node_space_);
  const bool marks_allocated_nodes = keep_planned_mark(now);
  const bool can_differ_next_cycle = cycle_clock_->is_recorded() || now > slice_start_second_ ||
                                     controller_.reservations().has_existing(slice_start_);
  memory_.end_cycle(slice_start_second_, can_differ_next_cycle, marks_allocated_nodes);
}

// --- slices: parts of a cycle, between which it yields its locks ---

void BackfillCycle::begin_slice(double time) {
  ++slices_run_;
  slice_start_ = time;
  slice_start_second_ = to_second(time);
  cycle_clock_->begin_slice(time, progress());
}

std::vector<int> BackfillCycle::resume() {
  begin_slice(resume_time_);
  resume_time_ = kInfinity;
  // Nodes that went down meanwhile are no nodes for reservations: the node space still has them.
  NodeBits gone_nodes = begin_nodes_;
  gone_nodes -= controller_.allocations().up_nodes();
  ignored_nodes_ |= gone_nodes;
  return attempt_backfill();
}

void BackfillCycle::on_epilog_complete(const NodeBits& nodes) {
  if (!has_yielded()) return;
  ignored_nodes_ |= nodes;
  ignored_nodes_ -= controller_.allocations().completing_nodes();
}

// The slice ends: the cycle yields its locks, or gives up.
void BackfillCycle::yield_locks(const Slice& slice) {
  yield_time_ = slice.end_time;
  resume_time_ = slice.resume_time;
  interrupted_try_.reset();
  if (slice.ends_mid_job) interrupted_try_ = next_interrupted_try(to_second(slice.end_time));
  if (has_yielded())
    tracer_.add_yield({yield_time_, resume_time_, jobs_examined_});
  else
    cycle_end_ = CycleEnd::gave_up;
}

// The next job and the time at which it is tried again, where its first try does not decide.
std::optional<BackfillCycle::InterruptedTry> BackfillCycle::next_interrupted_try(Second now) {
  for (std::size_t k = next_entry_; k < queue_.size(); ++k) {
    const QueueEntry entry = queue_[k].entry;
    if (ineligibility(entry) || is_array_rejected(entry)) continue;
    if (controller_.readiness().is_array_full(entry.job) ||
        !controller_.licences().are_available(entry.job))
      break;
    JobTry attempt = make_try(entry, now, true);
    if (!test_counts_.can_test(attempt.job, entry.partition)) return std::nullopt;
    const TryOutcome outcome = try_job(attempt, 0);
    if (outcome.action != LoopAction::retry_job) return std::nullopt;
    return InterruptedTry{entry, outcome.begin};
  }
  return std::nullopt;
}

// --- the mark PLANNED ---

void BackfillCycle::clear_planned_mark() {
  if (!planned_nodes_.any()) return;
  planned_nodes_.clear();
  controller_.note_node_change(slice_start_second_);
}

// Idle nodes of reservations keep the mark.  Returns true where 24.11 had marked nodes: clearing
// the mark counts as a node change.
bool BackfillCycle::keep_planned_mark(Second now) {
  const Allocations& allocations = controller_.allocations();
  const bool is_24_11 = controller_.scenario().settings().is_24_11;
  const bool marks_allocated_nodes = is_24_11 && planned_nodes_.any();
  if (marks_allocated_nodes) controller_.note_node_change(now);
  planned_nodes_ -= allocations.busy_nodes();
  if (controller_.scenario().shares_nodes() && !is_24_11)
    for (const int job : allocations.running_jobs()) planned_nodes_ -= allocations.nodes(job);
  if (planned_nodes_.any()) controller_.note_node_change(now);
  return marks_allocated_nodes;
}

// --- the queue ---

int BackfillCycle::array_of_entry(std::size_t index) const {
  return index < queue_.size() ? controller_.scenario().array_of(queue_[index].entry.job) : -1;
}

// The job that starts in place of the next entry.  Of an array that is the first pending task like
// it, although that task may have a reservation.
int BackfillCycle::first_pending_task() const {
  const Scenario& scenario = controller_.scenario();
  const int array = array_of_entry(next_entry_);
  const QueueEntry next = queue_[next_entry_].entry;
  std::size_t first = next_entry_;
  for (std::size_t k = next_entry_; array >= 0 && k > 0 && array_of_entry(k - 1) == array; --k) {
    const QueueEntry entry = queue_[k - 1].entry;
    const bool is_like_next =
        entry.partition == next.partition && scenario.job(entry).kind == scenario.job(next).kind;
    if (is_like_next && !controller_.allocations().has_started(entry.job)) first = k - 1;
  }
  return queue_[first].entry.job;
}

// Priorities that a pass has changed since the cycle began are undone: of an array, which is one
// record of Slurm's queue, for all tasks at once.
void BackfillCycle::restore_priority() {
  const int array = array_of_entry(next_entry_);
  if (array < 0) {
    controller_.restore_priority(queue_[next_entry_].entry.job, queue_[next_entry_].priority);
    return;
  }
  if (next_entry_ > 0 && array_of_entry(next_entry_ - 1) == array) return;
  for (std::size_t k = next_entry_; array_of_entry(k) == array; ++k)
    controller_.restore_priority(queue_[k].entry.job, queue_[k].priority);
}

// Why the cycle does not look at the job, whatever nodes there are: it has started in another
// partition or waits for its victims, or is over a limit.  None: the cycle looks at it.
std::optional<Verdict> BackfillCycle::ineligibility(QueueEntry entry) const {
  if (controller_.allocations().has_started(entry.job)) return Verdict::started_elsewhere;
  if (controller_.preemption().is_in_progress(entry.job)) return Verdict::preempting;
  if (controller_.policy().violation_before_nodes(entry)) return Verdict::limit;
  return std::nullopt;
}

// True after a task of the same array, in the same partition, that has neither start nor
// reservation.
bool BackfillCycle::is_array_rejected(QueueEntry entry) const {
  const int array = controller_.scenario().array_of(entry.job);
  return array >= 0 && rejected_array_ == array && rejected_partition_ == entry.partition;
}

// Counts the job as examined, unless the cycle does not look at it.  Why the job is not tried: the
// cycle does not look at it, or licences are out, or %n tasks of its array run.  None: it is tried.
std::optional<Verdict> BackfillCycle::count_and_skip(QueueEntry entry) {
  if (const std::optional<Verdict> verdict = ineligibility(entry)) return verdict;
  if (is_array_rejected(entry)) return Verdict::array_rejected;
  if (const int array = controller_.scenario().array_of(entry.job); array >= 0) {
    rejected_array_ = array;  // until this task starts or has a reservation
    rejected_partition_ = entry.partition;
  }
  ++jobs_examined_;
  if (controller_.readiness().is_array_full(entry.job)) return Verdict::array_full;
  if (!controller_.licences().are_available(entry.job)) return Verdict::licenses;
  return std::nullopt;
}

void BackfillCycle::trace_limit(AccountingPolicy::Violation violation) {
  if (tracer_.is_on()) tracer_.set_limit(reason_of(*violation));
}

// --- the memory around the tries ---

BackfillCycle::TryOutcome BackfillCycle::recall_or_try(QueueEntry entry, Second now,
                                                       Second retry_from) {
  memory_.begin_try(entry, now, retry_from == 0);
  JobTry attempt = make_try(entry, now, false);
  const TryKey key = key_of(attempt);
  if (const NegativeResult* last = memory_.recall(key)) {
    repeat_effects(attempt, last->effects);
    return {LoopAction::continue_queue, last->verdict};
  }
  const TryOutcome outcome = try_job(attempt, retry_from);
  memory_.end_try(key, attempt.effects, outcome.verdict, outcome.begin, outcome.end);
  return outcome;
}

TryKey BackfillCycle::key_of(const JobTry& attempt) const {
  return {.partition = attempt.entry.partition,
          .starts_now_or_never = attempt.starts_now_or_never,
          .now = attempt.now,
          .slice_number = slices_run_,
          .node_space_version = node_space_.change_count(),
          .allocations_version = controller_.allocations().version(),
          .weights_version = select_.weights_version()};
}

void BackfillCycle::repeat_effects(const JobTry& attempt, const TryEffects& effects) {
  if (effects.is_counted) ++job_test_count_;
  if (effects.has_found_nodes) controller_.mark_tested(attempt.entry.job);
  if (effects.has_deferred_start) {
    controller_.note_job_change(attempt.now);
    memory_.observe_deferred_start();
  }
}

// --- one job ---

BackfillCycle::JobTry BackfillCycle::make_try(QueueEntry entry, Second now, bool is_dry_run) const {
  const Scenario& scenario = controller_.scenario();
  const Job& job = scenario.job(entry);
  JobTry attempt{entry, job, now, job.limit, is_dry_run};
  attempt.has_no_reserve = job.qos >= 0 && scenario.machine().qos[job.qos].no_reserve;
  // A job that gets no reservation only asks whether it can start.
  if (attempt.has_no_reserve && controller_.preemption().is_enabled())
    attempt.limit = kNoReserveLimit;
  const bool has_plan =
      settings_.one_resv_per_job &&
      std::find(planned_jobs_.begin(), planned_jobs_.end(), entry.job) != planned_jobs_.end();
  attempt.starts_now_or_never =
      controller_.queue().is_below_reserve_minimums(entry.job, now) || has_plan;
  attempt.depends_on_reservations =
      job.conditions.reservation >= 0 || controller_.reservations().has_existing(slice_start_);
  return attempt;
}

// Tries the job from `retry_from` on.  A dry run starts and reserves nothing, and ends with
// `retry_job` where the first test does not decide.
BackfillCycle::TryOutcome BackfillCycle::try_job(JobTry& attempt, Second retry_from) {
  const bool is_24_11 = controller_.scenario().settings().is_24_11;
  const Second now = attempt.now;
  for (Second from = std::max(now, retry_from);;) {
    if (attempt.is_dry_run && from > now) return {LoopAction::retry_job, Verdict::no_begin, from};
    const std::optional<AvailableNodes> available = nodes_at(attempt, from);
    if (!available) return {LoopAction::continue_queue, Verdict::no_begin};
    Select::Slot slot = earliest_slot(attempt, *available);
    if (attempt.is_dry_run && slot.begin <= std::min(now, available->later_start))
      return {LoopAction::continue_queue, Verdict::started};
    observe_test(attempt, *available, slot);
    // RULES.md 12.3: 24.11 tests a later slot against the node space before all else.
    const bool tests_overlap_first = is_24_11 && slot.begin > now && slot.begin < kNever;
    Second later_start = available->later_start;
    if (slot.begin <= now) {
      const std::optional<TryOutcome> outcome = start_now(attempt, *available, slot);
      if (outcome) return *outcome;
      later_start = kNever;  // a failed start is not retried in this cycle
    }
    const Classification classification = classify(attempt, slot, later_start, tests_overlap_first);
    switch (classification.kind) {
      case Classification::Kind::retry_later:
        if (!attempt.is_dry_run) tracer_.set_next_test(classification.next_test);
        from = classification.retry_from;
        break;
      case Classification::Kind::reject:
        return {LoopAction::continue_queue, classification.verdict, slot.begin};
      case Classification::Kind::reserve:
        return reserve(attempt, slot);
    }
  }
}

// Step 1: the nodes that no advance reservation takes from the job if it begins at `from`; none: it
// cannot begin then or later.
std::optional<BackfillCycle::AvailableNodes> BackfillCycle::nodes_at(JobTry& attempt, Second from) {
  const Scenario& scenario = controller_.scenario();
  const bool is_24_11 = scenario.settings().is_24_11;
  const NodeBits* allowed_nodes = &scenario.partition(attempt.entry).nodes;
  Second reservation_end = 0;
  if (attempt.depends_on_reservations) {
    unreserved_nodes_ = *allowed_nodes;
    allowed_nodes = &unreserved_nodes_;
    const Reservations::RemainingNodes remaining = controller_.reservations().remove_reserved(
        attempt.entry, from, true, slice_start_, unreserved_nodes_);
    if (!remaining.can_run) return std::nullopt;
    from = remaining.earliest;
    if (remaining.has_lost_nodes)
      reservation_end = controller_.reservations().next_end(from, settings_.resolution,
                                                            clocks_.epoch, slice_start_);
  }
  if (ignored_nodes_.any()) {
    if (allowed_nodes != &unreserved_nodes_) unreserved_nodes_ = *allowed_nodes;
    unreserved_nodes_ -= ignored_nodes_;
    allowed_nodes = &unreserved_nodes_;
  }
  if (is_24_11 && from > window_end_) return std::nullopt;
  const NodeSpace::Window window =
      node_space_.find_window(*allowed_nodes, attempt.job.nodes, from, attempt.limit, is_24_11);
  AvailableNodes available{from, window.nodes.get(), window.later_start, window.valid_until};
  // More nodes are available a second after an advance reservation ends (RULES.md 10.3).
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
    if (!attempt.effects.is_counted && !attempt.is_dry_run) ++job_test_count_;
    attempt.effects.is_counted = true;
    const std::optional<Select::Slot> answer =
        will_run(attempt.entry, *available.nodes,
                 {attempt.now, attempt.starts_now_or_never, available.from, available.later_start});
    if (answer) {
      slot = *answer;
      attempt.effects.has_found_nodes = true;
      if (!attempt.is_dry_run) controller_.mark_tested(attempt.entry.job);
    }
  }
  if (available.from > slot.begin) {
    slot.begin = available.from;
    controller_.note_job_change(attempt.now);
    attempt.effects.has_deferred_start = true;
    memory_.observe_deferred_start();
  }
  return slot;
}

void BackfillCycle::observe_test(const JobTry& attempt, const AvailableNodes& available,
                                 const Select::Slot& slot) {
  if (attempt.is_dry_run) return;
  memory_.observe_test(available.from, available.unchanged_until, slot.begin);
  tracer_.add_test(available.from, available.later_start, *available.nodes, slot.begin,
                   slot.nodes.get());
}

// Step 3 of a job that can begin now: it starts.  None: it does not, and may get a reservation;
// where a node of its slot is completing, the slot begins a second later.
std::optional<BackfillCycle::TryOutcome> BackfillCycle::start_now(JobTry& attempt,
                                                                  const AvailableNodes& available,
                                                                  Select::Slot& slot) {
  attempt.effects.has_tried_start = true;
  if (slot.nodes->intersects(controller_.allocations().completing_nodes())) {
    slot.begin = attempt.now + 1;
    return std::nullopt;
  }
  const StartResult result = start(attempt.entry, *available.nodes);
  if (result == StartResult::no_nodes) return std::nullopt;
  const bool has_started = result == StartResult::started;
  return TryOutcome{LoopAction::continue_queue, has_started ? Verdict::started : Verdict::limit,
                    slot.begin};
}

// Step 3 of a job that does not start now.
BackfillCycle::Classification BackfillCycle::classify(JobTry& attempt, const Select::Slot& slot,
                                                      Second later_start,
                                                      bool tests_overlap_first) {
  using Kind = Classification::Kind;
  const bool is_later = slot.begin > attempt.now;
  const auto reject_because = [](Verdict verdict) {
    return Classification{Kind::reject, 0, NextTest::none, verdict};
  };
  if (tests_overlap_first && !is_free_in_node_space(slot, attempt.limit))
    return {Kind::retry_later, slot.begin, NextTest::after_overlap};
  if (is_later && attempt.starts_now_or_never) return reject_because(Verdict::starts_now_or_never);
  if (slot.begin > later_start) return {Kind::retry_later, later_start, NextTest::at_later_start};
  if (slot.begin == kNever) return reject_because(Verdict::no_nodes);
  if (slot.begin > slice_start_second_ + settings_.window)
    return reject_because(Verdict::after_window);
  if (is_later && !tests_overlap_first && !is_free_in_node_space(slot, attempt.limit))
    return {Kind::retry_later, slot.begin, NextTest::after_overlap};
  if (attempt.is_dry_run || attempt.has_no_reserve) return reject_because(Verdict::no_reserve);
  const int node_count = slot.nodes->count();
  if (const auto violation = controller_.policy().violation_with_nodes(attempt.entry, node_count)) {
    trace_limit(violation);
    attempt.effects.limited_node_count = node_count;
    return reject_because(Verdict::limit);
  }
  return {Kind::reserve};
}

// Step 4 of a job that gets a reservation: its nodes are taken out of the node space for its time.
BackfillCycle::TryOutcome BackfillCycle::reserve(const JobTry& attempt, const Select::Slot& slot) {
  const Second begin = clocks_.round_down(slot.begin, settings_.resolution);
  const Second end = end_of_plan(slot.begin, attempt.limit);
  controller_.note_plan(attempt.entry, cycle_start_, slot.begin, end, *slot.nodes);
  planned_nodes_ |= *slot.nodes;
  tracer_.set_slot(attempt.entry.job, slot.begin, end, *slot.nodes);
  if (node_space_.records_created() >= settings_.node_space_size)
    return {LoopAction::stop_cycle, Verdict::node_space_full, slot.begin, end};
  node_space_.reserve(*slot.nodes, begin, end, settings_.resolution);
  if (settings_.one_resv_per_job) planned_jobs_.push_back(attempt.entry.job);
  allow_next_task(attempt.entry.job);
  return {LoopAction::continue_queue, Verdict::reserved, slot.begin, end};
}

bool BackfillCycle::is_free_in_node_space(const Select::Slot& slot, Second limit) const {
  const Second begin = clocks_.round_down(slot.begin, settings_.resolution);
  return node_space_.is_free(*slot.nodes, begin, end_of_plan(slot.begin, limit));
}

// When a reservation ends: 22.05 rounds down, 24.11 up.
Second BackfillCycle::end_of_plan(Second begin, Second limit) const {
  const Second resolution = settings_.resolution;
  const Second rounding = controller_.scenario().settings().is_24_11 ? resolution - 1 : 0;
  return clocks_.round_down(begin + limit + rounding, resolution);
}

// --- starts and preemption ---

// Starts the job on nodes that are chosen anew among the idle ones.  A limit is tested whether
// there are enough of them or not.
BackfillCycle::StartResult BackfillCycle::start(QueueEntry entry, const NodeBits& available_nodes) {
  const Loan<NodeChoice> choice = select_.select_now(entry, available_nodes);
  if (const auto violation = controller_.policy().violation_with_nodes(entry, choice.get())) {
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
    tracer_.set_slot(entry.job, to_second(slice_start_),
                     controller_.allocations().expected_end(entry.job), choice->nodes);
  rejected_array_ = -1;
  const Scenario& scenario = controller_.scenario();
  const bool has_whole_nodes = scenario.shares_nodes()
                                   ? scenario.job(entry.job).request.is_exclusive
                                   : scenario.settings().select.cons_tres;
  if (has_whole_nodes && node_space_.records_created() < settings_.node_space_size) {
    const Allocations& allocations = controller_.allocations();
    node_space_.reserve(allocations.nodes(entry.job), node_space_.begin(),
                        end_of_plan(allocations.expected_end(entry.job), 0), settings_.resolution);
  }
  return StartResult::started;
}

// Where the job does not fit now, jobs that it may preempt count as ended.
std::optional<Select::Slot> BackfillCycle::will_run(QueueEntry entry,
                                                    const NodeBits& available_nodes,
                                                    const Select::StartWindow& window) {
  std::vector<int> candidates = controller_.preemption().candidates(entry, window.now);
  if (candidates.empty()) return select_.will_run(entry, available_nodes, window);
  Select::StartWindow now_or_never = window;
  now_or_never.starts_now_or_never = true;
  if (const auto slot = select_.will_run(entry, available_nodes, now_or_never)) return slot;
  const Preemption::ScopedHidden hidden = controller_.hide_jobs(std::move(candidates));
  return select_.will_run(entry, available_nodes, window);
}

void BackfillCycle::preempt(QueueEntry entry, const NodeBits& available_nodes) {
  const Second now = to_second(slice_start_);
  const auto victims = controller_.choose_victims(entry, available_nodes, now, select_);
  if (victims.jobs.empty() ||
      controller_.policy().violation_with_nodes(entry, victims.choice.get()))
    return;
  if (!controller_.try_begin_preemption(entry.job, now)) return;
  for (const int job : victims.jobs) controller_.preempt(job, slice_start_);
}

// After a reservation for a task, the next task of its array is tried, too, as long as
// bf_max_job_array_resv (and %n, since 24.11) allow it.
void BackfillCycle::allow_next_task(int job) {
  const Conditions& conditions = controller_.scenario().job(job).conditions;
  if (conditions.array < 0) return;
  if (planned_array_ != conditions.array) array_plan_count_ = 0;
  planned_array_ = conditions.array;
  ++array_plan_count_;
  const int running_tasks = controller_.readiness().running_tasks(job);
  const bool is_full = controller_.scenario().settings().is_24_11 && conditions.array_limit > 0 &&
                       array_plan_count_ + running_tasks >= conditions.array_limit;
  if (array_plan_count_ < settings_.max_job_array_resv && !is_full) rejected_array_ = -1;
}

}  // namespace cosched::slurm

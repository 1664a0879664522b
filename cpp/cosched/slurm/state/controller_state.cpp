#include "cosched/slurm/state/controller_state.hpp"

namespace cosched::slurm {

ControllerState::ControllerState(const Scenario& scenario, double controller_start,
                                 const RecordOptions& record, double decay_start)
    : scenario_(scenario),
      allocations_(scenario),
      usage_(scenario, decay_start),
      queue_(scenario, usage_),
      readiness_(scenario, allocations_),
      licences_(scenario),
      policy_(scenario, decay_start),
      reservations_(scenario),
      updates_{to_second(controller_start), to_second(controller_start)},
      journal_(scenario.jobs().size(), record),
      preemption_(scenario, allocations_),
      gang_(scenario) {}

void ControllerState::adopt_running(int job) {
  const RunningState& running = *scenario_.job(job).running_state;
  NodeChoice choice(scenario_.machine().nodes);
  choice.shares = running.shares;
  choice.set_nodes_from_shares();
  const QueueEntry entry{job, scenario_.job(job).partition};
  set_cores(entry, choice);
  policy_.submit(job);
  allocate(entry, choice, running.start, Scheduler::main);
}

void ControllerState::set_cores(QueueEntry entry, NodeChoice& choice) const {
  if (!scenario_.suspends_jobs()) return;
  const CoreMap& core_map = allocations_.core_map();
  int wanted_count = 0;
  for (const Share& share : choice.shares.nodes) wanted_count += share.cores;
  choice.partition = entry.partition;
  choice.cores = core_map.lowest_free_cores(choice.shares.nodes, core_map.allocated_cores());
  if (choice.cores.count() < wanted_count)
    choice.cores =
        core_map.lowest_free_cores(choice.shares.nodes, core_map.cores_of(entry.partition));
}

void ControllerState::advance(double time) {
  if (is_decay_blocked_) return;
  policy_.advance(time);
  if (!usage_.advance(time)) return;
  const std::vector<int> unready_jobs = readiness_.unheld_jobs();
  queue_.recalculate(unready_jobs);
  if (!unready_jobs.empty() || !queue_.entries().empty())
    updates_.last_job_update = usage_.last_pass_time();
}

void ControllerState::submit(int job, double time) {
  advance(time);
  policy_.submit(job);
  allocations_.add_to_list(job);
  queue_.submit(job, time);
  if (readiness_.submit(job, to_second(time)))
    queue_.enter(job);
  else
    queue_.stop_accrual(job);
  updates_.last_job_update = to_second(time);
}

void ControllerState::sort_queue() {
  queue_.sort_as_slurmctld([&](int job) { return allocations_.list_place(job); });
}

void ControllerState::admit(double time) {
  advance(time);
  preemption_.begin_pass();
  // Jobs that other jobs kept from being ready until now: they enter the queue behind the accrual.
  std::vector<int> newly_independent_jobs;
  readiness_.admit(to_second(time), [&](int job, bool was_independent) {
    const Conditions& conditions = scenario_.job(job).conditions;
    const bool waited_for_begin_time =
        conditions.dependencies.empty() && !conditions.is_held && conditions.begin > 0;
    queue_.start_accrual(job, waited_for_begin_time ? conditions.begin : time);
    if (was_independent)
      queue_.enter(job);
    else
      newly_independent_jobs.push_back(job);
  });
  queue_.start_next_accruals(time);
  for (const int job : newly_independent_jobs) queue_.enter(job);
}

void ControllerState::start(QueueEntry entry, const NodeChoice& choice, double time,
                            Scheduler scheduler) {
  const auto j = static_cast<std::size_t>(entry.job);
  if (j < start_delays_.size() && !std::isnan(start_delays_[j])) time += start_delays_[j];
  allocate(entry, choice, time, scheduler);
  updates_.mark_both(to_second(time));
}

void ControllerState::end(int job, double time, bool is_killed) {
  release_resources(job, time, true);
  readiness_.end(job, is_killed || scenario_.job(job).exits_with_error);
  journal_.note_end(job, time, is_killed);
}

void ControllerState::complete_epilog(int job, double time) {
  allocations_.complete_epilog(job);
  updates_.mark_both(to_second(time));
  if (scenario_.suspends_jobs()) apply_switches(gang_.end(job), time);
}

void ControllerState::release(int job, double time) {
  advance(time);
  readiness_.release(job);
  queue_.set_new_priority(job);
  updates_.last_job_update = to_second(time);
}

void ControllerState::terminate(int job, double time, bool should_requeue) {
  constexpr Second kCredentialLifetime = 121;  // s
  const Second earliest_begin = to_second(time) + kCredentialLifetime;
  const bool is_requeued = should_requeue && scenario_.job(job).can_requeue;
  if (is_requeued)
    requeue(job, time, earliest_begin);
  else
    end(job, time, true);
  terminated_jobs_.push_back({job, is_requeued, earliest_begin});
}

void ControllerState::preempt(int job, double time) {
  const Second now = to_second(time);
  const Second grace_time = preemption_.grace_time(job);
  if (grace_time > 0) {
    const auto deadline = grace_deadlines_.try_emplace(job, now + grace_time).first;
    if (deadline->second > now) return;
  }
  journal_.note_preemption(job, time);
  terminate(job, time, preemption_.mode(job) == Preemption::Mode::requeue);
}

std::vector<int> ControllerState::grace_expired(Second now) const {
  std::vector<int> jobs;
  for (const auto& [job, deadline] : grace_deadlines_)
    if (deadline <= now) jobs.push_back(job);
  return jobs;
}

std::vector<int> ControllerState::overdue(Second now) const {
  const Settings::JobEnds& settings = scenario_.settings().job_ends;
  std::vector<int> overdue_jobs;
  const auto is_listed = [&](int job) {
    return std::find(overdue_jobs.begin(), overdue_jobs.end(), job) != overdue_jobs.end();
  };
  if (settings.over_time_limit < kNever)
    for (const int job : allocations_.running_jobs()) {
      if (allocations_.expected_end(job) + settings.over_time_limit > now) break;
      if (!allocations_.is_suspended(job) && !scenario_.job(job).is_unlimited)
        overdue_jobs.push_back(job);
    }
  for (const int job : allocations_.running_jobs())
    if (policy_.exceeded_group_limit(job) && !is_listed(job)) overdue_jobs.push_back(job);
  if (scenario_.reservations().empty()) return overdue_jobs;
  // Jobs in a reservation end with it.
  for (const int job : allocations_.running_jobs()) {
    const int number = scenario_.job(job).conditions.reservation;
    if (number < 0 || is_listed(job)) continue;
    const Reservation& reservation = scenario_.reservations()[number];
    if (reservation.end + settings.resv_over_run <= now) overdue_jobs.push_back(job);
  }
  return overdue_jobs;
}

bool ControllerState::waits_for_completion(Second now) const {
  const Second wait = scenario_.settings().job_ends.complete_wait;
  return wait > 0 && allocations_.has_completing_since(now - wait);
}

// The job runs on the chosen nodes from now on.
void ControllerState::allocate(QueueEntry entry, const NodeChoice& choice, double time,
                               Scheduler scheduler) {
  allocations_.start(entry.job, choice, to_second(time));
  usage_.start(entry.job, usage_per_second(scenario_, entry, choice), to_second(time));
  readiness_.count_tasks(entry.job, 1);
  licences_.allocate(entry.job);
  policy_.start(entry, choice, to_second(time));
  preemption_.start(entry);
  journal_.note_start(entry, time, scheduler, allocations_);
  if (scenario_.suspends_jobs()) apply_switches(gang_.start(entry, choice.cores), time);
}

// The job releases its nodes and licences.  `is_over`: it does not count as submitted any more.
void ControllerState::release_resources(int job, double time, bool is_over) {
  advance(time);
  usage_.end(job, to_second(time));
  allocations_.end(job, to_second(time));
  readiness_.count_tasks(job, -1);
  licences_.release(job);
  policy_.end(job, to_second(time), is_over);
  grace_deadlines_.erase(job);
  updates_.mark_both(to_second(time));
}

void ControllerState::requeue(int job, double time, Second earliest_begin) {
  release_resources(job, time, false);
  readiness_.requeue(job, earliest_begin);
  queue_.resubmit(job, time, scenario_.settings().is_24_11);
  journal_.note_requeue(job);
}

void ControllerState::apply_switches(const std::vector<Gang::GangSwitch>& switches, double time) {
  for (const Gang::GangSwitch& gang_switch : switches) {
    const int job = gang_switch.job;
    if (!allocations_.is_running(job)) continue;
    if (gang_switch.is_suspended)
      allocations_.suspend(job, to_second(time));
    else
      allocations_.resume(job, to_second(time));
    journal_.note_switch(job, time, gang_switch.is_suspended);
    gang_switches_.push_back(gang_switch);
  }
}

std::vector<ControllerState::TerminatedJob> ControllerState::take_terminated_jobs() {
  return std::exchange(terminated_jobs_, {});
}

std::vector<Gang::GangSwitch> ControllerState::take_gang_switches() {
  return std::exchange(gang_switches_, {});
}

void ControllerState::remove_started_jobs() {
  queue_.remove_if([&](int job) { return allocations_.has_started(job); });
}

void ControllerState::remove_from_queue(int job) {
  queue_.remove_if([&](int other) { return other == job; });
}

void ControllerState::clear_queue() {
  queue_.remove_if([](int) { return true; });
}

Preemption::Victims ControllerState::choose_victims(QueueEntry entry, const NodeBits& allowed_nodes,
                                                    Second now, Select& select) {
  return preemption_.choose_victims(entry, allowed_nodes, now, select);
}

bool ControllerState::try_begin_preemption(int job, Second now) {
  return preemption_.try_begin_preemption(job, now);
}

Preemption::ScopedHidden ControllerState::hide_jobs(std::vector<int> jobs) {
  return {preemption_, std::move(jobs)};
}

}  // namespace cosched::slurm

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
  const CoreMap& map = allocations_.cores();
  int wanted = 0;
  for (const Share& share : choice.shares.nodes) wanted += share.cores;
  choice.partition = entry.partition;
  choice.cores = map.lowest_free_cores(choice.shares.nodes, map.allocated_cores());
  if (choice.cores.count() < wanted)
    choice.cores = map.lowest_free_cores(choice.shares.nodes, map.cores_of(entry.partition));
}

void ControllerState::advance(double time) {
  if (is_decay_blocked_) return;
  policy_.advance(time);
  if (!usage_.advance(time)) return;
  const std::vector<int> waiting = readiness_.unheld_jobs();
  queue_.recalculate(waiting);
  if (!waiting.empty() || !queue_.entries().empty())
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
    queue_.stop_age(job);
  updates_.last_job_update = to_second(time);
}

void ControllerState::sort_queue() {
  queue_.sort_as_slurmctld([&](int job) { return allocations_.list_place(job); });
}

void ControllerState::admit(double time) {
  advance(time);
  preemption_.begin_pass();
  std::vector<int> fresh;  // that nothing keeps them any more is seen after ages
  readiness_.admit(to_second(time), [&](int job, bool free_before) {
    const Conditions& of = scenario_.job(job).conditions;
    queue_.start_age(job, of.dependencies.empty() && !of.is_held && of.begin > 0 ? of.begin : time);
    if (free_before)
      queue_.enter(job);
    else
      fresh.push_back(job);
  });
  queue_.start_next_ages(time);
  for (const int job : fresh) queue_.enter(job);
}

void ControllerState::start(QueueEntry entry, const NodeChoice& choice, double time, Scheduler by) {
  const auto j = static_cast<std::size_t>(entry.job);
  if (j < start_delays_.size() && !std::isnan(start_delays_[j])) time += start_delays_[j];
  allocate(entry, choice, time, by);
  updates_.mark_both(to_second(time));
}

void ControllerState::end(int job, double time, bool killed) {
  release_resources(job, time, true);
  readiness_.end(job, killed || scenario_.job(job).exits_with_error);
  journal_.end(job, time, killed);
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

void ControllerState::terminate(int job, double time, bool requeues) {
  constexpr Second kCredential = 121;
  const Second begin = to_second(time) + kCredential;
  requeues = requeues && scenario_.job(job).can_requeue;
  if (requeues)
    requeue(job, time, begin);
  else
    end(job, time, true);
  terminated_jobs_.push_back({job, requeues, begin});
}

void ControllerState::preempt(int job, double time) {
  const Second left = preemption_.grace_time(job);
  if (left > 0 &&
      grace_deadlines_.try_emplace(job, to_second(time) + left).first->second > to_second(time))
    return;
  journal_.preempt(job, time);
  terminate(job, time, preemption_.mode(job) == Preemption::Mode::requeue);
}

std::vector<int> ControllerState::grace_expired(Second now) const {
  std::vector<int> found;
  for (const auto& [job, until] : grace_deadlines_)
    if (until <= now) found.push_back(job);
  return found;
}

std::vector<int> ControllerState::overdue(Second now) const {
  std::vector<int> late;
  const Second over_time = scenario_.settings().job_ends.over_time_limit;
  if (over_time < kNever)
    for (const int job : allocations_.running()) {
      if (allocations_.expected_end(job) + over_time > now) break;
      if (!allocations_.is_suspended(job) && !scenario_.job(job).is_unlimited) late.push_back(job);
    }
  for (const int job : allocations_.running())
    if (policy_.exceeded_group_limit(job) && std::find(late.begin(), late.end(), job) == late.end())
      late.push_back(job);
  if (scenario_.reservations().empty()) return late;
  // Jobs in a reservation end with it.
  for (const int job : allocations_.running()) {
    const int which = scenario_.job(job).conditions.reservation;
    if (which < 0 || std::find(late.begin(), late.end(), job) != late.end()) continue;
    const Reservation& own = scenario_.reservations()[which];
    if (own.end + scenario_.settings().job_ends.resv_over_run <= now) late.push_back(job);
  }
  return late;
}

bool ControllerState::waits_for_completion(Second now) const {
  const Second wait = scenario_.settings().job_ends.complete_wait;
  return wait > 0 && allocations_.has_completing_since(now - wait);
}

// The job runs on what it has from now on.
void ControllerState::allocate(QueueEntry entry, const NodeChoice& choice, double time,
                               Scheduler by) {
  allocations_.start(entry.job, choice, to_second(time));
  usage_.start(entry.job, price_of(scenario_, entry, choice), to_second(time));
  readiness_.count_tasks(entry.job, 1);
  licences_.take(entry.job);
  policy_.start(entry, choice, to_second(time));
  preemption_.start(entry);
  journal_.start(entry, time, by, allocations_);
  if (scenario_.suspends_jobs()) apply_switches(gang_.start(entry, choice.cores), time);
}

// The job gives back what it has; `is_over`: it is no submitted one any more.
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

void ControllerState::requeue(int job, double time, Second begin) {
  release_resources(job, time, false);
  readiness_.requeue(job, begin);
  queue_.resubmit(job, time, scenario_.settings().is_24_11);
  journal_.requeue(job);
}

void ControllerState::apply_switches(const std::vector<Gang::GangSwitch>& switches, double time) {
  for (const Gang::GangSwitch& one : switches) {
    if (!allocations_.running(one.job)) continue;
    if (one.is_suspended)
      allocations_.suspend(one.job, to_second(time));
    else
      allocations_.resume(one.job, to_second(time));
    journal_.suspend_or_resume(one.job, time, one.is_suspended);
    gang_switches_.push_back(one);
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

Preemption::Victims ControllerState::choose_victims(QueueEntry entry, const NodeBits& allowed,
                                                    Second now, Select& select) {
  return preemption_.choose_victims(entry, allowed, now, select);
}

bool ControllerState::try_begin_preemption(int job, Second now) {
  return preemption_.try_begin_preemption(job, now);
}

Preemption::ScopedHidden ControllerState::hide_jobs(std::vector<int> jobs) {
  return {preemption_, std::move(jobs)};
}

std::vector<std::optional<LimitBlock>> limit_blocks(const Scenario& scenario) {
  ControllerState controller(scenario, 0, {});
  const int jobs = static_cast<int>(scenario.jobs().size());
  for (int job = 0; job < jobs; ++job)
    if (scenario.job(job).running_state) controller.adopt_running(job);
  std::vector<std::optional<LimitBlock>> all(scenario.jobs().size());
  const AccountingPolicy& policy = controller.policy();
  for (int job = 0; job < jobs; ++job) {
    if (scenario.job(job).running_state) continue;
    const QueueEntry entry{job, scenario.job(job).partition};
    AccountingPolicy::Violation held = policy.violation_before_nodes(entry);
    if (!held) held = policy.violation_with_nodes(entry, scenario.job(entry).nodes);
    if (held)
      all[job] = LimitBlock{reason_of(*held), held->limit.value, policy.counted_usage(*held),
                            policy.running_jobs_of(*held)};
  }
  return all;
}

}  // namespace cosched::slurm

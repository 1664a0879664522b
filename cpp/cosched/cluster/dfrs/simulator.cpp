#include "cosched/cluster/dfrs/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "cosched/cluster/dfrs/check_machine.hpp"
#include "cosched/cluster/dfrs/simulated_machine.hpp"
#include "cosched/cluster/dfrs/trace_writer.hpp"
#include "cosched/cluster/model/demand_area.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/livelock_guard.hpp"

namespace cosched::cluster::dfrs {
namespace {

constexpr double kMaxPeriods = 1e8;  // of run time: at 600 s, two thousand years

// For Poll: about a nanosecond each.
constexpr int kStepsPerInstant = 500;
constexpr int kStepsPerRunningJob = 20;

// Rejects a period that is very small compared with the jobs' times: the simulation would not end,
// or the clock could not tell one tick from the next.
void require_countable_periods(const Jobs& jobs, double period) {
  const double last_submit = *std::max_element(jobs.submit.begin(), jobs.submit.end());
  const double total_runtime = std::accumulate(jobs.runtime.begin(), jobs.runtime.end(), 0.0);
  if (total_runtime / period > kMaxPeriods)
    throw InvalidInstance("period = " + to_text(period) + ": expected at most 1e8 periods in the " +
                          to_text(total_runtime) + " s of the jobs' run times together");
  if (last_submit / period > 1 / std::numeric_limits<double>::epsilon())
    throw InvalidInstance("period = " + to_text(period) + ": too short for a clock at " +
                          to_text(last_submit) + " s, the last submission");
}

// How far completions that count as simultaneous may be apart, at this time.
double same_instant_tolerance(double time) { return kSameInstant + kSameInstantRelative * time; }

// How many tasks change their node; the tasks of a job are alike.
int count_moved_tasks(const NodeList& previous_nodes, const NodeList& nodes) {
  std::vector<int> left_nodes;
  std::set_difference(previous_nodes.begin(), previous_nodes.end(), nodes.begin(), nodes.end(),
                      std::back_inserter(left_nodes));
  return static_cast<int>(left_nodes.size());
}

class PolicySimulator {
 public:
  PolicySimulator(const Instance& instance, Policy& policy, const SimulationOptions& options,
                  Trace* trace, DecisionLog* log)
      : instance_(instance),
        policy_(policy),
        options_(options),
        machine_(instance),
        outcome_(instance.size()),
        demand_area_(instance.nodes()),
        accounts_(instance.size()),
        checker_(instance.jobs(), instance.nodes(), {options.penalty, false}),
        trace_writer_(instance, trace, options.check ? &checker_ : nullptr),
        log_(log) {
    for (int rank = 0; rank < instance.size(); ++rank) accounts_[rank].job = instance.order()[rank];
  }

  SimulationOutcome run() {
    first_submit_ = machine_.job(0).submit;
    machine_.advance(first_submit_);
    next_tick_time_ = policy_.is_periodic() ? first_submit_ + options_.period : kInfinity;
    while (finished_jobs_ < instance_.size()) {
      ++outcome_.events;
      poll_.count(kStepsPerInstant +
                  kStepsPerRunningJob * static_cast<std::int64_t>(machine_.running().size()));
      process_instant(next_event_time());
    }
    outcome_.demand_area = demand_area_.value();
    for (const Account& account : accounts_) {
      outcome_.start[account.job] = account.start;
      outcome_.preemptions[account.job] = account.preemptions;
      outcome_.migrations[account.job] = account.migrations;
    }
    if (options_.check) checker_.finish(outcome_);
    return std::move(outcome_);
  }

 private:
  // What happened to a job, in half a cache line: jobs are swapped by the million.
  struct alignas(32) Account {
    double predicted_completion = kInfinity;  // of a running job
    double start = 0;
    int job = 0;  // its number in the instance
    int preemptions = 0;
    int migrations = 0;
    bool has_started = false;
  };

  bool is_system_empty() const { return next_rank_ == finished_jobs_; }

  double next_event_time() {
    const double submit =
        next_rank_ < instance_.size() ? machine_.job(next_rank_).submit : kInfinity;
    double completion = kInfinity;
    for (const int rank : machine_.running())
      completion = std::min(completion, accounts_[rank].predicted_completion);
    if (is_system_empty()) skip_idle_ticks(submit);
    const double time = std::min({submit, completion, next_tick_time_});
    if (time == kInfinity) throw InvalidSchedule(name_unfinished_job("the policy never runs"));
    return time;
  }

  // No job is in the system until `submit`: a tick before that time would do nothing.
  void skip_idle_ticks(double submit) {
    if (next_tick_time_ >= submit) return;
    const double ticks = std::ceil((submit - first_submit_) / options_.period);
    set_next_tick(std::max(next_tick_, static_cast<std::int64_t>(ticks)));
  }

  void set_next_tick(std::int64_t tick) {
    next_tick_ = tick;
    next_tick_time_ = first_submit_ + static_cast<double>(tick) * options_.period;
  }

  void process_instant(double time) {
    advance_clock(time);
    const double instant_end = time + same_instant_tolerance(time);
    bool has_acted = process_completions(instant_end);
    for (; next_rank_ < instance_.size() && machine_.job(next_rank_).submit <= time; ++next_rank_)
      has_acted |= process_submission(next_rank_);
    if (next_tick_time_ <= instant_end) {
      has_acted |= process_policy_event({PolicyEventKind::period, time, {}});
      set_next_tick(next_tick_ + 1);
    }
    if (has_acted) predict_completions();
  }

  // The policy's answer to an event is carried out before the next event.  Returns whether the
  // policy has acted.
  bool process_policy_event(const PolicyEvent& event) {
    const bool has_acted = policy_.on_event(event, machine_);
    if (has_acted) policy_.allocate(machine_);
    if (!policy_.is_trusted()) check_machine(machine_, instance_);
    apply_changes();
    return has_acted;
  }

  void advance_clock(double time) {
    const bool has_progress = machine_.advance(time);
    livelock_guard_.count_round(has_progress || is_system_empty());
    if (livelock_guard_.is_stalled())
      throw InvalidSchedule(
          name_unfinished_job("no progress during 100,000 events, the policy never ends"));
  }

  std::string name_unfinished_job(const std::string& problem) const {
    int rank = 0;
    while (machine_.job(rank).status == JobStatus::finished) ++rank;
    return problem + ": " + instance_.jobs().name_of(instance_.order()[rank]);
  }

  bool process_completions(double instant_end) {
    PolicyEvent event{PolicyEventKind::completion, machine_.now(), {}};
    for (const int rank : machine_.running())
      if (accounts_[rank].predicted_completion <= instant_end) event.jobs.push_back(rank);
    if (event.jobs.empty()) return false;
    for (const int rank : event.jobs) finish_job(rank);
    return process_policy_event(event);
  }

  void finish_job(int rank) {
    const DfrsMachine::Job& job = machine_.job(rank);
    trace_writer_.close_row(rank, machine_.now(), RowCause::go_on);
    machine_.finish(rank);
    accounts_[rank].predicted_completion = kInfinity;
    outcome_.end[accounts_[rank].job] = machine_.now();
    demand_area_.change(machine_.now(), -job.cpu * job.tasks, -1);
    ++finished_jobs_;
    log_decision(rank, JobAction::finish, Reason::completed, -1, 0);
  }

  bool process_submission(int rank) {
    const DfrsMachine::Job& job = machine_.job(rank);
    machine_.submit(rank);
    demand_area_.change(machine_.now(), job.cpu * job.tasks, 1);
    return process_policy_event({PolicyEventKind::submission, machine_.now(), {rank}});
  }

  // What the policy has changed takes effect: it is counted, charged, logged and traced.
  void apply_changes() {
    const std::vector<DfrsMachine::Change>& changes = machine_.take_changes();
    for (const DfrsMachine::Change& change : changes) {
      prefetch(&accounts_[change.rank]);
      trace_writer_.prefetch_job(change.rank);
    }
    for (const DfrsMachine::Change& change : changes) {
      const std::optional<JobAction> action = action_of(change);
      if (!action) continue;
      count_and_charge(*action, change);
      log_decision(change.rank, *action, change.reason, change.other_rank, change.value);
    }
    if (!trace_writer_.is_enabled()) return;
    for (const int rank : machine_.running())
      trace_writer_.update(rank, machine_.now(), machine_.job(rank));
    trace_writer_.finish_event();
  }

  // Compares the job's state after the event with that before; nothing if they are equal.
  std::optional<JobAction> action_of(const DfrsMachine::Change& change) const {
    const DfrsMachine::Job& job = machine_.job(change.rank);
    const bool was_running = change.previous_status == JobStatus::running;
    if (job.status != JobStatus::running) return was_running ? JobAction::pause : JobAction::wait;
    if (!was_running)
      return accounts_[change.rank].has_started ? JobAction::resume : JobAction::start;
    if (job.nodes != change.previous_nodes) return JobAction::move;
    return std::nullopt;
  }

  void count_and_charge(JobAction action, const DfrsMachine::Change& change) {
    const int rank = change.rank;
    Account& account = accounts_[rank];
    const DfrsMachine::Job& job = machine_.job(rank);
    if (action == JobAction::start) {
      account.has_started = true;
      account.start = machine_.now();
    } else if (action == JobAction::pause) {
      ++account.preemptions;
      outcome_.preempted_memory += job.memory * job.tasks;
      trace_writer_.close_row(rank, machine_.now(), RowCause::resume);
    } else if (action == JobAction::move) {
      ++account.migrations;
      outcome_.migrated_memory += job.memory * count_moved_tasks(change.previous_nodes, job.nodes);
      trace_writer_.close_row(rank, machine_.now(), RowCause::move);
    }
    if (action == JobAction::move || action == JobAction::resume)
      machine_.set_penalty(rank, machine_.now() + options_.penalty);
  }

  void predict_completions() {
    for (const int rank : machine_.running())
      accounts_[rank].predicted_completion = predict_completion(machine_.job(rank));
  }

  double predict_completion(const DfrsMachine::Job& job) const {
    const double remaining_runtime = job.runtime - job.virtual_time;
    const double progress_begin = std::max(machine_.now(), job.penalty_until);
    if (remaining_runtime <= 0) return progress_begin;
    return job.yield > 0 ? progress_begin + remaining_runtime / job.yield : kInfinity;
  }

  void log_decision(int rank, JobAction action, Reason reason, int other_rank, double value) {
    if (!log_) return;
    const std::vector<int>& order = instance_.order();
    log_->push_back({.time = machine_.now(),
                     .job = order[rank],
                     .action = action,
                     .reason = reason,
                     .other = other_rank < 0 ? -1 : order[other_rank],
                     .value = value});
  }

  const Instance& instance_;
  Policy& policy_;
  const SimulationOptions options_;
  SimulatedMachine machine_;
  SimulationOutcome outcome_;
  DemandArea demand_area_;
  std::vector<Account> accounts_;  // by rank
  check::ScheduleChecker checker_;
  TraceWriter trace_writer_;
  DecisionLog* log_;
  Poll poll_;
  int next_rank_ = 0;  // of the next submission
  int finished_jobs_ = 0;
  LivelockGuard livelock_guard_{"a policy"};
  std::int64_t next_tick_ = 1;  // period events are ticks 1, 2, ...
  double first_submit_ = 0;
  double next_tick_time_ = kInfinity;
};

}  // namespace

SimulationOutcome simulate(const Instance& instance, Policy& policy,
                           const SimulationOptions& options, Trace* trace, DecisionLog* log) {
  if (!(options.period > 0) || options.period == kInfinity)
    throw InvalidInstance("period = " + to_text(options.period) + ": expected seconds > 0");
  if (!(options.penalty >= 0) || options.penalty == kInfinity)
    throw InvalidInstance("penalty = " + to_text(options.penalty) + ": expected seconds >= 0");
  if (policy.is_periodic()) require_countable_periods(instance.jobs(), options.period);
  return PolicySimulator(instance, policy, options, trace, log).run();
}

}  // namespace cosched::cluster::dfrs

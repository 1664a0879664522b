#include "cosched/cluster/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "cosched/cluster/check_machine.hpp"
#include "cosched/cluster/trace_writer.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster {
namespace {

constexpr int kStallLimit = 100'000;

constexpr double kMostPeriods = 1e8;  // of run time: at 600 s, two thousand years

// A period that is very small beside the jobs' times: the simulation would not end, or the clock
// could not tell one tick from the next.
void require_countable_periods(const Jobs& jobs, double period) {
  const double latest = *std::max_element(jobs.submit.begin(), jobs.submit.end());
  const double busy = std::accumulate(jobs.runtime.begin(), jobs.runtime.end(), 0.0);
  if (busy / period > kMostPeriods)
    throw InvalidInstance("period = " + to_text(period) + ": expected at most 1e8 periods in the " +
                          to_text(busy) + " s of the jobs' run times together");
  if (latest / period > 1 / std::numeric_limits<double>::epsilon())
    throw InvalidInstance("period = " + to_text(period) + ": too short for a clock at " +
                          to_text(latest) + " s, the last submission");
}

// Rounding of completion times: absolute, and relative to the clock.
double same_instant(double time) { return 1e-9 + 1e-12 * time; }

}  // namespace

class Simulator {
 public:
  Simulator(const Instance& instance, Policy& policy, const SimulationOptions& options,
            Trace* trace, DecisionLog* log)
      : instance_(instance),
        policy_(policy),
        options_(options),
        machine_(instance),
        outcome_(instance.size()),
        demand_(instance.nodes()),
        finish_(instance.size(), kInfinity),
        started_(instance.size(), 0),
        checker_(instance.jobs(), instance.nodes(), {options.penalty, false}),
        writer_(instance, trace, options.check ? &checker_ : nullptr),
        log_(log) {}

  Outcome run() {
    const int n = instance_.size();
    first_submit_ = machine_.now_ = machine_.job(0).submit;
    next_tick_ = policy_.periodic() ? first_submit_ + options_.period : kInfinity;
    while (finished_ < n) {
      if ((++outcome_.events & 63) == 0) check_interrupt();
      instant(next_time());
    }
    outcome_.demand_area = demand_.value();
    if (options_.check) checker_.finish(outcome_);
    return std::move(outcome_);
  }

 private:
  double next_time() {
    const double submit = next_ < instance_.size() ? machine_.job(next_).submit : kInfinity;
    double completion = kInfinity;
    for (const int rank : machine_.running_) completion = std::min(completion, finish_[rank]);
    if (next_ == finished_) skip_idle_ticks(submit);
    const double time = std::min({submit, completion, next_tick_});
    if (time == kInfinity) throw InfeasibleError(unfinished("the policy never runs"));
    return time;
  }

  // No job is in the system until `submit`: a tick before it would do nothing.
  void skip_idle_ticks(double submit) {
    if (next_tick_ >= submit) return;
    const double ticks = std::ceil((submit - first_submit_) / options_.period);
    tick_ = std::max(tick_, static_cast<std::int64_t>(ticks));
    next_tick_ = first_submit_ + static_cast<double>(tick_) * options_.period;
  }

  void instant(double time) {
    advance(time);
    const double horizon = time + same_instant(time);
    bool acted = complete(horizon);
    for (; next_ < instance_.size() && machine_.job(next_).submit <= time; ++next_)
      acted |= submit(next_);
    if (next_tick_ <= horizon) {
      acted |= happen({EventKind::period, time, {}});
      next_tick_ = first_submit_ + static_cast<double>(++tick_) * options_.period;
    }
    if (acted) predict_completions();
  }

  // The policy's answer to an event is carried out before the next event.
  bool happen(const Event& event) {
    const bool acted = policy_.on_event(event, machine_);
    if (acted) policy_.allocate(machine_);
    if (!policy_.trusted()) check_machine(machine_, instance_);
    commit();
    return acted;
  }

  void advance(double time) {
    double progress = 0;
    for (const int rank : machine_.running_) {
      auto& job = machine_.jobs_[rank];
      const double from = std::max(machine_.now_, job.penalty_until);
      if (time > from) {
        job.virtual_time += job.yield * (time - from);
        progress += job.yield;
      }
    }
    stalled_ = progress > 0 || next_ == finished_ ? 0 : stalled_ + 1;
    if (stalled_ > kStallLimit)
      throw InfeasibleError(unfinished("no progress during 100,000 events, the policy never ends"));
    machine_.now_ = time;
  }

  std::string unfinished(const std::string& why) const {
    int rank = 0;
    while (machine_.job(rank).status == Status::finished) ++rank;
    return why + ": job " + std::to_string(instance_.order()[rank]);
  }

  bool complete(double horizon) {
    Event event{EventKind::completion, machine_.now_, {}};
    for (const int rank : machine_.running_)
      if (finish_[rank] <= horizon) event.jobs.push_back(rank);
    if (event.jobs.empty()) return false;
    for (const int rank : event.jobs) finish(rank);
    return happen(event);
  }

  void finish(int rank) {
    auto& job = machine_.jobs_[rank];
    writer_.close(rank, machine_.now_, RowCause::go_on);
    machine_.release(rank);
    job.virtual_time = job.runtime;
    job.status = Status::finished;
    job.yield = 0;
    machine_.running_.erase(
        std::lower_bound(machine_.running_.begin(), machine_.running_.end(), rank));
    finish_[rank] = kInfinity;
    outcome_.end[instance_.order()[rank]] = machine_.now_;
    demand_.change(machine_.now_, -job.cpu * job.tasks, -1);
    ++finished_;
    note(rank, Action::finish, Reason::completed, -1, 0);
  }

  bool submit(int rank) {
    auto& job = machine_.jobs_[rank];
    job.status = Status::waiting;
    machine_.add_idle(rank);
    demand_.change(machine_.now_, job.cpu * job.tasks, 1);
    return happen({EventKind::submission, machine_.now_, {rank}});
  }

  // Compares each touched job with its state before the event, charges what changed.
  void commit() {
    for (const auto& before : machine_.touched_) {
      machine_.touched_at_[before.rank] = -1;
      if (const auto action = settle(before))
        note(before.rank, *action, before.reason, before.other, before.value);
    }
    machine_.touched_.clear();
    if (!writer_.enabled()) return;
    for (const int rank : machine_.running_)
      writer_.update(rank, machine_.now_, machine_.jobs_[rank]);
    writer_.settle();
  }

  std::optional<Action> settle(const Machine::Touched& before) {
    auto& job = machine_.jobs_[before.rank];
    const int id = instance_.order()[before.rank];
    const bool was_running = before.status == Status::running;
    if (job.status != Status::running) {
      if (!was_running) return Action::wait;
      writer_.close(before.rank, machine_.now_, RowCause::resume);
      ++outcome_.preemptions[id];
      outcome_.preempted_memory += job.memory * job.tasks;
      return Action::pause;
    }
    if (was_running && job.nodes == before.nodes) return std::nullopt;
    if (was_running) {
      ++outcome_.migrations[id];
      outcome_.migrated_memory += job.memory * moved_tasks(before.nodes, job.nodes);
    }
    const bool first = !started_[before.rank];
    if (first) {
      started_[before.rank] = 1;
      outcome_.start[id] = machine_.now_;
    } else {
      if (was_running) writer_.close(before.rank, machine_.now_, RowCause::move);
      job.penalty_until = machine_.now_ + options_.penalty;
    }
    return first ? Action::start : was_running ? Action::move : Action::resume;
  }

  static int moved_tasks(const std::vector<int>& from, const std::vector<int>& to) {
    std::vector<int> gone;
    std::set_difference(from.begin(), from.end(), to.begin(), to.end(), std::back_inserter(gone));
    return static_cast<int>(gone.size());
  }

  void predict_completions() {
    for (const int rank : machine_.running_) {
      const auto& job = machine_.jobs_[rank];
      const double left = job.runtime - job.virtual_time;
      const double from = std::max(machine_.now_, job.penalty_until);
      finish_[rank] = left <= 0 ? from : job.yield > 0 ? from + left / job.yield : kInfinity;
    }
  }

  void note(int rank, Action action, Reason reason, int other_rank, double value) {
    if (!log_) return;
    const auto& order = instance_.order();
    log_->push_back({machine_.now_, order[rank], action, reason,
                     other_rank < 0 ? -1 : order[other_rank], value});
  }

  const Instance& instance_;
  Policy& policy_;
  const SimulationOptions options_;
  Machine machine_;
  Outcome outcome_;
  DemandArea demand_;
  std::vector<double> finish_;  // predicted completion of running jobs
  std::vector<char> started_;
  ScheduleChecker checker_;
  TraceWriter writer_;
  DecisionLog* log_;
  int next_ = 0;  // rank of the next submission
  int finished_ = 0;
  int stalled_ = 0;
  std::int64_t tick_ = 1;
  double first_submit_ = 0, next_tick_ = kInfinity;
};

Outcome simulate(const Instance& instance, Policy& policy, const SimulationOptions& options,
                 Trace* trace, DecisionLog* log) {
  if (!(options.period > 0) || options.period == kInfinity)
    throw InvalidInstance("period = " + to_text(options.period) + ": expected seconds > 0");
  if (!(options.penalty >= 0) || options.penalty == kInfinity)
    throw InvalidInstance("penalty = " + to_text(options.penalty) + ": expected seconds >= 0");
  if (policy.periodic()) require_countable_periods(instance.jobs(), options.period);
  return Simulator(instance, policy, options, trace, log).run();
}

}  // namespace cosched::cluster

#include "cosched/cluster/dfrs/simulator.hpp"

#include <iterator>
#include <numeric>

#include "cosched/cluster/check/validate_trace.hpp"
#include "cosched/core/progress.hpp"

namespace cosched::cluster::dfrs {
namespace {

// Tells, event by event, what the simulator's state means in rows: to a Trace that records
// them, and to a ScheduleChecker that checks them while the simulation runs.

class TraceWriter {
 public:
  /// Either may be null.
  TraceWriter(const Instance& instance, Trace* trace, check::ScheduleChecker* checker)
      : order_(instance.order()), trace_(trace), checker_(checker) {
    if (!enabled()) return;
    row_of_.resize(instance.size(), -1);
    cause_.resize(instance.size(), RowCause::start);
  }

  /// The job will soon be told of.
  void expect(int rank) const {
    if (checker_) checker_->expect(order_[rank]);
  }
  bool enabled() const { return trace_ != nullptr || checker_ != nullptr; }

  /// The running job's state from `now` on: a new row if its yield changed or close()
  /// ended the last one.
  void update(int rank, double now, const Machine::Job& job) {
    const bool is_open = row_of_[rank] >= 0;
    if (is_open && rows_[row_of_[rank]].yield == job.yield) return;
    if (is_open) end_row(rank, now);
    Row& row = is_open ? rows_[row_of_[rank]] : open_row(rank);
    if (!is_open && trace_) row.mapping = trace_->add_mapping(job.nodes.data(), job.nodes.size());
    row.start = now;
    row.yield = job.yield;
    row.penalty_until = job.penalty_until;
    if (checker_)
      checker_->begin(order_[rank], now, job.nodes.data(), job.nodes.size(), job.yield,
                      cause_[rank]);
  }

  /// The job's mapping ends at `now`; its next row begins for this reason.
  void close(int rank, double now, RowCause next) {
    if (!enabled()) return;
    if (row_of_[rank] >= 0) {
      end_row(rank, now);
      unused_.push_back(std::exchange(row_of_[rank], -1));
    }
    cause_[rank] = next;
  }

  /// All changes of an event have been told.
  void settle() {
    if (checker_) checker_->settle();
  }

 private:
  struct alignas(32) Row {  // half a cache line
    double start = 0, yield = 0, penalty_until = 0;
    int mapping = -1;  // in the trace
  };

  Row& open_row(int rank) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<int>(rows_.size()));
      rows_.emplace_back();
    }
    row_of_[rank] = unused_.back();
    unused_.pop_back();
    return rows_[row_of_[rank]];
  }

  void end_row(int rank, double now) {
    if (trace_) record(rank, now);
    if (checker_) checker_->end(order_[rank], now);
    cause_[rank] = RowCause::go_on;
  }

  // A row that straddles the end of a penalty is two rows.
  void record(int rank, double now) const {
    const Row& open = rows_[row_of_[rank]];
    const int job = order_[rank];
    double from = open.start;
    RowCause cause = cause_[rank];
    if (open.penalty_until > from) {
      const double to = open.penalty_until < now ? open.penalty_until : now;
      trace_->add(job, open.mapping, from, to, open.yield, 0, cause);
      if (to == now) return;
      from = to;
      cause = RowCause::go_on;
    }
    trace_->add(job, open.mapping, from, now, open.yield, open.yield, cause);
  }

  const std::vector<int>& order_;
  Trace* trace_;
  check::ScheduleChecker* checker_;
  // Few jobs run at a time: what is told of each at every event lies close together.
  std::vector<Row> rows_;        // open ones, and the unused
  std::vector<int> unused_;      // indices of rows
  std::vector<int> row_of_;      // by rank: index of its open row, or -1
  std::vector<RowCause> cause_;  // by rank: of the row that is open, or of the next
};

[[noreturn]] void refuse(const Machine& machine, const std::string& what) {
  throw InvalidSchedule("at " + to_text(machine.now()) + " s " + what);
}

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

// How far completions that count as simultaneous may be apart, at this time.
double same_instant(double time) { return kSameInstant + kSameInstantRelative * time; }

// How many tasks change their node; the tasks of a job are alike.
int moved_tasks(const NodeList& before, const NodeList& now) {
  std::vector<int> left;
  std::set_difference(before.begin(), before.end(), now.begin(), now.end(),
                      std::back_inserter(left));
  return static_cast<int>(left.size());
}

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
        accounts_(instance.size()),
        checker_(instance.jobs(), instance.nodes(), {options.penalty, false}),
        writer_(instance, trace, options.check ? &checker_ : nullptr),
        log_(log) {
    for (int rank = 0; rank < instance.size(); ++rank) accounts_[rank].id = instance.order()[rank];
  }

  Outcome run() {
    const int n = instance_.size();
    first_submit_ = machine_.job(0).submit;
    machine_.advance(first_submit_);
    next_tick_ = policy_.periodic() ? first_submit_ + options_.period : kInfinity;
    while (finished_ < n) {
      ++outcome_.events;
      poll_.count(500 + 20 * static_cast<std::int64_t>(machine_.running().size()));
      instant(next_time());
    }
    outcome_.demand_area = demand_.value();
    for (const Account& account : accounts_) {
      outcome_.start[account.id] = account.start;
      outcome_.preemptions[account.id] = account.preemptions;
      outcome_.migrations[account.id] = account.migrations;
    }
    if (options_.check) checker_.finish(outcome_);
    return std::move(outcome_);
  }

 private:
  // What happened to a job, in one cache line: jobs are swapped by the million.
  struct alignas(32) Account {
    double finish = kInfinity;  // predicted completion, where it runs
    double start = 0;
    int id = 0;
    int preemptions = 0, migrations = 0;
    bool started = false;
  };

  double next_time() {
    const double submit = next_ < instance_.size() ? machine_.job(next_).submit : kInfinity;
    double completion = kInfinity;
    for (const int rank : machine_.running())
      completion = std::min(completion, accounts_[rank].finish);
    if (next_ == finished_) skip_idle_ticks(submit);
    const double time = std::min({submit, completion, next_tick_});
    if (time == kInfinity) throw InvalidSchedule(unfinished("the policy never runs"));
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
    const bool progress = machine_.advance(time);
    const bool empty = next_ == finished_;
    if (progress_.lost(progress || empty))
      throw InvalidSchedule(unfinished("no progress during 100,000 events, the policy never ends"));
  }

  std::string unfinished(const std::string& why) const {
    int rank = 0;
    while (machine_.job(rank).status == Status::finished) ++rank;
    return why + ": " + instance_.jobs().called(instance_.order()[rank]);
  }

  bool complete(double horizon) {
    Event event{EventKind::completion, machine_.now(), {}};
    for (const int rank : machine_.running())
      if (accounts_[rank].finish <= horizon) event.jobs.push_back(rank);
    if (event.jobs.empty()) return false;
    for (const int rank : event.jobs) finish(rank);
    return happen(event);
  }

  void finish(int rank) {
    const auto& job = machine_.job(rank);
    writer_.close(rank, machine_.now(), RowCause::go_on);
    machine_.finish(rank);
    accounts_[rank].finish = kInfinity;
    outcome_.end[accounts_[rank].id] = machine_.now();
    demand_.change(machine_.now(), -job.cpu * job.tasks, -1);
    ++finished_;
    note(rank, Action::finish, Reason::completed, -1, 0);
  }

  bool submit(int rank) {
    const auto& job = machine_.job(rank);
    machine_.submit(rank);
    demand_.change(machine_.now(), job.cpu * job.tasks, 1);
    return happen({EventKind::submission, machine_.now(), {rank}});
  }

  // What the policy changed takes effect: it is counted, charged and told.
  void commit() {
    const std::vector<Machine::Change>& changes = machine_.take_changes();
    for (const Machine::Change& change : changes) {
      prefetch(&accounts_[change.rank]);
      writer_.expect(change.rank);
    }
    for (const Machine::Change& change : changes)
      if (const auto action = action_of(change)) {
        carry_out(*action, change);
        note(change.rank, *action, change.reason, change.other, change.value);
      }
    if (!writer_.enabled()) return;
    for (const int rank : machine_.running())
      writer_.update(rank, machine_.now(), machine_.job(rank));
    writer_.settle();
  }

  // The job's state after the event against that before; none where nothing has changed.
  std::optional<Action> action_of(const Machine::Change& before) const {
    const auto& job = machine_.job(before.rank);
    const bool was_running = before.status == Status::running;
    if (job.status != Status::running) return was_running ? Action::pause : Action::wait;
    if (!was_running) return accounts_[before.rank].started ? Action::resume : Action::start;
    if (job.nodes != before.nodes) return Action::move;
    return std::nullopt;
  }

  void carry_out(Action action, const Machine::Change& before) {
    const int rank = before.rank;
    Account& account = accounts_[rank];
    const auto& job = machine_.job(rank);
    if (action == Action::start) {
      account.started = true;
      account.start = machine_.now();
    } else if (action == Action::pause) {
      ++account.preemptions;
      outcome_.preempted_memory += job.memory * job.tasks;
      writer_.close(rank, machine_.now(), RowCause::resume);
    } else if (action == Action::move) {
      ++account.migrations;
      outcome_.migrated_memory += job.memory * moved_tasks(before.nodes, job.nodes);
      writer_.close(rank, machine_.now(), RowCause::move);
    }
    if (action == Action::move || action == Action::resume)
      machine_.hold_up(rank, machine_.now() + options_.penalty);
  }

  void predict_completions() {
    for (const int rank : machine_.running()) {
      const auto& job = machine_.job(rank);
      const double left = job.runtime - job.virtual_time;
      const double from = std::max(machine_.now(), job.penalty_until);
      accounts_[rank].finish = left <= 0       ? from
                               : job.yield > 0 ? from + left / job.yield
                                               : kInfinity;
    }
  }

  void note(int rank, Action action, Reason reason, int other_rank, double value) {
    if (!log_) return;
    const auto& order = instance_.order();
    log_->push_back({machine_.now(), order[rank], action, reason,
                     other_rank < 0 ? -1 : order[other_rank], value});
  }

  const Instance& instance_;
  Policy& policy_;
  const SimulationOptions options_;
  SimulatedMachine machine_;
  Outcome outcome_;
  DemandArea demand_;
  std::vector<Account> accounts_;  // by rank
  check::ScheduleChecker checker_;
  TraceWriter writer_;
  DecisionLog* log_;
  Poll poll_;
  int next_ = 0;  // rank of the next submission
  int finished_ = 0;
  Progress progress_{"a policy"};
  std::int64_t tick_ = 1;
  double first_submit_ = 0, next_tick_ = kInfinity;
};

}  // namespace

void check_machine(const Machine& machine, const Instance& instance) {
  std::vector<double> cpu(machine.node_count(), 0.0);
  for (const int rank : machine.running()) {
    const auto& job = machine.job(rank);
    const std::string name = instance.jobs().called(instance.order()[rank]);
    if (static_cast<int>(job.nodes.size()) != job.tasks)
      refuse(machine, name + " has " + std::to_string(job.nodes.size()) + " nodes for " +
                          std::to_string(job.tasks) + " tasks");
    if (!(job.yield >= 0 && job.yield <= 1 + 1e-9))
      refuse(machine, name + " has yield " + to_text(job.yield) + ": expected 0 to 1");
    for (const int node : job.nodes) cpu[node] += job.yield * job.cpu;
  }
  for (int node = 0; node < machine.node_count(); ++node) {
    const std::string name = "node " + std::to_string(node);
    if (machine.nodes()[node].memory_used > kMemoryLimit)
      refuse(machine, name + " has " +
                          to_text(static_cast<double>(machine.nodes()[node].memory_used) /
                                  static_cast<double>(kMemoryUnit)) +
                          " of its memory in use: expected at most 1");
    if (cpu[node] > 1 + 1e-9)
      refuse(machine, name + " has CPU shares of " + to_text(cpu[node]) + ": expected at most 1");
  }
}

Outcome simulate(const Instance& instance, Policy& policy, const SimulationOptions& options,
                 Trace* trace, DecisionLog* log) {
  if (!(options.period > 0) || options.period == kInfinity)
    throw InvalidInstance("period = " + to_text(options.period) + ": expected seconds > 0");
  if (!(options.penalty >= 0) || options.penalty == kInfinity)
    throw InvalidInstance("penalty = " + to_text(options.penalty) + ": expected seconds >= 0");
  if (policy.periodic()) require_countable_periods(instance.jobs(), options.period);
  return Simulator(instance, policy, options, trace, log).run();
}

}  // namespace cosched::cluster::dfrs

// The state that a policy sees and changes: jobs in the system, nodes, virtual times.  A policy
// gets a Machine; the simulator drives it as a SimulatedMachine.
#pragma once

#include "cosched/cluster/dfrs/idle_queue.hpp"
#include "cosched/cluster/dfrs/node_list.hpp"
#include "cosched/cluster/model/decision_log.hpp"
#include "cosched/cluster/model/units.hpp"

namespace cosched::cluster::dfrs {

enum class Status : char { unsubmitted, waiting, running, paused, finished };

/// Jobs are named by rank (position in order of submission).  A job that is waiting or
/// paused holds nothing; a running job holds memory on `nodes` (one entry a task,
/// increasing) and the CPU share yield * cpu there.
class Machine {
 public:
  struct alignas(64) Job {  // two cache lines; in the first, what each event looks at
    double submit, runtime, cpu;
    double virtual_time = 0;   // integral of the yield, at now()
    double yield = 0;          // current share; not progress during a penalty
    double penalty_until = 0;  // no progress before this time
    double memory;
    int tasks;
    Status status = Status::unsubmitted;
    std::int64_t memory_need = 0;  // of a task, in units
    std::int64_t cpu_need = 0;
    NodeList nodes;
    int change = -1;  // index into the changes of this event
  };

  struct Node {
    std::int64_t memory_used = 0;
    std::int64_t cpu_load = 0;  // sum of needs, may exceed kCpuUnit
  };

  explicit Machine(const Instance& instance)
      : nodes_(instance.nodes()), idle_(shapes_of(instance)) {
    const Jobs& jobs = instance.jobs();
    jobs_.reserve(instance.size());
    for (const int j : instance.order()) {
      Job job{};
      job.submit = jobs.submit[j];
      job.runtime = jobs.runtime[j];
      job.cpu = jobs.cpu[j];
      job.memory = jobs.memory[j];
      job.tasks = jobs.tasks[j];
      job.memory_need = memory_units(job.memory);
      job.cpu_need = cpu_units(job.cpu);
      jobs_.push_back(std::move(job));
    }
  }

  double now() const { return now_; }
  int node_count() const { return static_cast<int>(nodes_.size()); }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Job& job(int rank) const { return jobs_[rank]; }
  /// The job will soon be looked at, and started.
  void expect(int rank) const {
    prefetch(&jobs_[rank]);
    prefetch(reinterpret_cast<const char*>(&jobs_[rank]) + 64);
    idle_.expect(rank);
  }
  int jobs() const { return static_cast<int>(jobs_.size()); }

  /// Ranks, increasing.
  const std::vector<int>& running() const { return running_; }
  /// Waiting and paused jobs.
  const IdleQueue& idle() const { return idle_; }

  double flow_time(int rank) const { return now_ - jobs_[rank].submit; }
  /// flow time / (virtual time)^2; infinite at zero virtual time (Casanova, Stillwell, Vivien 2011,
  /// section 4.1).
  double priority(int rank) const {
    return priority_at(now_, jobs_[rank].submit, jobs_[rank].virtual_time);
  }

  /// Waiting or paused -> running on `nodes` (increasing).  No checks: see check_machine.
  void start(int rank, NodeList nodes, Reason reason, int other = -1, double value = 0) {
    note_change(rank, {}, reason, other, value);
    hold(rank, std::move(nodes));
    jobs_[rank].status = Status::running;
    remove_idle(rank);
    add_running(rank);
  }

  /// Running -> paused.
  void pause(int rank, Reason reason, int other = -1, double value = 0) {
    note_change(rank, release(rank), reason, other, value);
    jobs_[rank].status = Status::paused;
    jobs_[rank].yield = 0;
    remove_running(rank);
    add_idle(rank);
  }

  /// Running on other nodes from now on.
  void move(int rank, NodeList nodes, Reason reason, int other = -1, double value = 0) {
    note_change(rank, release(rank), reason, other, value);
    hold(rank, std::move(nodes));
  }

  /// Says why a job that is not running stays so (the last reason of an event counts).
  void explain_wait(int rank, Reason reason, int other = -1, double value = 0) {
    note_change(rank, {}, reason, other, value);
  }

  void set_yield(int rank, double yield) { jobs_[rank].yield = yield; }

  /// What a policy did to a job during an event: the job's state before, and the last reason given.
  struct Change {
    int rank;
    Status status;   // before
    NodeList nodes;  // before; empty unless it was running
    Reason reason;
    int other;
    double value;
  };

 protected:
  /// The clock goes on to `time`; running jobs gain virtual time.  Whether any job did.
  bool advance(double time) {
    bool progress = false;
    for (const int rank : running_) {
      Job& job = jobs_[rank];
      const double from = std::max(now_, job.penalty_until);
      if (time <= from) continue;
      job.virtual_time += job.yield * (time - from);
      progress = progress || job.yield > 0;
    }
    now_ = time;
    return progress;
  }

  /// Unsubmitted -> waiting.
  void submit(int rank) {
    jobs_[rank].status = Status::waiting;
    add_idle(rank);
  }

  /// Running -> finished.
  void finish(int rank) {
    release(rank);
    Job& job = jobs_[rank];
    job.virtual_time = job.runtime;
    job.status = Status::finished;
    job.yield = 0;
    remove_running(rank);
  }

  /// The running job makes no progress before `time`.
  void hold_up(int rank, double time) { jobs_[rank].penalty_until = time; }

  /// The jobs that were started, paused, moved or explained since the last call, in the order in
  /// which they were first; each once.  Valid until the next call.
  const std::vector<Change>& take_changes() {
    for (const Change& change : changes_) jobs_[change.rank].change = -1;
    taken_.clear();
    taken_.swap(changes_);
    return taken_;
  }

 private:
  static std::vector<IdleQueue::Shape> shapes_of(const Instance& instance) {
    const Jobs& jobs = instance.jobs();
    std::vector<IdleQueue::Shape> shapes;
    shapes.reserve(instance.size());
    for (const int j : instance.order())
      shapes.push_back({memory_units(jobs.memory[j]), jobs.tasks[j], jobs.memory[j]});
    return shapes;
  }

  void add_running(int rank) {
    running_.insert(std::lower_bound(running_.begin(), running_.end(), rank), rank);
  }

  void remove_running(int rank) {
    running_.erase(std::lower_bound(running_.begin(), running_.end(), rank));
  }

  void add_idle(int rank) {
    const Job& job = jobs_[rank];
    idle_.add(rank, job.submit, job.virtual_time);
  }

  void remove_idle(int rank) { idle_.remove(rank); }

  void hold(int rank, NodeList&& nodes) {
    Job& job = jobs_[rank];
    job.nodes = std::move(nodes);
    for (const int node : job.nodes) {
      nodes_[node].memory_used += job.memory_need;
      nodes_[node].cpu_load += job.cpu_need;
    }
  }

  // what it held
  NodeList release(int rank) {
    Job& job = jobs_[rank];
    for (const int node : job.nodes) {
      nodes_[node].memory_used -= job.memory_need;
      nodes_[node].cpu_load -= job.cpu_need;
    }
    return std::exchange(job.nodes, {});
  }

  // `held`: by a job that runs, before the change.
  void note_change(int rank, NodeList&& held, Reason reason, int other, double value) {
    Job& job = jobs_[rank];
    if (job.change < 0) {
      job.change = static_cast<int>(changes_.size());
      changes_.push_back({rank, job.status, std::move(held), reason, other, value});
    }
    Change& change = changes_[job.change];
    change.reason = reason;
    change.other = other;
    change.value = value;
  }

  double now_ = 0;
  std::vector<Job> jobs_;
  std::vector<Node> nodes_;
  std::vector<int> running_;
  IdleQueue idle_;
  std::vector<Change> changes_, taken_;
};

/// The machine with what only the simulator may do: let time pass, bring and end jobs.
class SimulatedMachine : public Machine {
 public:
  using Machine::Machine;

  using Machine::advance;
  using Machine::finish;
  using Machine::hold_up;
  using Machine::submit;
  using Machine::take_changes;
};

// What a scheduling policy implements, and how the simulator calls it.

enum class EventKind : char { completion, submission, period };

struct Event {
  EventKind kind;
  double time;
  std::vector<int> jobs;  // ranks: those that completed, or the one submitted; else empty
};

/// The simulator tells a policy of each event, in the order completions (all of one
/// instant together), submissions (one at a time, by rank), period.  After on_event(),
/// allocate() sets the yields, then the changes take effect: what is undone within one
/// event never happened, but a job paused at a submission and resumed by the period event
/// of the same instant was paused.
class Policy {
 public:
  virtual ~Policy() = default;

  /// Starts, pauses and moves jobs.  Returns whether the policy acts on this kind of
  /// event at all: if not, allocate() is not called and yields stay as they are.
  virtual bool on_event(const Event& event, Machine& machine) = 0;

  /// Sets the yield of every running job, given the mapping.
  virtual void allocate(Machine& machine) = 0;

  /// Whether period events are wanted.
  virtual bool periodic() const = 0;

  /// Policies from outside are checked after every event: memory, CPU, task counts.
  virtual bool trusted() const { return false; }
};

}  // namespace cosched::cluster::dfrs

// What a run leaves behind: starts, ends and nodes of jobs; where asked for, reasons and plans.
#pragma once

#include "cosched/core/found.hpp"
#include "cosched/slurm/select/allocations.hpp"

namespace cosched::slurm {

enum class Action : char {
  start_main,
  start_backfill,
  wait_resources,
  wait_priority,
  plan,
  finish,
  timeout,
  wait_licences,
  wait_limit,
  preempt,
  suspend,
  resume,
  wait_reservation,    // its own has not begun, or one has all nodes of its partition
  wait_reserved_nodes  // a reservation has nodes that it could have now
};

enum class Scheduler : char { main, backfill };

/// What is told about a job: a plan has its start and end and its nodes.
struct DecisionNote {
  double time;
  int job;
  Action action;
  Second start, end;
  std::vector<int> nodes;
  int partition = -1;      // of a plan
  std::string limit = {};  // in the way, as squeue names it
};

/// A job stood still; `until` is not a number where it never went on.
struct Pause {
  int job;
  double begin, end;
};

struct Outcome {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::vector<double> start_exact, end_exact;  // the instants; not a number: did not start
  std::vector<double> start, end;              // whole seconds of the controller, by job
  std::vector<std::vector<int>> cores;         // of each of these nodes, where jobs share nodes
  std::vector<std::vector<int>> nodes;         // increasing
  std::vector<int> scheduler;                  // a Scheduler
  std::vector<int> partition;                  // where it ran
  std::vector<int> is_killed;                  // ended by the limit check, or for another
  std::vector<int> restarts;                   // how often it had to begin anew
  std::vector<std::vector<int>> core_ids;      // its cores among all, where jobs are suspended
  std::vector<Pause> pauses;                   // by their begin
  std::vector<double> cycle_times;             // when backfill cycles began
  std::vector<DecisionNote> notes;
  std::vector<std::pair<int, std::string>>
      blocked_by_limit;  // jobs that a limit kept, and its name

  explicit Outcome(std::size_t jobs)
      : start_exact(jobs, kNone),
        end_exact(jobs, kNone),
        start(jobs, kNone),
        end(jobs, kNone),
        cores(jobs),
        nodes(jobs),
        scheduler(jobs),
        partition(jobs),
        is_killed(jobs),
        restarts(jobs),
        core_ids(jobs) {}
};

/// What a run is to keep notes of.
struct RecordOptions {
  bool with_reasons = false;  // why jobs started and waited
  bool with_plans = false;    // every cycle's plan
};

class Journal {
 public:
  Journal(std::size_t jobs, const RecordOptions& record)
      : record_(record), last_notes_(jobs), last_violations_(jobs), outcome_(jobs) {}

  bool notes_reasons() const { return record_.with_reasons; }
  bool notes_plans() const { return record_.with_plans; }

  void start(QueueEntry entry, double time, Scheduler by, const Allocations& allocations) {
    const int job = entry.job;
    const auto j = static_cast<std::size_t>(job);
    outcome_.start[j] = static_cast<double>(to_second(time));
    outcome_.start_exact[j] = time;
    outcome_.nodes[j] = allocations.nodes(job).to_list();
    outcome_.cores[j].clear();
    for (const Share& share : allocations.shares(job).nodes)
      outcome_.cores[j].push_back(share.cores);
    outcome_.core_ids[j] = allocations.cores(job).to_list();
    outcome_.partition[j] = entry.partition;
    outcome_.scheduler[j] = static_cast<int>(by);
    const Action action = by == Scheduler::main ? Action::start_main : Action::start_backfill;
    if (notes_reasons())
      outcome_.notes.push_back(
          {time, job, action, to_second(time), allocations.expected_end(job), {}});
  }

  /// The job waits again.
  void requeue(int job) {
    const auto j = static_cast<std::size_t>(job);
    ++outcome_.restarts[j];
    outcome_.start[j] = outcome_.start_exact[j] = outcome_.end[j] = outcome_.end_exact[j] =
        Outcome::kNone;
    outcome_.nodes[j].clear();
    outcome_.cores[j].clear();
    outcome_.core_ids[j].clear();
    std::vector<Pause>& pauses = outcome_.pauses;
    pauses.erase(std::remove_if(pauses.begin(), pauses.end(),
                                [&](const Pause& one) { return one.job == job; }),
                 pauses.end());
  }

  void end(int job, double time, bool killed) {
    const auto j = static_cast<std::size_t>(job);
    outcome_.end[j] = static_cast<double>(to_second(time));
    outcome_.end_exact[j] = time;
    outcome_.is_killed[j] = killed;
    if (notes_reasons())
      outcome_.notes.push_back({time, job, killed ? Action::timeout : Action::finish, 0, 0, {}});
  }

  void cycle(double time) { outcome_.cycle_times.push_back(time); }
  /// Why the job does not start; told once as long as nothing else is.
  void wait(int job, double time, Action why) {
    if (notes_reasons()) note_if_changed(job, time, why, 0);
  }
  /// It must go, for another.
  void preempt(int job, double time) {
    if (notes_reasons()) outcome_.notes.push_back({time, job, Action::preempt, 0, 0, {}});
  }

  /// It stops for one of a higher tier, or goes on.
  void suspend_or_resume(int job, double time, bool suspended) {
    std::vector<Pause>& pauses = outcome_.pauses;
    if (suspended) {
      pauses.push_back({job, time, Outcome::kNone});
    } else {
      const auto last = std::find_if(pauses.rbegin(), pauses.rend(),
                                     [&](const Pause& one) { return one.job == job; });
      require_found(last, pauses.rend(), "the pause of a job that goes on")->end = time;
    }
    const Action action = suspended ? Action::suspend : Action::resume;
    if (notes_reasons()) outcome_.notes.push_back({time, job, action, 0, 0, {}});
  }

  /// A limit is in its way.
  void note_limit(int job, double time, const LimitRule& rule) {
    last_violations_[job] = rule;
    if (!notes_reasons()) return;
    LastNote& last = last_notes_[job];
    std::string reason = reason_of(rule);
    if (last.action == Action::wait_limit && last.limit == reason) return;
    last = {Action::wait_limit, 0, reason};
    outcome_.notes.push_back({time, job, Action::wait_limit, 0, 0, {}, -1, std::move(reason)});
  }

  void plan(QueueEntry entry, double time, Second begin, Second end, const NodeBits& nodes) {
    if (notes_reasons()) note_if_changed(entry.job, time, Action::plan, begin);
    if (notes_plans())
      outcome_.notes.push_back(
          {time, entry.job, Action::plan, begin, end, nodes.to_list(), entry.partition});
  }

  Outcome outcome() && {
    for (std::size_t j = 0; j < last_violations_.size(); ++j)
      if (last_violations_[j] && std::isnan(outcome_.start[j]))
        outcome_.blocked_by_limit.emplace_back(static_cast<int>(j),
                                               reason_of(*last_violations_[j]));
    return std::move(outcome_);
  }

 private:
  struct LastNote {
    Action action = Action::finish;
    Second start = 0;
    std::string limit = {};
  };
  void note_if_changed(int job, double time, Action action, Second start) {
    LastNote& last = last_notes_[job];
    if (last.action == action && last.start == start) return;
    last = {action, start, {}};
    outcome_.notes.push_back({time, job, action, start, 0, {}});
  }

  RecordOptions record_;
  std::vector<LastNote> last_notes_;  // last, by job
  std::vector<std::optional<LimitRule>>
      last_violations_;  // the limit that was last in the way, by job
  Outcome outcome_;
};

}  // namespace cosched::slurm

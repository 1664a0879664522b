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
struct Note {
  double time;
  int job;
  Action action;
  Second start, end;
  std::vector<int> nodes;
  int part = -1;           // of a plan
  std::string limit = {};  // in the way, as squeue names it
};

/// A job stood still; `until` is not a number where it never went on.
struct Pause {
  int job;
  double from, until;
};

struct Outcome {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::vector<double> start_exact, end_exact;  // the instants; not a number: did not start
  std::vector<double> start, end;              // whole seconds of the controller, by job
  std::vector<std::vector<int>> cores;         // of each of these nodes, where jobs share nodes
  std::vector<std::vector<int>> nodes;         // increasing
  std::vector<int> by;                         // a Scheduler
  std::vector<int> part;                       // where it ran
  std::vector<int> killed;                     // ended by the limit check, or for another
  std::vector<int> restarts;                   // how often it had to begin anew
  std::vector<std::vector<int>> units;         // its cores among all, where jobs are suspended
  std::vector<Pause> pauses;                   // by their begin
  std::vector<double> cycles;                  // when backfill cycles began
  std::vector<Note> notes;
  std::vector<std::pair<int, std::string>> barred;  // jobs that a limit kept, and its name

  explicit Outcome(std::size_t jobs)
      : start_exact(jobs, kNone),
        end_exact(jobs, kNone),
        start(jobs, kNone),
        end(jobs, kNone),
        cores(jobs),
        nodes(jobs),
        by(jobs),
        part(jobs),
        killed(jobs),
        restarts(jobs),
        units(jobs) {}
};

/// What a run is to keep notes of.
struct Record {
  bool told = false;   // why jobs started and waited
  bool plans = false;  // every cycle's plan
};

class Journal {
 public:
  Journal(std::size_t jobs, const Record& record)
      : record_(record), said_(jobs), held_(jobs), outcome_(jobs) {}

  bool told() const { return record_.told; }
  bool plans() const { return record_.plans; }

  void start(Entry entry, double time, Scheduler by, const Allocations& allocations) {
    const int job = entry.job;
    const auto j = static_cast<std::size_t>(job);
    outcome_.start[j] = static_cast<double>(whole(time));
    outcome_.start_exact[j] = time;
    outcome_.nodes[j] = allocations.nodes(job).list();
    outcome_.cores[j].clear();
    for (const Share& share : allocations.shares(job).nodes)
      outcome_.cores[j].push_back(share.cores);
    outcome_.units[j] = allocations.cores(job).list();
    outcome_.part[j] = entry.part;
    outcome_.by[j] = static_cast<int>(by);
    const Action action = by == Scheduler::main ? Action::start_main : Action::start_backfill;
    if (told())
      outcome_.notes.push_back({time, job, action, whole(time), allocations.due(job), {}});
  }

  /// The job waits again.
  void requeue(int job) {
    const auto j = static_cast<std::size_t>(job);
    ++outcome_.restarts[j];
    outcome_.start[j] = outcome_.start_exact[j] = outcome_.end[j] = outcome_.end_exact[j] =
        Outcome::kNone;
    outcome_.nodes[j].clear();
    outcome_.cores[j].clear();
    outcome_.units[j].clear();
    std::vector<Pause>& pauses = outcome_.pauses;
    pauses.erase(std::remove_if(pauses.begin(), pauses.end(),
                                [&](const Pause& one) { return one.job == job; }),
                 pauses.end());
  }

  void end(int job, double time, bool killed) {
    const auto j = static_cast<std::size_t>(job);
    outcome_.end[j] = static_cast<double>(whole(time));
    outcome_.end_exact[j] = time;
    outcome_.killed[j] = killed;
    if (told())
      outcome_.notes.push_back({time, job, killed ? Action::timeout : Action::finish, 0, 0, {}});
  }

  void cycle(double time) { outcome_.cycles.push_back(time); }
  /// Why the job does not start; told once as long as nothing else is.
  void wait(int job, double time, Action why) {
    if (told()) say(job, time, why, 0);
  }
  /// It must go, for another.
  void preempt(int job, double time) {
    if (told()) outcome_.notes.push_back({time, job, Action::preempt, 0, 0, {}});
  }

  /// It stops for one of a higher tier, or goes on.
  void turn(int job, double time, bool suspended) {
    std::vector<Pause>& pauses = outcome_.pauses;
    if (suspended) {
      pauses.push_back({job, time, Outcome::kNone});
    } else {
      const auto last = std::find_if(pauses.rbegin(), pauses.rend(),
                                     [&](const Pause& one) { return one.job == job; });
      require_found(last, pauses.rend(), "the pause of a job that goes on")->until = time;
    }
    const Action action = suspended ? Action::suspend : Action::resume;
    if (told()) outcome_.notes.push_back({time, job, action, 0, 0, {}});
  }

  /// A limit is in its way.
  void hold(int job, double time, const Rule& rule) {
    held_[job] = rule;
    if (!told()) return;
    Said& last = said_[job];
    std::string reason = reason_of(rule);
    if (last.action == Action::wait_limit && last.limit == reason) return;
    last = {Action::wait_limit, 0, reason};
    outcome_.notes.push_back({time, job, Action::wait_limit, 0, 0, {}, -1, std::move(reason)});
  }

  void plan(Entry entry, double time, Second begin, Second end, const NodeBits& nodes) {
    if (told()) say(entry.job, time, Action::plan, begin);
    if (plans())
      outcome_.notes.push_back(
          {time, entry.job, Action::plan, begin, end, nodes.list(), entry.part});
  }

  Outcome outcome() && {
    for (std::size_t j = 0; j < held_.size(); ++j)
      if (held_[j] && std::isnan(outcome_.start[j]))
        outcome_.barred.emplace_back(static_cast<int>(j), reason_of(*held_[j]));
    return std::move(outcome_);
  }

 private:
  struct Said {
    Action action = Action::finish;
    Second start = 0;
    std::string limit = {};
  };
  void say(int job, double time, Action action, Second start) {
    Said& last = said_[job];
    if (last.action == action && last.start == start) return;
    last = {action, start, {}};
    outcome_.notes.push_back({time, job, action, start, 0, {}});
  }

  Record record_;
  std::vector<Said> said_;                 // last, by job
  std::vector<std::optional<Rule>> held_;  // the limit that was last in the way, by job
  Outcome outcome_;
};

}  // namespace cosched::slurm

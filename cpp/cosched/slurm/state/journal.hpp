// What a run leaves behind: starts, ends and nodes of jobs; where asked for, reasons and plans.
#pragma once

#include <string>
#include <vector>

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
  resume
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

  explicit Outcome(std::size_t jobs);
};

/// What a run is to keep notes of.
struct Record {
  bool told = false;   // why jobs started and waited
  bool plans = false;  // every cycle's plan
};

class Journal {
 public:
  Journal(std::size_t jobs, const Record& record);

  bool told() const { return record_.told; }
  bool plans() const { return record_.plans; }

  void start(Entry entry, double time, Scheduler by, const Allocations& allocations);
  /// The job waits again.
  void requeue(int job);
  void end(int job, double time, bool killed);
  void cycle(double time) { outcome_.cycles.push_back(time); }
  /// Why the job does not start; told once as long as nothing else is.
  void wait(int job, double time, Action why) { say(job, time, why, 0); }
  /// It must go, for another.
  void preempt(int job, double time);
  /// It stops for one of a higher tier, or goes on.
  void turn(int job, double time, bool suspended);
  /// A limit is in its way.
  void hold(int job, double time, const Rule& rule);
  void plan(Entry entry, double time, Second begin, Second end, const NodeBits& nodes);

  Outcome outcome() && { return std::move(outcome_); }

 private:
  struct Said {
    Action action = Action::finish;
    Second start = 0;
    std::string limit = {};
  };
  void say(int job, double time, Action action, Second start);

  Record record_;
  std::vector<Said> said_;  // last, by job
  Outcome outcome_;
};

}  // namespace cosched::slurm

// What a simulation returns: starts, ends and nodes of jobs; where asked for, reasons and plans.
#pragma once

#include <string>

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

enum class Scheduler : char { main, backfill };

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
  wait_reservation,    // the job's reservation has not begun, or one has all nodes of its partition
  wait_reserved_nodes  // a reservation has nodes that the job could have now
};

/// What happened to a job, or why it waits.
struct DecisionNote {
  double time;
  int job;
  Action action;
  Second start;            // of a start or plan
  Second end;              // of a plan
  std::vector<int> nodes;  // of a plan
  int partition = -1;      // of a plan
  std::string limit = {};  // that the job violates, as squeue names it
};

/// A job was suspended; `end` is not a number where it did not resume.
struct Pause {
  int job;
  double begin;
  double end;
};

/// Vectors are by job, but for the last four.  Times are not a number where a job did not start or
/// end.
struct Outcome {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::vector<double> start_exact;  // instants
  std::vector<double> end_exact;
  std::vector<double> start;  // whole seconds of the controller
  std::vector<double> end;
  std::vector<std::vector<int>> cores;     // where jobs share nodes: of each of its nodes
  std::vector<std::vector<int>> nodes;     // increasing
  std::vector<int> scheduler;              // a Scheduler
  std::vector<int> partition;              // where it ran
  std::vector<int> is_killed;              // by the limit check, or for a preemptor
  std::vector<int> restarts;               // how often it was requeued
  std::vector<std::vector<int>> core_ids;  // where jobs are suspended: its cores among all

  std::vector<Pause> pauses;        // by their begin
  std::vector<double> cycle_times;  // when backfill cycles began
  std::vector<DecisionNote> notes;
  // Jobs that did not start because of a limit, and its name.
  std::vector<std::pair<int, std::string>> blocked_by_limit;

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

/// Of what a simulation keeps notes.
struct RecordOptions {
  bool with_reasons = false;  // why jobs started and waited
  bool with_plans = false;    // every cycle's plan
};

}  // namespace cosched::slurm

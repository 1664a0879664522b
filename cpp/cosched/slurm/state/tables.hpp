// The tables of slurmctld, and the life of a job in them (RULES.md 6).  Both schedulers read and
// change them; time is given.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cosched/slurm/limits/limits.hpp"
#include "cosched/slurm/limits/policy.hpp"
#include "cosched/slurm/model/scenario.hpp"
#include "cosched/slurm/model/seconds.hpp"
#include "cosched/slurm/queue/queue.hpp"
#include "cosched/slurm/queue/readiness.hpp"
#include "cosched/slurm/select/allocations.hpp"
#include "cosched/slurm/select/gang.hpp"
#include "cosched/slurm/select/preempt.hpp"
#include "cosched/slurm/select/reservations.hpp"
#include "cosched/slurm/state/journal.hpp"

namespace cosched::slurm {

struct Tables {
  /// `decay_start`: of the thread that accounts usage.  Requires that `given` outlives it.
  Tables(const Scenario& given, double controller_start, const Record& record,
         double decay_start = 0);

  /// A job that runs from the beginning holds what it has.
  void hold(int job);
  /// Gives it cores where jobs are suspended: nobody's, else some that a job of another partition
  /// has, too.
  void set_cores(Entry entry, Choice& choice) const;
  /// Usage, and priorities, as of the last pass of the thread that accounts it.
  void advance(double time);
  void submit(int job, double time);
  /// Jobs that are ready by now wait in the queue.
  void admit(double time);
  void start(Entry entry, const Choice& choice, double time, Scheduler by);
  void end(int job, double time, bool killed);
  void epilog(int job, double time);
  /// A held job is none any more.
  void release(int job, double time);
  /// A running job must end: it runs again, two minutes later at the earliest, or (`again` is
  /// false, or it must not) is over.
  void stop(int job, double time, bool again);
  /// For another; it may have some time left.
  void preempt(int job, double time);
  /// Running jobs whose time is over.
  std::vector<int> doomed(Second now) const;

  /// Running jobs past their limits and OverTimeLimit, by (due, job).
  std::vector<int> overdue(Second now) const;
  /// CompleteWait: nobody is scheduled while a job that has just ended is completing.
  bool completing(Second now) const;

  const Scenario& scenario;
  Allocations allocations;
  Usage usage;
  Queue queue;
  Readiness readiness;
  Licences licences;
  Policy policy;
  Reservations reservations;
  Updates updates;
  Journal journal;
  Preemption preemption;
  Gang gang;
  std::vector<double>
      delays;  // as recorded: s from when a pass or cycle began or went on until it started the job
  bool locked = false;  // the thread that accounts usage waits for the locks
  struct Stopped {
    int job;
    bool again;
    Second begin;
  };
  std::vector<Stopped> stopped;    // since somebody looked
  std::vector<Gang::Turn> turned;  // jobs that stopped or went on, since somebody looked
  std::map<int, Second> graced =
      {};  // jobs that another takes the place of, and until when they run

 private:
  void requeue(int job, double time, Second begin);
  void turn(const std::vector<Gang::Turn>& turns, double time);
};

// Which limit keeps a waiting job when a simulation begins, and whose jobs must end (RULES.md 14).

struct HeldUp {
  std::string reason;  // as squeue writes it
  double limit, used;
  std::vector<int> jobs;  // that run and count in it
};

/// By job; none: no limit is in the way, or the job runs.
std::vector<std::optional<HeldUp>> held_up(const Scenario& scenario);

}  // namespace cosched::slurm

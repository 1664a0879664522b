// Discrete-event simulation of a policy on a job stream (Casanova, Stillwell, Vivien 2011, section
// 5.1).
//
// A job completes when the integral of its yield reaches its run time.  A job that is
// resumed after a pause, or whose multiset of nodes changes, occupies its nodes and CPU
// share for `penalty` seconds without progress; paused during them, it pays the full
// penalty again on resumption.  Policies do not know of the penalty.  Period events fall
// `period`, 2 `period`, ... after the first submission, while jobs are in the system.
//
// The penalty is paid in CPU time: when most running jobs are moved at every period, a share
// of about penalty / period of the machine makes no progress.  With 300 s and 600 s a policy
// without a long minvt or minft can then lose more than an offered load of 0.6 leaves spare: a
// burst's queue is never worked off.  That is a property of these policies, not of the
// simulator: on the whole HPC2N log (load 0.59; 2.3 in the worst week) thousands of jobs stay
// paused for years; without a penalty, or with a period of an hour, the queue goes away
// (docs/results/cluster-table3-4.md).
//
// A completion or period that is due within kSameInstant + kSameInstantRelative x time counts as
// simultaneous with the event: a job whose work is done up to rounding is not rescheduled.
#pragma once

#include "cosched/cluster/dfrs/policy.hpp"
#include "cosched/cluster/model/simulation_outcome.hpp"
#include "cosched/cluster/model/trace.hpp"

namespace cosched::cluster::dfrs {

inline constexpr double kSameInstant = 1e-9;           // seconds
inline constexpr double kSameInstantRelative = 1e-12;  // of the clock

struct SimulationOptions {
  double period = 600;   // seconds, > 0; at most 1e8 of them in all run times together
  double penalty = 300;  // seconds, >= 0
  bool check = true;     // report every row to a ScheduleChecker while the simulation runs
};

/// Throws InvalidInstance on bad options; InvalidSchedule when the policy leaves jobs
/// that never finish, or no job makes progress during 100,000 events (a penalty as long
/// as the period can do that), an untrusted policy breaks a rule, or the ScheduleChecker
/// finds one broken.
/// O(running jobs) an event beside the policy's own work; waiting jobs cost nothing.
SimulationOutcome simulate(const Instance& instance, Policy& policy,
                           const SimulationOptions& options = {}, Trace* trace = nullptr,
                           DecisionLog* log = nullptr);

}  // namespace cosched::cluster::dfrs

// Batch scheduling: FCFS, EASY (Casanova, Stillwell, Vivien 2011, section 5.2) and conservative
// backfilling.
//
// FCFS pass: jobs start in order of the queue while they fit.  The first job that does not fit
// stops all jobs that could use its nodes.
//
// EASY pass: as FCFS until the first job that does not fit.  That job gets a reservation
// (cell_reservation.hpp), and so does each later waiting job that may use nodes which no waiting
// job ahead of it may use.  Another job is backfilled if it fits now and, for each reservation, is
// either expected to end by the shadow time or needs no more than the extra nodes, which it then
// uses up.
//
// Conservative: every job gets a promise when it is submitted: the earliest start that delays no
// earlier promise (in order of the queue within one instant).  When a job ends before it was
// expected to, each waiting job in order of the queue gives its slot back and takes the earliest
// one, which is never later (Mu'alem and Feitelson 2001); it keeps its nodes if the start stays the
// same.  A run of 0 s is planned as 1 s, or nothing would reserve its nodes.  A job that outlives
// its estimate is expected to end now: as long as there is one, all promises are made anew at each
// event, in order of the queue, and only then a promise can become later.  A job whose promised
// time has come starts when its nodes are free.
//
// A job with an infinite estimate never ends as far as plans are concerned.  EASY does not let it
// end by any shadow time, not even by an infinite one.  Conservative backfilling keeps it out of
// the nodes of every promise made before (kUnlimitedRuntime).
//
// Every job has to fit on the nodes that it may use (InfeasibleError).  Requested estimates need
// Instance::has_estimates() (InvalidInstance).  batch_events.hpp says in which order the events of
// one instant are processed.
#pragma once

#include "cosched/cluster/batch/batch_trace.hpp"
#include "cosched/cluster/batch/layout.hpp"
#include "cosched/cluster/batch/options.hpp"
#include "cosched/cluster/model/decision_log.hpp"

namespace cosched::cluster::batch {

/// O(n log n).
SimulationOutcome fcfs(const Instance& instance, DecisionLog* log = nullptr);

/// O((n + r) W + n log n), r = instants with a completion, W = longest queue.  At an instant with
/// submissions alone only the new jobs are looked at.
SimulationOutcome easy(const Instance& instance, Estimates estimates = Estimates::perfect,
                       DecisionLog* log = nullptr);

/// On the cells of a layout, with any order of the queue.  FCFS and EASY:
/// O(n (W log W + running log running)).  Conservative: O(n (W log W + S)), S = steps of the plan,
/// and O(W S) for each early completion.
PlacedOutcome backfill(const Instance& instance, const Layout& layout, BatchRule rule,
                       const QueueOrder& order, Estimates estimates, DecisionLog* log = nullptr);

/// On nodes with memory and GPUs.  A job waits until nodes have all that it needs.  Its reservation
/// is for the first expected end after which nodes are expected to have it; a job that starts
/// before has to end by then or leave such nodes.  A promise is for nodes on which the job's needs
/// stay free.  O(n W nodes) at worst; conservative: O(W) for each early completion and O(S) for
/// each job that moves.
SiteOutcome backfill(const Instance& instance, const Site& site, BatchRule rule,
                     const QueueOrder& order, Estimates estimates, DecisionLog* log = nullptr);

}  // namespace cosched::cluster::batch

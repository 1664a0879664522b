// Batch scheduling with plans, orders of the queue and partitions.
//
// A job takes whole nodes for its run time, as in batch.hpp; order within one instant: all
// completions, then all submissions, then one pass.  The queue is in the order of `key` (equal
// keys by submission); with wfp3, equal keys by decreasing (wait / expected run time)^3 tasks, at each pass.
//
// fcfs: jobs start in order; the first that does not fit stops all that could use its cells.
// easy: each job that does not fit has a reservation where none ahead of it covers all its
//   cells; the others start if they are expected to end by every reservation's shadow time, or
//   leave it its extra nodes.  With one cell: the EASY of batch.hpp.
// conservative: every job gets a promise when it comes: the earliest start after all promises
//   made (in order of the queue within one instant).  When a job ends before it was expected to,
//   each job in order of the queue gives its slot back and takes the earliest one, which is never
//   later (Mu'alem and Feitelson 2001); its nodes stay where its start does.  A run of 0 s is
//   planned as 1 s, or nothing would hold its nodes.  Jobs that outlive their estimates are expected to end
//   now: as long as there is one, all promises are made anew at each event, in order of the
//   queue, and only then one can move back; a job whose time has come starts when its nodes are
//   free.
//
// Requires that each job fits in the cells it may use (InfeasibleError).
#pragma once

#include <vector>

#include "cosched/cluster/batch/layout.hpp"
#include "cosched/cluster/model/decision_log.hpp"
#include "cosched/cluster/model/instance.hpp"
#include "cosched/cluster/model/outcome.hpp"

namespace cosched::cluster::batch {

enum class Rule { fcfs, easy, conservative };

struct BackfillOptions {
  Rule rule = Rule::conservative;
  bool requested = false;   // expected run times are the estimates
  bool wfp3 = false;        // the order of the queue changes with time
  std::vector<double> key;  // by job, smallest first; empty = by submission
};

/// What a simulation says beyond the outcome: shares[j * cells + c] nodes of cell c.
struct PlacedOutcome {
  Outcome outcome;
  std::vector<int> shares;
};

/// O(n (W log W + S)), W = longest queue, S = steps of the plan; conservative: O(W S) for each
/// early completion.
PlacedOutcome backfill(const Instance& instance, const Layout& layout,
                       const BackfillOptions& options, DecisionLog* log = nullptr);

}  // namespace cosched::cluster::batch

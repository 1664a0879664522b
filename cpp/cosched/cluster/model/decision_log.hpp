// Why a job started, waited, was paused or moved: one row for each decision.
#pragma once

#include "cosched/cluster/model/instance.hpp"

namespace cosched::cluster {

enum class JobAction : char { start, wait, pause, resume, move, finish };

enum class Reason : char {
  completed,         // finish
  head_of_queue,     // start: first in the queue, value = nodes that were free
  backfill_in_time,  // start: ends before the reservation at `value` of job `other`
  backfill_extra,    // start: fits in the `value` extra nodes of the reservation of job `other`
  too_few_nodes,     // wait: value = free nodes
  no_nodes,          // wait: no nodes have enough of everything free; value = free cores
  reservation,       // wait: would delay job `other`, reserved for time `value`
  behind_queue,      // wait: job `other` is ahead of it in the queue
  promised,          // start, wait: planned for `value`, so that no earlier promise is delayed
  greedy,            // start, resume: memory was free on the least loaded nodes
  no_memory,         // wait: value = tasks that would have found memory
  makes_room,        // pause, move: for job `other`
  packed,            // start, resume, move: by MCB8 at yield (inverse stretch) `value`
  packed_out,        // wait, pause: lowest priority (= value) when MCB8 had to drop a job
  next_period,       // wait: nothing is decided before the next period
  policy             // decided by a policy of the user
};

struct Decision {
  double time;
  int job;
  JobAction action;
  Reason reason;
  int other;     // a job number, or -1
  double value;  // see Reason; a time may be infinite: behind a job without a limit
};

using DecisionLog = std::vector<Decision>;

const char* to_string(JobAction action);
/// One sentence in plain words, jobs as their log calls them, e.g. "fits beside the reservation of
/// job 7 at 360 s".
std::string explain(const Decision& decision, const Jobs& jobs);

}  // namespace cosched::cluster

// What a backfill cycle or a main pass did, job by job: the records of a trace.
#pragma once

#include <string>
#include <vector>

#include "cosched/slurm/model/node_bits.hpp"
#include "cosched/slurm/model/seconds.hpp"

namespace cosched::slurm {

/// What a backfill cycle or a main pass decided about a job, and why.
enum class Verdict : char {
  started,
  reserved,             // it has a reservation in the node space
  started_elsewhere,    // it has started in another of its partitions
  preempting,           // it waits until the nodes of the jobs that it preempts are free
  limit,                // a limit of a QOS or an association
  array_rejected,       // reject_array_job: a task before it has neither start nor reservation
  array_full,           // as many tasks of its array run as %n allows
  licenses,             // too few licences are free
  max_job_limit,        // bf_max_job_user, bf_max_job_part or bf_max_job_user_part
  no_begin,             // an advance reservation or the window leaves it no time to begin
  no_nodes,             // too few nodes at any time of the window
  starts_now_or_never,  // bf_min_age_reserve, bf_min_prio_reserve or bf_one_resv_per_job
  after_window,         // it would begin after bf_window
  no_reserve,           // its QOS has the flag NoReserve
  node_space_full,      // bf_node_space_size: the cycle ends here
  resources,            // a main pass has too few idle nodes for it
  priority,             // a main pass keeps the nodes of its partition for a job before it
  advance_reservation,  // its own has not begun, or one has all nodes of its partition
  reserved_nodes        // an advance reservation has nodes on which it could start now
};

/// What follows a test of a job that decides nothing yet.
enum class NextTest : char {
  none,            // the test decides
  at_later_start,  // TRY_LATER: the job would begin after later_start, when more nodes are there
  after_overlap    // a record of the node space lacks a selected node: again from its begin
};

/// Why a cycle ended.
enum class CycleEnd : char {
  end_of_queue,
  max_job_test,
  max_time,
  max_job_start,
  node_space_size,
  gave_up,  // something has changed while it had yielded its locks, and bf_continue is not set
};

struct QueuedJob {
  int job;
  int partition;
  double priority;
};

/// One test of a job in a cycle: may it begin at `from` or later, before `later_start`?
struct JobTest {
  Second from;
  Second later_start;     // when more nodes are in the node space; kNever: at no time
  NodeBits avail_nodes;   // nodes that the node space and advance reservations leave the job
  Second begin;           // when it can begin on the selected nodes; kNever: they are too few
  NodeBits select_nodes;  // empty: too few
  NextTest next = NextTest::none;
};

/// What a cycle or pass did with an entry of its queue.
struct TracedJob {
  QueuedJob entry;
  Second now;  // of the controller, when the job was taken from the queue
  std::vector<JobTest> tests = {};
  Verdict verdict = Verdict::no_nodes;
  // Of a start or a reservation.  Of an array, the task that started may be another one.
  int started_job = -1;
  Second begin = 0;
  Second end = 0;
  NodeBits nodes = NodeBits();
  std::string limit = {};  // of Verdict::limit, as squeue names it
};

/// A record of the node space: which nodes no pending job has reserved.
struct NodeSpaceRecord {
  Second begin;
  Second end;
  NodeBits nodes;
};

/// The locks of slurmctld, which a cycle has given back for a while.
struct LockYield {
  double time;
  double resume_time;
  int jobs_examined;
};

struct CycleTrace {
  int number = 0;         // from 1
  double begin_time = 0;  // s on the time base of the jobs
  double end_time = 0;
  Second window_end = 0;
  int job_test_count = 0;
  CycleEnd end = CycleEnd::end_of_queue;
  std::vector<QueuedJob> queue = {};
  std::vector<TracedJob> jobs = {};  // that the cycle came to
  std::vector<LockYield> yields = {};
  std::vector<NodeSpaceRecord> node_space = {};  // at its end
};

struct PassTrace {
  double time = 0;
  bool is_full = false;  // over the whole queue
  std::vector<QueuedJob> queue = {};
  std::vector<TracedJob> jobs = {};  // that the pass came to, without tests
};

}  // namespace cosched::slurm

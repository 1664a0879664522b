// The DFRS policies of Casanova, Stillwell, Vivien 2011, sections 4.2 and 4.4 to 4.7.
#pragma once

#include "cosched/cluster/dfrs/policy_name.hpp"
#include "cosched/cluster/dfrs/simulator.hpp"

namespace cosched::cluster::dfrs {

/// simulate() with the policy of that name; MCB8-stretch takes the period of `options`.  Throws
/// InfeasibleError where a job can never fit in memory.
Outcome run_dfrs(const Instance& instance, const PolicyName& name,
                 const SimulationOptions& options = {}, Trace* trace = nullptr,
                 DecisionLog* log = nullptr);

// Greedy, GreedyP and GreedyPM task mapping (section 4.2).

/// Nodes for the tasks of a job: one task at a time to the node with the least CPU load
/// (the job's earlier tasks counted; equal load: lowest number) among those with memory
/// left; all tasks or none (empty).  Increasing.  O(P + |T_j| log P).
NodeList greedy_nodes(const std::vector<Machine::Node>& nodes, const Machine::Job& job);

/// How many tasks with this memory need (in units) find room.  A job can start iff that
/// is at least |T_j|.  O(P).
std::int64_t free_slots(const std::vector<Machine::Node>& nodes, std::int64_t memory_need);

/// Greedy: starts the job if it can.
bool greedy_start(Machine& machine, int rank);

/// Greedy on completion: waiting and paused jobs by decreasing priority, each all or
/// nothing; later ones may pass.  Between periods idle jobs are looked at only here,
/// when nodes have become free, and of those only the jobs of shapes that find room now; a
/// submission looks at its own job and running ones.  O(P) a memory need, a multiplication a block
/// of such a shape, and what is in the blocks that may be served.
void greedy_resume(Machine& machine);

enum class Displaced { paused, moved_or_paused };

/// GreedyP (paused) and GreedyPM (moved_or_paused).  If Greedy cannot start the job:
/// running jobs in increasing priority are marked until it could; marked jobs in
/// decreasing priority that may stay are unmarked; the rest is paused, the job starts.
/// GreedyPM then lets Greedy place the marked jobs, in decreasing priority, elsewhere.
/// If pausing all would not do, nothing is paused and the job waits.
void greedy_displace(Machine& machine, int rank, Displaced displaced);

}  // namespace cosched::cluster::dfrs

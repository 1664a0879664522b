// Greedy, GreedyP and GreedyPM task mapping (Casanova, Stillwell, Vivien 2011, section 4.2).
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/cluster/dfrs/dfrs_machine.hpp"

namespace cosched::cluster::dfrs {

/// Nodes for the tasks of a job: one task at a time to the node with the least CPU load
/// (the job's earlier tasks counted; equal load: lowest number) among those with enough free
/// memory; all tasks or none (empty).  Increasing.  O(P + |T_j| log P).
NodeList choose_greedy_nodes(const std::vector<DfrsMachine::NodeAccount>& nodes,
                             const DfrsMachine::Job& job);

/// How many tasks with this memory need (in units) find room.  A job can start iff that
/// is at least |T_j|.  O(P).
std::int64_t count_free_slots(const std::vector<DfrsMachine::NodeAccount>& nodes,
                              std::int64_t memory_need);

/// Greedy: starts the job if there is room, else explains why it waits.  Returns whether it has
/// started.
bool start_greedily(DfrsMachine& machine, int rank);

/// Greedy on completion: waiting and paused jobs by decreasing priority, each all or
/// nothing; later ones may pass.  Between periods idle jobs are looked at only here,
/// when nodes have become free, and of those only the jobs of shapes that find room now; a
/// submission looks at its own job and running ones.  O(P) for each memory need, a multiplication
/// for each block of such a shape, and what is in the blocks that may be served.
void resume_greedily(DfrsMachine& machine);

/// What becomes of the jobs that make room for another.
enum class Displacement { pause, move_or_pause };

/// GreedyP (pause) and GreedyPM (move_or_pause).  If Greedy cannot start the job:
/// running jobs in increasing priority are marked until it could; marked jobs in
/// decreasing priority that may stay are unmarked; the others are paused, the job starts.
/// GreedyPM then lets Greedy place the marked jobs, in decreasing priority, elsewhere.
/// If pausing all would not make enough room, nothing is paused and the job waits.
void start_displacing(DfrsMachine& machine, int rank, Displacement displacement);

}  // namespace cosched::cluster::dfrs

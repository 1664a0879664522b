// Schedules whose data fits into memories of limited capacity.
//
// Model of Herrmann, Marchal, Robert 2014: the data of edge (i, j) is in the memory of i from the
// start of i until the end of j where j shares that memory, else until the start of j; and then in
// the memory of j too, from the begin of its transfer until the end of j.  A transfer ends when j
// starts.  Nothing is evicted or computed anew.  At any time each memory holds at most its
// capacity.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

/// Throws InfeasibleError that names the first task whose input and output data together fit into
/// no memory of a unit that can run it.
void require_room(const Instance& instance);

/// A list schedule by decreasing `rank`: repeatedly places the first task whose predecessors are
/// placed and whose data fits somewhere, where it ends first.  Throws InfeasibleError where none
/// fits, which does not prove that no schedule does.
Plan memory_schedule(const Instance& instance, const std::vector<double>& rank);

/// MemHEFT (Section 5 there, for any number of memories): memory_schedule() by HEFT's ranks; HEFT
/// where nothing is limited.
Plan memheft(const Instance& instance);

}  // namespace cosched::dags::list

// Ranks of tasks by mean times and mean costs of edges, as HEFT takes them.
#pragma once

#include <vector>

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::list {

/// Of each task the mean of costs(task, type) over the units that can run it.
std::vector<double> mean_over_units(const Instance& instance, const Table& costs);

/// Mean time over the units that can run each task: sum over finite p_{j,q} of m_q p_{j,q} / sum of
/// those m_q.
std::vector<double> mean_times(const Instance& instance);

/// rank(j) = mean time, plus the largest of (mean cost of the edge over ordered pairs of different
/// units + rank of the successor).
std::vector<double> heft_ranks(const Instance& instance);
/// Longest path from the begin of each task to the end of the graph, with the mean cost of edges.
std::vector<double> ranks_with_transfers(const Instance& instance,
                                         const std::vector<double>& duration);

}  // namespace cosched::dags::list

// Longest paths in a task graph whose tasks have durations.
#pragma once

#include <vector>

#include "cosched/core/task_graph.hpp"

namespace cosched::dags {

/// Length of the longest path that starts with each task, `duration[j]` seconds a task
/// (the Rank of Section 4.1 there).  O(n + e).
std::vector<double> compute_ranks(const TaskGraph& graph, const std::vector<double>& duration);

/// Earliest end of each task on unlimited units.  O(n + e).
std::vector<double> compute_earliest_ends(const TaskGraph& graph,
                                          const std::vector<double>& duration);

}  // namespace cosched::dags

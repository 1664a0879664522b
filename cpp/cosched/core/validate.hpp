// The independent validator.  It shares no code with any solver: it reads a
// schedule and the instance's requirements, and reports the first breach.
#pragma once

#include <functional>
#include <vector>

#include "cosched/core/schedule.hpp"
#include "cosched/core/sharing.hpp"
#include "cosched/core/task_graph.hpp"

namespace cosched {

/// What a schedule of one-placement tasks must respect.
struct Requirements {
  int tasks = 0;
  std::vector<int> units;  // units of each resource type

  /// Duration that task needs on `count` units of type `kind`; infinity = cannot run there.
  std::function<double(int task, int kind, int count)> duration;

  std::vector<Edge> edges;      // predecessor ends before successor starts
  std::vector<double> release;  // empty = all 0

  /// Seconds between the end of edges[edge]'s first task and the start of its second, by the types
  /// and first units of the two; empty: 0.
  std::function<double(int edge, int from_kind, int from_unit, int to_kind, int to_unit)> transfer;

  /// What tasks share; null: nothing.  Only its data are read: rates and sums are computed anew
  /// here.
  const Sharing* sharing = nullptr;
};

/// Checks, in this order: shapes and ranges; each task placed exactly once; finite
/// times, start >= 0, start >= release; end - start = duration; no unit twice in a
/// placement; no unit used by two placements at once; edges; at every start the needs of what runs
/// are within each capacity; where tasks slow each other, each end is the one that follows from all
/// starts.  Comparisons of times allow kValidateTolerance relative to the larger time.
/// Throws InvalidSchedule that names the first breach.  O(u log u), u = total units used.
void validate(const Schedule& schedule, const Requirements& requirements);

}  // namespace cosched

// Free nodes of each cell over time, as planned: running jobs until their expected ends, and
// promises.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cosched/cluster/batch/bit_set.hpp"
#include "cosched/cluster/batch/planned_slot.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::batch {

/// How many nodes of each cell a job gets.
using NodesPerCell = std::vector<int>;

/// A step function of time for each cell; the last step never ends.
class CellProfile {
 public:
  using JobShare = NodesPerCell;
  using JobSlot = PlannedSlot<NodesPerCell>;

  /// All of these nodes are free from time 0 on.
  explicit CellProfile(NodesPerCell capacity);

  /// From `now` on all nodes are free but for these shares until their expected ends; shares that
  /// are expected to end by `now` do not count.  O(shares log shares).
  void reset(double now, std::vector<RunningShare<NodesPerCell>> running_shares);

  /// Forgets what was planned before `now`.
  void advance(double now);

  /// The share is no longer free from `begin` to `end`.  O(steps).
  void reserve(double begin, double end, const NodesPerCell& share);
  /// The share is free again from `begin` to `end`.  O(steps).
  void release(double begin, double end, const NodesPerCell& share);

  /// Whether so many nodes, of whatever cells, are free at some time before the limit: else no
  /// start can be earlier.  Remembers how far it has looked: O(log steps) while nothing changes.
  bool find_room_before(int node_count, double time_limit);

  /// One cell only.  The earliest start in [now, start_limit) of `duration` seconds on so many
  /// nodes; `start_limit` if there is none.
  /// For a job whose slot at `start_limit` is in the plan: the first earlier start that it could
  /// have if it gave this slot back.  A run may therefore go beyond `start_limit`, where the job's
  /// own nodes are free for it.
  /// O(steps before the limit), O(log steps) where no step has room.
  double find_start_before(double now, int node_count, double duration, double start_limit);

  /// The earliest start >= now from which so many nodes of the open cells are free for `duration`
  /// seconds; it takes nodes of the lowest cells first.  The start is `now` or the begin of a step.
  /// One cell: O(steps).
  JobSlot find_earliest_slot(double now, int node_count, double duration, BitSet64 open_cells);

 private:
  void change(double begin, double end, const NodesPerCell& share, int sign);
  // The first step at which so many nodes are free, else one that does not begin before the limit.
  std::size_t find_first_step_with_room(int node_count, double time_limit);
  // Whether so many nodes of the open cells stay free from the step on until `end`.  On success
  // `steady_nodes` tells how many of each cell do.
  bool stays_free(std::size_t step, double end, int node_count, BitSet64 open_cells,
                  NodesPerCell& steady_nodes) const;
  // The step that contains the time.
  std::size_t step_at(double time) const;
  // Makes a step begin at the time and returns it.
  std::size_t insert_border(double time);
  // Inserts a copy of the step's numbers behind them.
  void duplicate_numbers(std::size_t step);
  void merge_with_previous(std::size_t step);

  std::size_t cell_count_;
  NodesPerCell capacity_;
  std::vector<double> step_begins_;
  std::vector<int> free_nodes_;  // cell_count_ numbers for each step
  // The largest number of free nodes, of all cells together, up to each step: for the first steps,
  // as far as it has been computed.
  std::vector<int> max_free_until_step_;
};

}  // namespace cosched::cluster::batch

// Free cores, memory and GPUs of each node over time, as planned.
#pragma once

#include <cstddef>
#include <vector>

#include "cosched/cluster/batch/amount_profile.hpp"
#include "cosched/cluster/batch/planned_slot.hpp"
#include "cosched/cluster/batch/site.hpp"

namespace cosched::cluster::batch {

/// Both save time alone: the sum over nodes is computed anew when it has more than
/// `max_step_growth` times the steps that it had then, and `max_extra_steps` more.
struct NodePlanParams {
  std::size_t max_step_growth = 2;
  std::size_t max_extra_steps = 100;
};

/// A profile of free amounts for each node: what CellProfile is for nodes that are all alike.
/// Keeps a reference to the site.
///
/// A need whose distribution over nodes is not known (Need::part_count = 0) may take its amounts
/// from all nodes together.  For each set of nodes that such needs may use, the plan also keeps the
/// sum over these nodes: most starts are rejected by this sum alone.
class NodePlan {
 public:
  using JobShare = NodePlacement;
  using JobSlot = PlannedSlot<NodePlacement>;

  /// All nodes are free from time 0 on.
  explicit NodePlan(const Site& site, const NodePlanParams& params = {});

  /// From `now` on all nodes are free but for these shares until their expected ends.
  void reset(double now, const std::vector<RunningShare<NodePlacement>>& running_shares);
  /// Forgets what was planned before `now`.
  void advance(double now);

  /// The share is no longer free from `begin` to `end`.  O(steps of its nodes).
  void reserve(double begin, double end, const NodePlacement& share);
  /// The share is free again from `begin` to `end`.  O(steps of its nodes).
  void release(double begin, double end, const NodePlacement& share);

  /// The earliest start in [now, start_limit) from which the need finds its amounts, on the same
  /// nodes for `duration` seconds; else `start_limit`, without nodes.  The start is `now` or the
  /// begin of a step.  O(steps of all nodes), times their logarithm for a need in several parts.
  JobSlot find_earliest_slot(double now, const Need& need, double duration,
                             double start_limit) const;

  /// The same of one part of the need on that node: its start; `start_limit` if there is none.
  double find_earliest_start_on(int node, double now, const Need& need, double duration,
                                double start_limit) const;

  /// Whether a part of the need finds its amounts on that node just before the time.
  bool is_free_before(int node, double time, const Need& need) const {
    return node_profiles_[node].is_free_before(time, need.part_amounts);
  }

 private:
  // The sum over all nodes that certain undistributed needs may use.  It has a step wherever one of
  // these nodes has one; steps that no node has any more are dropped when they are the majority.
  struct AggregateProfile {
    BitSet64 cells;
    BitSet64 gpu_types;
    AmountProfile sum;
    std::size_t rebuilt_size;  // number of steps when the sum was computed last
  };

  void change(double begin, double end, const NodePlacement& share, int sign);
  void rebuild(AggregateProfile& aggregate) const;
  const AggregateProfile& aggregate_of(const Need& need) const;
  // The amounts of the node as far as the aggregate counts them.
  ResourceAmounts counted_amounts(const AggregateProfile& aggregate, int node,
                                  const ResourceAmounts& amounts) const;

  JobSlot find_slot_of_one_part(double now, const Need& need, double duration,
                                double start_limit) const;
  JobSlot find_slot_of_parts(double now, const Need& need, double duration,
                             double start_limit) const;
  JobSlot find_undistributed_slot(double now, const Need& need, double duration,
                                  double start_limit) const;
  // The smallest amounts that are free at some time in [begin, end), by node.
  FreeAmounts minimum_between(double begin, double end) const;

  NodePlanParams params_;
  const Site& site_;
  std::vector<AmountProfile> node_profiles_;
  std::vector<AggregateProfile> aggregates_;
};

}  // namespace cosched::cluster::batch

// Free cores, memory and GPUs of each node over time, as planned.
#pragma once

#include <vector>

#include "cosched/cluster/batch/site.hpp"

namespace cosched::cluster::batch {

/// The counterpart of Profile: a step function of time for each node; the last step never ends.
class NodePlan {
 public:
  using Share = Placement;

  explicit NodePlan(const Site& site);

  struct Busy {
    double end;
    const Share* share;
  };
  /// All free from `now` on but for these shares until their ends.
  void reset(double now, std::vector<Busy> busy);
  /// Forgets what was before `now`.
  void advance(double now);
  /// Takes (sign -1) or gives back (+1) the share from `begin` to `end`.  O(steps of its nodes).
  void change(double begin, double end, const Share& share, int sign);

  struct Slot {
    double start;
    Share share;
  };
  /// The earliest start in [now, before) (`now` or a step's begin) from which the need finds its
  /// amounts on the same nodes for `length` seconds; else `before`, without nodes.
  /// O(steps of all nodes), of a need in several parts x their logarithm.
  Slot earliest(double now, const Need& need, double length, double before) const;
  /// The same of one part of the need on that node; `before` if there is none.
  double earliest_on(int node, double now, const Need& need, double length, double before) const;
  /// Whether a part of the need finds its amounts on that node just before the time.
  bool holds_before(int node, double time, const Need& need) const;

 private:
  struct Step {
    double time;  // its begin
    Amounts free;
  };
  using Line = std::vector<Step>;
  // The sum over all nodes that a need in no parts may use: it rejects most of its starts.
  // It has a step wherever one of these nodes has one, and some that are of no use any more.
  struct Pool {
    std::uint64_t cells, gpu_types;
    Line sum;
    std::size_t useful;  // steps, when they were counted last
  };
  Slot earliest_part(double now, const Need& need, double length, double before) const;
  Slot earliest_parts(double now, const Need& need, double length, double before) const;
  Slot earliest_anywhere(double now, const Need& need, double length, double before) const;
  Free least_between(double begin, double end) const;
  const Pool& pool_of(const Need& need) const;
  Amounts counted(const Pool& pool, int node, const Amounts& amounts) const;
  void count(Pool& pool) const;

  const Site& site_;
  std::vector<Line> lines_;  // by node
  std::vector<Pool> pools_;
};

}  // namespace cosched::cluster::batch

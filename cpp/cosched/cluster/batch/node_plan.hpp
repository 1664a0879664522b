// Free cores, memory and GPUs of each node over time, as planned.
#pragma once

#include <vector>

#include "cosched/cluster/batch/events.hpp"
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

// What conservative backfilling knows of nodes with memory and GPUs: the plan, what is free now,
// and which jobs cannot start sooner.
//
// A job that found no sooner start finds one only where something was given since: on one of these
// nodes, or on its own ones just before its start (it would have them to itself).  Jobs of one need
// and one expected run time share what they found, so that thousands that wait cost little as long
// as none of them moves.

class NodeBook {
 public:
  using Plan = NodePlan;
  using Share = Placement;

  NodeBook(const Site& site, const std::vector<BatchJob>& jobs);

  Share nothing() const { return {}; }
  /// The earliest slot; where the job holds nodes from the begin on, these.
  Plan::Slot earliest(int rank, double now);
  /// The same if it is before that start, else none.
  Plan::Slot sooner(int rank, double now, double start);
  /// Whether it is sure that the job, which gives its slot back, finds none that starts before it.
  /// O(nodes that were given something since somebody like it asked).
  bool stuck(int rank, double now, const Plan::Slot& own);
  /// Some share is free for longer in the plan.
  void given(const Share& share);
  /// The plan was made anew.
  void restarted() { gifts_ += nodes() + 1; }

  bool fits(const Share& share) const;
  void give(const Share& share, int sign);

  Plan plan;

 private:
  // Before this no part of the need finds its amounts, of what was free after so many gifts.
  struct Prospect {
    double start;
    std::int64_t gifts;
  };
  const Need& need(int rank) const { return site_.need(jobs_[rank].job); }
  std::int64_t nodes() const { return static_cast<std::int64_t>(recent_.size()); }
  int given_node(std::int64_t gift) const { return recent_[gift % nodes()]; }
  bool stuck_part(int rank, double now, const Plan::Slot& own);
  bool stuck_parts(int rank, double now, const Plan::Slot& own, std::int64_t seen) const;
  bool moves_back(int rank, double now, const Plan::Slot& own) const;

  const Site& site_;
  const std::vector<BatchJob>& jobs_;
  Free free_;
  std::vector<int> kind_;            // by rank: equal for equal needs and expected run times
  std::vector<Prospect> prospects_;  // by kind
  std::vector<std::int64_t> seen_;   // by rank: gifts when it looked last
  std::vector<int> recent_;          // the nodes of the last gifts, as many as there are nodes
  std::int64_t gifts_ = 0;
};

}  // namespace cosched::cluster::batch
